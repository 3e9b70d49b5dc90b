"""`--fields a,b`: of each object of a JSON answer only some fields."""

from collections.abc import Sequence

from moot.errors import BadValue
from moot.rules.words.mentions import nearest


def pick_fields(value: object, fields: Sequence[str]) -> object:
    """The fields in the requested order; null if an object lacks one."""
    match value:
        case list():
            return [pick_fields(item, fields) for item in value]
        case dict():
            return {field: value.get(field) for field in fields}
        case _:
            return value


def refuse_missing(value: object, fields: Sequence[str]) -> None:
    """Refuse a field that no object has; an empty list shows no fields, so it refuses none."""
    objects = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    all_fields = list(dict.fromkeys(key for item in objects for key in item))
    missing = [field for field in fields if objects and field not in all_fields]
    if missing:
        raise BadValue(
            f'unknown field "{missing[0]}"',
            detail=f"fields are {', '.join(all_fields)}",
            suggestions=nearest(missing[0], all_fields),
            missing=missing,
        )
