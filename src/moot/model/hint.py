"""What a refusal or a warning carries beside its sentence: what can be done, as a value, and the codes of warnings.

Above: whoever refuses names the act and its facts; each door has one table that says every act in its own terms: a
command (cli/frame/hints.py), a request (doors/http/api/hint_requests.py), a tool call (doors/mcp/hint_calls.py).
Not here: words. What is no act of Moot ("choose another name", "chmod 600 FILE") is a plain text beside the hints.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from moot.model.json import Json


class WarningCode(StrEnum):
    """Codes of warnings in receipts, besides the codes of errors."""

    UNKNOWN = "E201"
    """Somebody named is not known, or was removed."""
    NOT_ASKED = "E304"
    """Somebody named is not asked."""


class Act(StrEnum):
    """All that a hint can name. Which facts belong to it is seen in the tables of the doors."""

    LIST_AGENTS = "list_agents"
    SHOW_AGENT = "show_agent"
    NEW_AGENT = "new_agent"
    CHANGE_AGENT = "change_agent"
    REMOVE_AGENT = "remove_agent"
    USE_DEMO = "use_demo"
    LIST_AGENT_FIELDS = "list_agent_fields"
    START_AGENT = "start_agent"
    STOP_AGENT = "stop_agent"
    RESTART_AGENT = "restart_agent"
    WAKE_CLIENT = "wake_client"
    """Let the hooks of an outside agent's client wake it."""

    LIST_CONVERSATIONS = "list_conversations"
    NEW_CONVERSATION = "new_conversation"
    NEW_CONVERSATION_WITH = "new_conversation_with"
    OPEN_CONVERSATION = "open_conversation"
    TALK_TOGETHER = "talk_together"
    POST = "post"
    JOIN = "join"
    RENAME_CONVERSATION = "rename_conversation"
    UNARCHIVE = "unarchive"
    DISSOLVE = "dissolve"
    DELETE_CONVERSATION = "delete_conversation"
    CONTINUE_CHAIN = "continue_chain"
    LIST_TURNS = "list_turns"
    SHOW_TURN = "show_turn"
    RETRY = "retry"

    LIST_LINKS = "list_links"
    SHOW_LINK = "show_link"
    NEW_LINK = "new_link"
    ENABLE_LINK = "enable_link"
    DISABLE_LINK = "disable_link"
    CHANGE_LINK = "change_link"
    OVERRIDE_LINK = "override_link"
    """Until moot.toml, which names it, is read again."""
    OPEN_LINK = "open_link"
    """Let both ends start."""

    LIST_TASKS = "list_tasks"
    LIST_DECISIONS = "list_decisions"
    ASK_AGENT = "ask_agent"
    DELEGATE_TO = "delegate_to"
    SEND_TO_AGENT = "send_to_agent"

    LIST_NOTES = "list_notes"
    SHOW_NOTE = "show_note"
    NEW_NOTE = "new_note"
    SHARE_NOTE = "share_note"
    """Let an agent write to it."""

    NEW_TOKEN = "new_token"
    OPEN_PAGE = "open_page"
    """Sign in to the page."""
    SET_KEY = "set_key"
    LIST_SETTINGS = "list_settings"
    SHOW_SETTING = "show_setting"
    EDIT_SETTINGS = "edit_settings"

    START_HUB = "start_hub"
    STOP_HUB = "stop_hub"
    START_HUB_ELSEWHERE = "start_hub_elsewhere"
    USE_ANOTHER_HOME = "use_another_home"
    MAKE_HOME = "make_home"
    RUN_DEMO = "run_demo"
    RUN_DOCTOR = "run_doctor"
    CHECK_PROVIDERS = "check_providers"

    LIST_BACKUPS = "list_backups"
    CREATE_BACKUP = "create_backup"
    RESTORE_BACKUP = "restore_backup"
    EXPORT_AGAIN = "export_again"
    MOVE_STORE = "move_store"


ACTS = frozenset(Act)


class Hint(NamedTuple):
    """One act, with the facts that it needs. No Struct: whoever only refuses need not wait for msgspec to load."""

    act: Act
    agent: str = ""
    agents: tuple[str, ...] = ()
    conversation: str = ""
    """By name, or by id where the name may be somebody else's."""
    id: str = ""
    """The conversation's id, where a door can only use that; of acts on links, the link's; of a retry, the turn's."""
    turn: str = ""
    note: str = ""
    provider: str = ""
    setting: str = ""


Way: TypeAlias = Hint | str
"""One way out: an act of Moot, or a plain text."""
Say: TypeAlias = Callable[[Hint], str]
"""How a door says a hint; nothing where it has nothing to say."""


def worded(ways: Iterable[Way], say: Say) -> list[str]:
    """The ways out in the words of a door."""
    words = (way if isinstance(way, str) else say(way) for way in ways)
    return list(dict.fromkeys(text for text in words if text))


def to_data(ways: Iterable[Way]) -> list[Json]:
    """The ways out as JSON that `from_data` reads, for whoever says them elsewhere."""
    return [way if isinstance(way, str) else _plain(way) for way in ways]


def _plain(hint: Hint) -> dict[str, str | list[str]]:
    facts = {name: fact for name, fact in hint._asdict().items() if fact}
    return {name: list(fact) if isinstance(fact, tuple) else str(fact) for name, fact in facts.items()}


def from_data(data: Iterable[Json]) -> tuple[Way, ...]:
    """The ways out that another process named; an act of a newer Moot is left out."""
    found: list[Way] = []
    for way in data:
        hint = way if isinstance(way, str) else _read(way)
        if hint is not None:
            found.append(hint)
    return tuple(found)


def _read(data: Json) -> Hint | None:
    """A hint as another process wrote it down; None where it is none that is known here."""
    if not isinstance(data, dict) or data.get("act") not in ACTS or not data.keys() <= set(Hint._fields):
        return None
    facts = {**Hint._field_defaults, **data, "act": Act(data["act"])}
    return Hint._make(
        tuple(fact) if isinstance(fact, list) else fact for fact in map(facts.get, Hint._fields)
    )
