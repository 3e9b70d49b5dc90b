"""What a hub refused, as the error that it raised there: the same for every way to a hub."""

from moot.errors import MootError, NotFound, tree
from moot.model import hint
from moot.model.json import JsonObject

FACTS = ("code", "name", "title", "detail", "fix", "suggestions", "retryable", "retry_after_ms")


def error_from(told: JsonObject) -> MootError:
    """The error that the hub raised, as the same class."""
    kinds = {kind.code: kind for kind in tree()}
    kind = kinds.get(told.get("code", ""), MootError)
    facts = {key: value for key, value in told.items() if key not in FACTS}
    what = str(told.get("name", "")).removesuffix(NotFound.name).rstrip("_")
    if kind is NotFound and what:
        facts["what"] = what
    return kind(
        told.get("title", "the hub refused"),
        detail=told.get("detail", ""),
        fix=hint.from_data(told.get("fix", ())),
        suggestions=tuple(told.get("suggestions", ())),
        retry_after_ms=told.get("retry_after_ms"),
        **facts,
    )
