"""Every way Moot says no, sorted by who must act.

    MootError
    ├── Mistake            the caller: mend the request
    │   ├── NotFound           E201   no such agent, conversation, message or turn
    │   ├── BadName            E202   a name that is taken, reserved, confusable or misshapen
    │   ├── BadText            E203   a text that cannot be stored
    │   ├── BadValue           E204   a field of the wrong type or outside its values
    │   ├── Conflict           E205   stale version, taken conversation name, another body under one key
    │   └── BadSettings        E103   moot.toml is broken; says file:line:column
    ├── Refused            policy or a brake: somebody has to allow it, or wait
    │   ├── Unauthenticated    E300   nobody we know: no token, a wrong one, or a revoked one
    │   ├── NotPermitted       E301   the link graph, or the caller's own standing
    │   ├── RateLimited        E302   too many messages between two agents, or too many in the queue
    │   ├── Braked             E303   slots of the round are used up, or the chain is paused
    │   ├── Closed             E305   the conversation is archived
    │   └── Stale              E307   the turn is no longer the caller's (fence)
    ├── Unanswered         nobody to blame in the request: the outcome of waiting
    │   ├── Undelivered        E502   the agent is away, or not reached as far as was required
    │   ├── TimedOut           E504   also a TimeoutError; carries the open turns
    │   ├── Passed             E505   the agent chose silence
    │   └── TurnFailed         E503   the agent's turn failed
    └── Trouble            the operator: the machine, the hub, a key or the database
        ├── NoKey              E101   a model is wanted, and no key is set
        ├── KeyRefused         E102   the provider does not accept the key
        ├── ModelUnavailable   E104   a provider is not reached, or does not answer as it should
        ├── PortTaken          E401   another program listens where the hub should
        ├── HubRunning         E403   another hub has this home
        ├── HubAbsent          E402   nobody listens
        ├── McpClient          E501   a coding CLI is missing, gives up too early, or does not take Moot in
        ├── StoreNewer         E601   written by a newer Moot
        ├── StoreDamaged       E602   unreadable or altered
        └── StoreUnwritable    E603   disk full, read-only, locked

Beside them stand the warnings (`WARNINGS`): what was asked is done, and there is something to know.

The core raises these facts; each door has one table to its own numbers (exit code, HTTP status, MCP error).
"""

from typing import Any, ClassVar, Final, NamedTuple


class MootError(Exception):
    """Something Moot will not or cannot do; as it stands, a fault inside Moot itself."""

    code: ClassVar[str] = "E000"
    name: str = "error"
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        title: str,
        *,
        detail: str = "",
        fix: tuple[str, ...] = (),
        suggestions: tuple[str, ...] = (),
        retry_after_ms: int | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(title)
        self.title = title
        self.detail = detail
        self.fix = fix
        self.suggestions = suggestions
        self.retry_after_ms = retry_after_ms
        self.facts = facts

    def to_dict(self) -> dict[str, Any]:
        """The error object of every door."""
        return {
            "code": self.code,
            "name": self.name,
            "title": self.title,
            "detail": self.detail,
            "fix": list(self.fix),
            "suggestions": list(self.suggestions),
            "retryable": self.retryable or self.retry_after_ms is not None,
            "retry_after_ms": self.retry_after_ms,
            **self.facts,
        }


class Mistake(MootError):
    """The request cannot be done as it stands."""


class NotFound(Mistake):
    """Nothing goes by that name or id. The name says what: `agent_not_found`, `conversation_not_found` and so on."""

    code = "E201"
    name = "not_found"

    def __init__(self, title: str, *, what: str = "", **more: Any) -> None:
        super().__init__(title, **more)
        self.what = what
        """What was looked for, where callers may want to tell it apart: an agent, conversation, message or turn."""
        self.name = f"{what}_{NotFound.name}" if what else NotFound.name


class BadName(Mistake):
    """The name cannot be given."""

    code = "E202"
    name = "bad_name"


