"""Every way Moot says no, sorted by who must act.

    MootError
    ├── Mistake            the caller: fix the request
    │   ├── NotFound           E201   no such agent, conversation, message or turn
    │   ├── BadName            E202   a name that is taken, reserved, confusable or misshapen
    │   ├── BadText            E203   a text that cannot be stored
    │   ├── BadValue           E204   a field of the wrong type or outside its values
    │   ├── Conflict           E205   stale version, taken conversation name, another body under one key
    │   └── BadSettings        E103   moot.toml is broken; says file:line:column
    ├── Refused            policy or a brake: somebody has to allow it, or wait
    │   ├── Unauthenticated    E300   no token, an unknown one or a revoked one
    │   ├── NotPermitted       E301   the link graph or the caller's role forbids it
    │   ├── RateLimited        E302   too many messages between two agents, or too many in the queue
    │   ├── Braked             E303   slots of the round are used up, or the chain is paused
    │   ├── Closed             E305   the conversation is archived
    │   ├── WouldDeadlock      E306   a question that would make agents wait for each other in a ring
    │   └── Stale              E307   the turn is no longer the caller's (fence)
    ├── Unanswered         the request was fine, but waiting ended without an answer
    │   ├── Undelivered        E502   the agent is away, or not reached as far as was required
    │   ├── TimedOut           E504   also a TimeoutError; carries the open turns
    │   ├── Passed             E505   the agent chose silence
    │   └── TurnFailed         E503   the agent's turn failed
    └── Trouble            the operator: the machine, the hub, a key or the database
        ├── NoKey              E101   a model needs a key, and none is set
        ├── KeyRefused         E102   the provider does not accept the key
        ├── ModelUnavailable   E104   a provider cannot be reached, or does not answer as it should
        ├── PortTaken          E401   another program listens where the hub should
        ├── HubRunning         E403   another hub runs on this home
        ├── HubAbsent          E402   no hub is listening
        ├── McpClient          E501   a coding CLI is missing, gives up too early, or does not take Moot in
        ├── StoreNewer         E601   written by a newer Moot
        ├── StoreDamaged       E602   unreadable or altered
        └── StoreUnwritable    E603   disk full, read-only, locked

Warnings (`WARNINGS`) are apart: the request was carried out, and there is something to know.

The docstring of each says what it means, who acts, a typical cause and what to do, for `moot explain` alone: there, and
not in what is raised, a command may be named. What can be done about one case is a value (model/hint.py).
The core raises these facts; each door has one table to its own numbers (exit code, HTTP status, MCP error).
"""

from typing import Any, ClassVar, Final

from moot.model import hint
from moot.model.hint import WarningCode
from moot.model.json import JsonObject


class MootError(Exception):
    """An unexpected error inside Moot.

    Who acts: the developers of Moot: you did nothing wrong.
    Cause: a case that nobody thought of; the title says what failed.
    To do: try once more; then run the command with --debug, look at `moot logs`, and report both."""

    code: ClassVar[str] = "E000"
    name: str = "error"
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        title: str,
        *,
        detail: str = "",
        fix: tuple[hint.Way, ...] = (),
        suggestions: tuple[str, ...] = (),
        retry_after_ms: int | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(title)
        self.title = title
        self.detail = detail
        self.fix = fix
        """What can be done; a door says it in its own terms."""
        self.suggestions = suggestions
        self.retry_after_ms = retry_after_ms
        self.facts = facts

    def to_dict(self, say: hint.Say | None = None) -> JsonObject:
        """The error object of every door, with what can be done in the words of `say`; without it, as data."""
        return {
            "code": self.code,
            "name": self.name,
            "title": self.title,
            "detail": self.detail,
            "fix": hint.to_data(self.fix) if say is None else hint.worded(self.fix, say),
            "suggestions": list(self.suggestions),
            "retryable": self.retryable or self.retry_after_ms is not None,
            "retry_after_ms": self.retry_after_ms,
            **self.facts,
        }


class Mistake(MootError):
    """The request cannot be carried out as it is."""


class NotFound(Mistake):
    """Nothing has that name or id. The error's name says what was looked for: `agent_not_found` and so on.

    Who acts: whoever made the request: the name or id has to be another.
    Cause: a typo, a different home than intended (--home, MOOT_HOME), or an agent that was removed.
    To do: use one of the suggestions, or look it up: `moot agents list`, `moot conv list`, `moot tail`."""

    code = "E201"
    name = "not_found"

    def __init__(self, title: str, *, what: str = "", **more: Any) -> None:
        super().__init__(title, **more)
        self.what = what
        """What was looked for, where callers may want to tell it apart: an agent, conversation, message or turn."""
        self.name = f"{what}_{NotFound.name}" if what else NotFound.name


class BadName(Mistake):
    """The name cannot be used.

    Who acts: whoever chose the name.
    Cause: it is taken, was taken before, is reserved, looks like another name, or has characters that no name can have.
    To do: choose another; the error suggests some that are free."""

    code = "E202"
    name = "bad_name"


