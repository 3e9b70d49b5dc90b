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

The docstring of each says what it means, who acts, a typical cause and what to do, for `moot explain` alone: there, and
not in what is raised, a command may be named. What can be done about one case is a value (model/hint.py).
The core raises these facts; each door has one table to its own numbers (exit code, HTTP status, MCP error).
"""

from typing import Any, ClassVar, Final

from moot.model import hint
from moot.model.hint import WarningCode
from moot.model.json import JsonObject


class MootError(Exception):
    """Something Moot will not or cannot do; as it stands, a fault inside Moot itself.

    Who acts: the makers of Moot: you did nothing wrong.
    Cause: a case that nobody has thought of; the title says what failed.
    To do: try once more; then run the command with --debug, look into `moot logs`, and report both."""

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
        """The error object of every door, which says what can be done; without that it is told as data."""
        return {
            "code": self.code,
            "name": self.name,
            "title": self.title,
            "detail": self.detail,
            "fix": hint.to_data(self.fix) if say is None else hint.said(self.fix, say),
            "suggestions": list(self.suggestions),
            "retryable": self.retryable or self.retry_after_ms is not None,
            "retry_after_ms": self.retry_after_ms,
            **self.facts,
        }


class Mistake(MootError):
    """The request cannot be done as it stands."""


class NotFound(Mistake):
    """Nothing goes by that name or id. The name says what: `agent_not_found`, `conversation_not_found` and so on.

    Who acts: whoever asked: the name or id has to be another.
    Cause: a typing error, another home than the one meant (--home, MOOT_HOME), or an agent that was removed.
    To do: take one of the suggestions, or look: `moot agents list`, `moot conv list`, `moot tail`."""

    code = "E201"
    name = "not_found"

    def __init__(self, title: str, *, what: str = "", **more: Any) -> None:
        super().__init__(title, **more)
        self.what = what
        """What was looked for, where callers may want to tell it apart: an agent, conversation, message or turn."""
        self.name = f"{what}_{NotFound.name}" if what else NotFound.name


class BadName(Mistake):
    """The name cannot be given.

    Who acts: whoever chose the name.
    Cause: it is taken, was somebody's before, is reserved, looks like another one, or has letters that no name has.
    To do: choose another; the error suggests some that are free."""

    code = "E202"
    name = "bad_name"


class BadText(Mistake):
    """The text cannot be stored.

    Who acts: whoever wrote the message.
    Cause: it is empty, longer than limits.message_bytes, or not valid Unicode, as when a binary file is piped in.
    To do: shorten or mend it; `moot config get limits.message_bytes` shows how long a message may be."""

    code = "E203"
    name = "bad_text"


class BadValue(Mistake):
    """A field has the wrong type or a value outside what is allowed.

    Who acts: whoever gave the value: in an option, a request, moot.toml, or as an agent's code.
    Cause: a number out of range, a misspelt choice, or a `code:module:function` brain that cannot be imported.
    To do: the title names the field and what it takes: mend it there. Help (-h) lists what an option takes."""

    code = "E204"
    name = "bad_value"


class Conflict(Mistake):
    """Somebody else's version of the same thing stands in the way.

    Who acts: whoever asked: look at what is there now, and decide.
    Cause: the message was edited meanwhile, a conversation has that name, or one key came with two texts.
    To do: read it again and repeat the change on the newest version; choose another name, or a new idempotency key."""

    code = "E205"
    name = "conflict"


class BadSettings(Mistake):
    """The settings file is broken.

    Who acts: whoever edits moot.toml.
    Cause: a missing quote, a misspelt key or a value that is not allowed; the title says file, line and column.
    To do: mend that place with `moot config edit`, which checks it; `moot doctor` says when all is well."""

    code = "E103"
    name = "broken_config"


class Refused(MootError):
    """Policy or a brake says no."""


class Unauthenticated(Refused):
    """Whoever asks did not say who it is in a way that can be believed.

    Who acts: whoever calls the API: show a token that is good.
    Cause: no Authorization header, a token of another home, or one that was revoked.
    To do: send `Authorization: Bearer TOKEN`: the owner's is in run/token of the home, and issues the others."""

    code = "E300"
    name = "unauthenticated"


