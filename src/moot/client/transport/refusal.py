"""What a hub refused, as the error that it raised there: the same for every way to a hub."""

from moot.errors import MootError, NotFound, tree
from moot.model import hint
from moot.model.json import JsonObject

FACTS = ("code", "name", "title", "detail", "fix", "suggestions", "retryable", "retry_after_ms")


def error_from(fields: JsonObject) -> MootError:
    """The error that the hub raised, as the same class."""
    kinds = {kind.code: kind for kind in tree()}
    kind = kinds.get(fields.get("code", ""), MootError)
    facts = {key: value for key, value in fields.items() if key not in FACTS}
    what = str(fields.get("name", "")).removesuffix(NotFound.name).rstrip("_")
    if kind is NotFound and what:
        facts["what"] = what
    return kind(
        fields.get("title", "the hub refused the request"),
        detail=fields.get("detail", ""),
        fix=hint.from_data(fields.get("fix", ())),
        suggestions=tuple(fields.get("suggestions", ())),
        retry_after_ms=fields.get("retry_after_ms"),
        **facts,
    )