class BadText(Mistake):
    """The text cannot be stored.

    Who acts: whoever wrote the message.
    Cause: it is empty, longer than limits.message_bytes, or not valid Unicode, such as a binary file piped in.
    To do: shorten or correct it; `moot config get limits.message_bytes` shows how long a message may be."""

    code = "E203"
    name = "bad_text"


class BadValue(Mistake):
    """A field has the wrong type or a value that is not allowed.

    Who acts: whoever gave the value: in an option, a request, moot.toml, or an agent's code.
    Cause: a number out of range, a misspelt choice, or a `code:module:function` brain that cannot be imported.
    To do: the title names the field and what it accepts: correct it there. Help (-h) lists what an option accepts."""

    code = "E204"
    name = "bad_value"


class Conflict(Mistake):
    """The request conflicts with what is already there.

    Who acts: whoever made the request: look at the current state, and decide.
    Cause: the message was edited in the meantime, the name is in use, or an idempotency key came with two texts.
    To do: read it again and repeat the change on the newest version; or choose another name or idempotency key."""

    code = "E205"
    name = "conflict"


class BadSettings(Mistake):
    """The settings file is invalid.

    Who acts: whoever edits moot.toml.
    Cause: a missing quote, a misspelt key or a value that is not allowed; the title says file, line and column.
    To do: correct that place with `moot config edit`, which checks it; `moot doctor` confirms that all is well."""

    code = "E103"
    name = "broken_config"


class Refused(MootError):
    """A policy or a brake refused it."""


class Unauthenticated(Refused):
    """The caller did not prove who it is.

    Who acts: whoever calls the API: send a valid token.
    Cause: no Authorization header, a token of another home, or one that was revoked.
    To do: send `Authorization: Bearer TOKEN`; the owner's token is in run/token of the home, and can issue others."""

    code = "E300"
    name = "unauthenticated"


class NotPermitted(Refused):
    """The link graph, or the caller's role, does not allow it.

    Who acts: the owner of the hub, who may allow it; the caller cannot.
    Cause: an agent that speaks for another, a token without that scope, or somebody who is not a member.
    To do: do it as the owner, ask the owner for a token with that scope, or have the agent added: `moot conv add`."""

    code = "E301"
    name = "not_permitted"


class RateLimited(Refused):
    """Too many requests in too short a time.

    Who acts: nobody: waiting is enough. The owner can raise the limit.
    Cause: two agents that answer each other quickly, a script in a loop, or a full queue.
    To do: wait as long as retry_after_ms says; the limits are settings under [limits] in moot.toml."""

    code = "E302"
    name = "rate_limited"
    retryable = True


class Braked(Refused):
    """A brake has stopped the agents until a person resumes them.

    Who acts: a person in the conversation.
    Cause: the agents took as many turns among themselves as one message may cause.
    To do: read what they said; then `/continue` in the chat or `moot conv continue NAME`, or write something new."""

    code = "E303"
    name = "braked"


class Closed(Refused):
    """The conversation is archived: it can be read, but not written to.

    Who acts: whoever wants to write there.
    Cause: somebody archived it, or it was made for one message that has been answered.
    To do: `moot conv unarchive NAME` reopens it; or start another with `moot chat`."""

    code = "E305"
    name = "conversation_archived"


class WouldDeadlock(Refused):
    """The question would create a ring of agents that wait for each other.

    Who acts: the agent that asks: it has to go on without this answer.
    Cause: agents that ask each other and each wait for the answer before they give their own.
    To do: answer first and ask later, or send a message without waiting for an answer."""

    code = "E306"
    name = "would_deadlock"


class Stale(Refused):
    """The turn has moved on; its former holder's result no longer counts.

    Who acts: nobody: the turn belongs to somebody else, or is over.
    Cause: the agent was silent for longer than its lease, was interrupted, or the machine slept.
    To do: drop the answer and take the next turn; if a host often loses turns, raise host.lease_seconds."""

    code = "E307"
    name = "stale_turn"


class Unanswered(MootError):
    """Waiting ended without an answer."""


class Undelivered(Unanswered):
    """The agent is away or could not be reached yet; the message waits for it.

    Who acts: whoever runs the agent.
    Cause: its hub or daemon is not running, or its coding CLI is closed or not set up to be woken.
    To do: start it with `moot up` or `moot agent start NAME`; the message need not be sent again."""

    code = "E502"
    name = "not_delivered"
    retryable = True


class TimedOut(Unanswered, TimeoutError):
    """Nobody answered in time; the message is kept.

    Who acts: nobody has to: the answer may still come.
    Cause: a slow model, a long queue ahead of this message, or too short a timeout.
    To do: look later with `moot tail` or `moot why`, or wait longer with --timeout; do not send it twice."""

    code = "E504"
    name = "timed_out"
    retryable = True


class Passed(Unanswered):
    """The agent read it and chose to say nothing.

    Who acts: nobody: silence is a valid answer.
    Cause: nothing was asked, or the agent thinks that others know better.
    To do: ask it by name and say what you need to know; `moot why` shows what it was given."""

    code = "E505"
    name = "passed"