class BadText(Mistake):
    """The text cannot be stored."""

    code = "E203"
    name = "bad_text"


class BadValue(Mistake):
    """A field has the wrong type or a value outside what is allowed."""

    code = "E204"
    name = "bad_value"


class Conflict(Mistake):
    """Somebody else's version of the same thing stands in the way."""

    code = "E205"
    name = "conflict"


class BadSettings(Mistake):
    """The settings file is broken."""

    code = "E103"
    name = "broken_config"


class Refused(MootError):
    """Policy or a brake says no."""


class Unauthenticated(Refused):
    """Whoever asks did not say who it is in a way that can be believed."""

    code = "E300"
    name = "unauthenticated"


class NotPermitted(Refused):
    """The link graph, or who the caller is, does not allow it."""

    code = "E301"
    name = "not_permitted"


class RateLimited(Refused):
    """Too much in too short a time."""

    code = "E302"
    name = "rate_limited"
    retryable = True


class Braked(Refused):
    """A brake stops more of this until a person lets it go on."""

    code = "E303"
    name = "braked"


class Closed(Refused):
    """The conversation is archived: it can be read, not written."""

    code = "E305"
    name = "conversation_archived"


class Stale(Refused):
    """The turn has moved on; what its former holder says no longer counts."""

    code = "E307"
    name = "stale_turn"


class Unanswered(MootError):
    """Waiting ended without an answer."""


class Undelivered(Unanswered):
    """The agent is away or has not been reached so far; the message waits for it."""

    code = "E502"
    name = "not_delivered"
    retryable = True


class TimedOut(Unanswered, TimeoutError):
    """Nobody answered in time; the message is kept."""

    code = "E504"
    name = "timed_out"
    retryable = True


class Passed(Unanswered):
    """The agent read it and chose to say nothing."""

    code = "E505"
    name = "passed"


class TurnFailed(Unanswered):
    """The agent's turn ended in an error."""

    code = "E503"
    name = "turn_failed"


class Trouble(MootError):
    """The machine, the hub, a key or the database needs a hand."""


class NoKey(Trouble):
    """A model's provider wants a key, and none is set."""

    code = "E101"
    name = "no_key"


class KeyRefused(Trouble):
    """A model's provider does not accept the key."""

    code = "E102"
    name = "key_refused"


class ModelUnavailable(Trouble):
    """A model's provider cannot be reached, or does not answer as it should."""

    code = "E104"
    name = "model_unavailable"
    retryable = True


class PortTaken(Trouble):
    """The hub cannot listen where it should: another program does."""

    code = "E401"
    name = "port_taken"


class HubRunning(Trouble):
    """Another hub runs on this home."""

    code = "E403"
    name = "hub_running"


class HubAbsent(Trouble):
    """No hub answers."""

    code = "E402"
    name = "hub_absent"


class McpClient(Trouble):
    """A coding CLI is not installed, gives up before Moot has started, or does not take Moot in."""

    code = "E501"
    name = "mcp_client"


class StoreNewer(Trouble):
    """The database was written by a newer Moot."""

    code = "E601"
    name = "store_newer"


class StoreDamaged(Trouble):
    """The database is damaged or is not a Moot database."""

    code = "E602"
    name = "store_damaged"


class StoreUnwritable(Trouble):
    """The database cannot be written now."""

    code = "E603"
    name = "store_unwritable"
    retryable = True


class WarningCode(NamedTuple):
    code: str
    name: str
    meaning: str


WARNINGS: Final = (
    WarningCode(
        "E304",
        "not_asked",
        "The message is stored, but somebody it names is not asked: more agents are mentioned than may answer one "
        "message (max_agent_turns_per_message), or they are not in the conversation.",
    ),
)
"""Codes that only ever warn; a warning may also carry an error's code."""


def tree(root: type[MootError] = MootError) -> list[type[MootError]]:
    """Every concrete error, for the tables of the doors and the generated reference."""
    found: list[type[MootError]] = []
    for child in root.__subclasses__():
        found += tree(child) or [child]
    return found