class NotPermitted(Refused):
    """The link graph, or who the caller is, does not allow it.

    Who acts: the owner of the hub, who may allow it; the caller cannot.
    Cause: an agent that speaks for another, a token without that scope, or somebody who is not a member.
    To do: do it as the owner, ask the owner for a token with that scope, or have the agent invited: `moot conv add`."""

    code = "E301"
    name = "not_permitted"


class RateLimited(Refused):
    """Too much in too short a time.

    Who acts: nobody: waiting is enough. The owner may raise the limit.
    Cause: two agents that answer each other quickly, a script in a loop, or a full queue.
    To do: wait as long as retry_after_ms says; the bounds are settings under [limits] in moot.toml."""

    code = "E302"
    name = "rate_limited"
    retryable = True


class Braked(Refused):
    """A brake stops more of this until a person lets it go on.

    Who acts: a person of the conversation.
    Cause: agents went on among themselves for as many turns as one message may cause.
    To do: read what they said; then `/continue` in the chat or `moot conv continue NAME`, or say something new."""

    code = "E303"
    name = "braked"


class Closed(Refused):
    """The conversation is archived: it can be read, not written.

    Who acts: whoever wants to write there.
    Cause: it was archived by hand, or as a conversation of one message that was answered.
    To do: `moot conv unarchive NAME` opens it again; or begin another with `moot chat`."""

    code = "E305"
    name = "conversation_archived"


class Stale(Refused):
    """The turn has moved on; what its former holder says no longer counts.

    Who acts: nobody: the turn is somebody else's, or over.
    Cause: the agent was silent for longer than its lease, was interrupted, or the machine slept.
    To do: drop the answer and take the next turn; a host that often loses turns needs a larger host.lease_seconds."""

    code = "E307"
    name = "stale_turn"


class Unanswered(MootError):
    """Waiting ended without an answer."""


class Undelivered(Unanswered):
    """The agent is away or has not been reached so far; the message waits for it.

    Who acts: whoever runs the agent.
    Cause: its hub or daemon does not run, or its coding CLI is closed or not set up to be woken.
    To do: start it with `moot up` or `moot agent start NAME`; the message need not be sent again."""

    code = "E502"
    name = "not_delivered"
    retryable = True


class TimedOut(Unanswered, TimeoutError):
    """Nobody answered in time; the message is kept.

    Who acts: nobody has to: the answer may still come.
    Cause: a slow model, a long queue before this message, or a time-out that is too short.
    To do: look later with `moot tail` or `moot why`, or wait longer with --timeout; do not send it twice."""

    code = "E504"
    name = "timed_out"
    retryable = True


class Passed(Unanswered):
    """The agent read it and chose to say nothing.

    Who acts: nobody: silence is an answer.
    Cause: nothing was asked, or the agent thinks that others know better.
    To do: ask it by name and say what you need to know; `moot why` shows what it was given."""

    code = "E505"
    name = "passed"


class TurnFailed(Unanswered):
    """The agent's turn ended in an error.

    Who acts: whoever made or set up the agent.
    Cause: its code raised an exception, or its model could not be reached or refused.
    To do: `moot why` and `moot turn show ID` give the error; once it is mended, `moot conv retry NAME` asks again."""

    code = "E503"
    name = "turn_failed"


class Trouble(MootError):
    """The machine, the hub, a key or the database needs a hand."""


class NoKey(Trouble):
    """A model's provider wants a key, and none is set.

    Who acts: the owner of the hub.
    Cause: a new home, or a variable that is set in another shell than the one that started the hub.
    To do: `moot keys set PROVIDER`, or set the provider's variable and start the hub anew; demo needs none."""

    code = "E101"
    name = "no_key"


