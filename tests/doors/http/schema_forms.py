"""Values for the formats that the document names in words; and no patience. Read by the schemathesis process of
test_schema.py."""

from typing import Any

import schemathesis
from hypothesis import strategies as st

from moot.model.records.audit import AuditedAct
from moot.rules.words.names import NameProblem, check_display

SOME_SHAPE = {"type": ["string", "null"]}
LETTERS = st.characters(categories=("L", "N"), exclude_characters="\u115f\u1160\u3164\uffa0")


def visible(longest: int) -> st.SearchStrategy[str]:
    """Short enough still when it is composed anew."""
    return st.text(LETTERS, min_size=1, max_size=longest // 4)


schemathesis.openapi.format("conversation-name", visible(100))


def is_nobodys(text: str) -> bool:
    """A display name that is like no name: reserved ones are found by chance, since they stand in the code."""
    try:
        check_display(text, taken=("user", "arya", "bob", "karl"))
    except NameProblem:
        return False
    return True


schemathesis.openapi.format("display-name", visible(128).filter(is_nobodys) | st.just(""))
schemathesis.openapi.format("line", st.text(LETTERS, max_size=500))
schemathesis.openapi.format("note-name", st.from_regex(r"\A[a-z0-9][a-z0-9_-]{0,60}\Z"))
schemathesis.openapi.format("path", visible(100).map("/srv/".__add__))
schemathesis.openapi.format("moment", st.sampled_from(("2026-11-01", "2026-11-01T12:30Z", "10m", "3d", "1w")))
schemathesis.openapi.format("audited-acts", st.sampled_from([act.value for act in AuditedAct]))
# Nobody is to be mistaken for another by chance, so no m, 0, 1, l or o.
schemathesis.openapi.format("agent-name", st.from_regex(r"\A[a-k][a-k2-9]{8,20}\Z"))


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Whatever may wait waits hardly at all; what is no good time stays as it is."""
    path = case.operation.path
    if isinstance(case.body, dict) and isinstance(case.body.get("shape"), dict):
        case.body["shape"] = SOME_SHAPE  # what a shape may say is no type of OpenAPI; tests of its own try it
    if path.endswith("/settled"):
        case.query = hurried(case.query or {}, "timeout")
    elif path.endswith("/ask"):
        case.body = hurried(case.body, "timeout")
    elif path.endswith("/check"):
        case.body = hurried(case.body, "wait_seconds")


def hurried(given: Any, name: str) -> Any:
    return {**given, name: short(given.get(name, 1))} if isinstance(given, dict) else given


def short(value: Any) -> Any:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 300
    return 0.01 if good else value
