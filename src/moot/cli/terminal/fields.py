"""`--fields a,b`: of each object of a JSON answer only some fields."""

from collections.abc import Sequence

from moot.errors import BadValue
from moot.rules.words.mentions import nearest


def picked(value: object, fields: Sequence[str]) -> object:
    """In the order they were asked for; null where an object has no such field."""
    match value:
        case list():
            return [picked(item, fields) for item in value]
        case dict():
            return {field: value.get(field) for field in fields}
        case _:
            return value


def refuse_missing(value: object, fields: Sequence[str]) -> None:
    """A field that no object has is a mistake; an empty list has nothing to be held against."""
    objects = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    known = list(dict.fromkeys(key for item in objects for key in item))
    missing = [field for field in fields if objects and field not in known]
    if missing:
        raise BadValue(
            f'unknown field "{missing[0]}"',
            detail=f"fields are {', '.join(known)}",
            suggestions=nearest(missing[0], known),
            missing=missing,
        )