class KeyRefused(Trouble):
    """A model's provider does not accept the key.

    Who acts: the owner of the hub.
    Cause: the key was revoked, has a letter too few, or belongs to another provider or address.
    To do: make a new key at the provider and `moot keys set PROVIDER`; `moot keys test PROVIDER` tries it."""

    code = "E102"
    name = "key_refused"


class ModelUnavailable(Trouble):
    """A model's provider cannot be reached, or does not answer as it should.

    Who acts: the provider, mostly; the owner, if the address is wrong.
    Cause: no network, an outage, a local model server that does not run, or a model's name that is unknown there.
    To do: `moot doctor net` asks the provider and `moot models` lists its models; then try again."""

    code = "E104"
    name = "model_unavailable"
    retryable = True


class PortTaken(Trouble):
    """The hub cannot listen where it should: another program does.

    Who acts: the operator of the machine.
    Cause: a hub of another home, or some other program, has the port of hub.port.
    To do: `moot up --port 0` takes any free one; or stop the program that the title names, or set hub.port."""

    code = "E401"
    name = "port_taken"


class HubRunning(Trouble):
    """Another hub runs on this home.

    Who acts: whoever starts the second one; there is nothing to mend.
    Cause: `moot up` was typed twice, or a hub runs in the background.
    To do: use the one that runs; `moot stop` ends it, and `moot --home DIR up` runs one for another home."""

    code = "E403"
    name = "hub_running"


class HubAbsent(Trouble):
    """No hub answers.

    Who acts: whoever runs the hub.
    Cause: it was never started, has stopped, or could not start; its log says why.
    To do: `moot up`, and `moot logs` if it does not stay; what was acknowledged before is kept."""

    code = "E402"
    name = "hub_absent"


class McpClient(Trouble):
    """A coding CLI is not installed, gives up before Moot has started, or does not take Moot in.

    Who acts: whoever uses that coding CLI.
    Cause: it is not on the PATH, is an old version, or its settings file cannot be changed.
    To do: `moot doctor mcp` says how each one stands; then `moot mcp install CLIENT` again."""

    code = "E501"
    name = "mcp_client"


class StoreNewer(Trouble):
    """The database was written by a newer Moot.

    Who acts: the operator of the machine.
    Cause: two versions of Moot are installed, or an update was taken back.
    To do: use the newer Moot; or put back a backup from before the update with `moot backup restore`."""

    code = "E601"
    name = "store_newer"


class StoreDamaged(Trouble):
    """The database is damaged or is not a Moot database.

    Who acts: the operator of the machine, before anybody writes there again.
    Cause: a failing disk, a file that was edited or copied while a hub ran, or another program's file of that name.
    To do: stop the hub and copy the home; `moot doctor db` tells the damage, `moot backup restore` takes a backup."""

    code = "E602"
    name = "store_damaged"


class StoreUnwritable(Trouble):
    """The database cannot be written now.

    Who acts: the operator of the machine.
    Cause: the disk is full, the folder is read-only or somebody else's, or another program holds the file.
    To do: make room or mend the permissions; `moot doctor` names which, and nothing that was acknowledged is lost."""

    code = "E603"
    name = "store_unwritable"
    retryable = True


class MootWarning:
    """What was asked is done; there is something to know."""

    code: ClassVar[WarningCode]
    name: ClassVar[str]


class NotAsked(MootWarning):
    """The message is stored, but somebody it names is not asked: more agents are mentioned than may answer one
    message (max_agent_turns_per_message), or they are not in the conversation.

    Who acts: whoever wrote the message, if the answer of those is wanted.
    Cause: many names in one message, @all in a large group, or somebody who was never invited.
    To do: ask the rest in a second message, raise the bound, or bring them in with `moot conv add`."""

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
