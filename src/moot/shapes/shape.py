"""What every shape is: a frozen value whose JSON has the same names. Moments are RFC 3339, names stand for ids."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from msgspec import Struct, structs

from moot.model.ids import ParticipantId
from moot.model.json import Json, JsonObject

Names = Callable[[ParticipantId], str]


@lru_cache(8192)
def when(moment: float) -> str | None:
    """RFC 3339 in UTC, or None if it has not happened yet."""
    if not moment:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Shape(Struct, frozen=True):
    """`to_dict` is the JSON form."""

    def to_dict(self) -> JsonObject:
        return {_JSON_NAMES.get(key, key): plain(value) for key, value in structs.asdict(self).items()}


_JSON_NAMES = {"sender": "from"}


def plain(value: object) -> Json:
    if isinstance(value, Shape):
        return value.to_dict()
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value