class TurnFailed(Unanswered):
    """The agent's turn ended in an error.

    Who acts: whoever wrote or set up the agent.
    Cause: its code raised an exception, or its model could not be reached or refused.
    To do: `moot why` and `moot turn show ID` show the error; once it is fixed, `moot conv retry NAME` asks again."""

    code = "E503"
    name = "turn_failed"


class Trouble(MootError):
    """Something is wrong with the machine, the hub, a key or the database."""


class NoKey(Trouble):
    """A model's provider needs a key, and none is set.

    Who acts: the owner of the hub.
    Cause: a new home, or a variable that is not set in the shell that started the hub.
    To do: `moot keys set PROVIDER`, or set the provider's variable and restart the hub; the demo brain needs no key."""

    code = "E101"
    name = "no_key"


class KeyRefused(Trouble):
    """A model's provider does not accept the key.

    Who acts: the owner of the hub.
    Cause: the key was revoked, is incomplete, or belongs to another provider or address.
    To do: create a new key at the provider and `moot keys set PROVIDER`; `moot keys test PROVIDER` checks it."""

    code = "E102"
    name = "key_refused"


class ModelUnavailable(Trouble):
    """A model's provider cannot be reached, or does not answer as it should.

    Who acts: usually the provider; the owner, if the address is wrong.
    Cause: no network, an outage, a local model server that is not running, or a model name that is unknown there.
    To do: `moot doctor net` asks the provider and `moot models` lists its models; then try again."""

    code = "E104"
    name = "model_unavailable"
    retryable = True


class PortTaken(Trouble):
    """The hub cannot listen on its port: another program does.

    Who acts: the operator of the machine.
    Cause: a hub of another home, or another program, uses the port in hub.port.
    To do: `moot up --port 0` uses any free port; or stop the program that the title names, or change hub.port."""

    code = "E401"
    name = "port_taken"


class HubRunning(Trouble):
    """Another hub is running on this home.

    Who acts: whoever starts the second one; nothing is broken.
    Cause: `moot up` was run twice, or a hub is running in the background.
    To do: use the running hub; `moot stop` stops it, and `moot --home DIR up` runs one for another home."""

    code = "E403"
    name = "hub_running"


class HubAbsent(Trouble):
    """No hub answers.

    Who acts: whoever runs the hub.
    Cause: it was never started, has stopped, or could not start; its log says why.
    To do: `moot up`, and `moot logs` if it does not stay up; acknowledged messages are kept."""

    code = "E402"
    name = "hub_absent"


class McpClient(Trouble):
    """A coding CLI is not installed, gives up before Moot has started, or does not accept Moot.

    Who acts: whoever uses that coding CLI.
    Cause: it is not on the PATH, is an old version, or its settings file cannot be changed.
    To do: `moot doctor mcp` checks each one; then run `moot mcp install CLIENT` again."""

    code = "E501"
    name = "mcp_client"


class StoreNewer(Trouble):
    """The database was written by a newer version of Moot.

    Who acts: the operator of the machine.
    Cause: two versions of Moot are installed, or an update was rolled back.
    To do: use the newer version; or restore a backup from before the update with `moot backup restore`."""

    code = "E601"
    name = "store_newer"


class StoreDamaged(Trouble):
    """The database is damaged or is not a Moot database.

    Who acts: the operator of the machine, before anybody writes to it again.
    Cause: a failing disk, a file that was edited or copied while a hub was running, or another program's file.
    To do: stop the hub and copy the home; `moot doctor db` shows the damage, `moot backup restore` uses a backup."""

    code = "E602"
    name = "store_damaged"


class StoreUnwritable(Trouble):
    """The database cannot be written at the moment.

    Who acts: the operator of the machine.
    Cause: the disk is full, the folder is read-only or another user's, or another program holds the file.
    To do: free some space or fix the permissions; `moot doctor` says which. Nothing acknowledged is lost."""

    code = "E603"
    name = "store_unwritable"
    retryable = True


class MootWarning:
    """The request was carried out; there is something to know."""

    code: ClassVar[WarningCode]
    name: ClassVar[str]


class NotAsked(MootWarning):
    """The message is stored, but somebody it names will not be asked: it mentions more agents than may answer one
    message (max_agent_turns_per_message), or agents that are not in the conversation.

    Who acts: whoever wrote the message, if their answers are wanted.
    Cause: many names in one message, @all in a large group, or an agent that was never added.
    To do: ask the others in a second message, raise the limit, or add them with `moot conv add`."""

    code = WarningCode.NOT_ASKED
    name = "not_asked"


WARNINGS: Final[tuple[type[MootWarning], ...]] = (NotAsked,)
"""Codes that only ever warn; a warning may also carry an error's code."""


def tree(root: type[MootError] = MootError) -> list[type[MootError]]:
    """Every concrete error, for the tables of the doors and the generated reference."""
    found: list[type[MootError]] = []
    for child in root.__subclasses__():
        found += tree(child) or [child]
    return found
