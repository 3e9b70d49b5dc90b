"""What fields accept beyond their type, for the OpenAPI document only; the checks themselves are where refusals are
worded.

tests/doors/http/test_schema.py keeps the two in step: what the document allows is accepted, everything else is refused.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Final

from msgspec import Meta

from moot.model.conversation import ConversationKind, GroupOverrides, GroupSettings
from moot.model.intent import Intent
from moot.model.records.audit import AuditedAct
from moot.model.records.token import TokenScope
from moot.model.turn import TurnState
from moot.rules.words.names import NAME_EXPECTED, NOTE_EXPECTED
from moot.settings.schema.fields import FACTS


def one_of(choices: Iterable[str]) -> Meta:
    return Meta(extra_json_schema={"enum": [str(choice) for choice in choices]})


def _settings() -> dict[str, Any]:
    """As `[groups]` of moot.toml accepts them; null means the default."""
    facts = FACTS[GroupSettings]
    properties = {
        name: {"anyOf": [facts[name].takes.schema, {"type": "null"}], "description": facts[name].meaning}
        for name in GroupOverrides.__struct_fields__
    }
    return {"properties": properties, "additionalProperties": False}


Text = Annotated[
    str,
    Meta(
        description="At least one character that is not whitespace; no U+0000",
        extra_json_schema={"pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"},
    ),
]
Words = Annotated[
    str,
    Meta(
        description="No U+0000; an empty text, whitespace or [PASS] counts as silence",
        extra_json_schema={"pattern": r"^[^\x00]*$"},
    ),
]
AgentName = Annotated[
    str,
    Meta(
        description=NAME_EXPECTED,
        extra_json_schema={"pattern": r"^[a-z]([a-z0-9_.-]{0,61}[a-z0-9_-])?$", "format": "agent-name"},
    ),
]
ConversationName = Annotated[
    str,
    Meta(
        description="1 to 100 visible characters without ':' or '/', not beginning with '-', '@' or '#'",
        extra_json_schema={"minLength": 1, "format": "conversation-name"},
    ),
]
NoteName = Annotated[
    str,
    Meta(description=NOTE_EXPECTED, extra_json_schema={"minLength": 1, "format": "note-name"}),
]
NoteText = Annotated[
    str, Meta(description="No U+0000; may be empty", extra_json_schema={"pattern": r"^[^\x00]*$"})
]
Display = Annotated[
    str,
    Meta(
        description="Up to 128 visible characters that cannot be mistaken for a participant's or a reserved name",
        extra_json_schema={"format": "display-name"},
    ),
]
SearchWords = Annotated[
    str,
    Meta(
        max_length=1000,
        description="At least one character that is not whitespace",
        extra_json_schema={"pattern": r"\S"},
    ),
]
MomentText = Annotated[
    str,
    Meta(
        description="A date (2026-11-01), a time (2026-11-01T12:30Z) or an age (10m, 2h, 3d, 1w)",
        extra_json_schema={"format": "moment"},
    ),
]
AuditedActs = Annotated[
    str,
    Meta(
        description=f"Some of {', '.join(act.value for act in AuditedAct)}",
        extra_json_schema={"format": "audited-acts"},
    ),
]
Line = Annotated[
    str,
    Meta(
        description="One line of at most 500 characters, without control, bidi or invisible characters",
        extra_json_schema={"maxLength": 500, "format": "line"},
    ),
]
Folder = Annotated[
    str,
    Meta(description="A path outside Moot's home", extra_json_schema={"maxLength": 4096, "format": "path"}),
]
Address = Annotated[
    str, Meta(description="Id of a message", extra_json_schema={"pattern": r"^[^\x00]+:[0-9]{1,18}$"})
]
GroupKind = Annotated[str, one_of(ConversationKind)]
State = Annotated[str, one_of(TurnState)]
IntentWord = Annotated[str, one_of(intent for intent in Intent if intent is not Intent.DELEGATE)]
"""A message alone cannot delegate."""
Granted = Annotated[str, one_of(TokenScope)]
Settings = Annotated[dict[str, Any], Meta(extra_json_schema=_settings())]

HEADERS: Final[dict[str, dict[str, Any]]] = {
    "Idempotency-Key": {"type": "string", "pattern": r"^[!-~]([ -~]{0,198}[!-~])?$"},
    "If-Match": {"type": "string", "pattern": r'^(\*|(W/)?"[0-9]{1,9}"|[0-9]{1,9})$'},
    "Last-Event-ID": {"type": "string"},
}
