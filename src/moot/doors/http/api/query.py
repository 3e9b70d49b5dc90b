"""The query of a URL, as a value of the route's own type."""

import math
from functools import cache, reduce
from operator import or_
from typing import Any, get_args

import msgspec
from msgspec import Struct
from starlette.datastructures import QueryParams

from moot.errors import BadValue


def query(raw: bytes, kind: type[Struct]) -> Any:
    """`BadValue` if it is invalid. Most requests have none, and then nothing is parsed."""
    if not raw and (nothing := _nothing(kind)) is not None:
        return nothing
    pairs = QueryParams(raw).multi_items()
    values = dict(pairs)
    if len(values) != len(pairs):
        raise BadValue("a query parameter is given twice")
    kinds = _kinds(kind)
    try:
        converted = {
            name: msgspec.convert(values[name], kinds[name], strict=False) for name in kinds.keys() & values
        }
        parsed = msgspec.convert({**values, **converted}, kind)
    except msgspec.ValidationError as wrong:
        fields = ", ".join(kind.__struct_encode_fields__) or "none"
        raise BadValue(f"invalid query: {wrong}", detail=f"parameters are {fields}") from wrong
    for value in msgspec.structs.astuple(parsed):
        if isinstance(value, float) and not math.isfinite(value):
            raise BadValue("invalid query: expected a finite number")
    return parsed


@cache
def _nothing(kind: type[Struct]) -> Any:
    """What no query at all means; None if one is required."""
    try:
        return msgspec.convert({}, kind)
    except msgspec.ValidationError:
        return None


@cache
def _kinds(kind: type[Struct]) -> dict[str, Any]:
    return {field.encode_name: _as_text(field.type) for field in msgspec.structs.fields(kind)}


def _as_text(hint: Any) -> Any:
    """The text of a parameter that is there: "null" is then a word, not the absence of one."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return reduce(or_, kinds) if type(None) in get_args(hint) else hint
