"""Who calls: the principal that the transport vouches for, the hub as it sees it, and what it was given so far."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from msgspec import structs

from moot import shapes
from moot.doors import lookup
from moot.doors.credentials import Credential, still_good_for
from moot.doors.open_limit import OpenAtOnce
from moot.flow.steps.admission import THE_HUB, Admission, OfPerson, Subject
from moot.hub import Hub
from moot.ports import ConversationVersion
from moot.rules.access import HUB_TARGET, Action, PersonTarget, Principal, Standing, authorize, may


class ClientHandover:
    """What a client was given and has not acknowledged yet."""

    def __init__(self) -> None:
        self.handed: tuple[str, ...] = ()


class Caller:
    """Who calls, for one request or for a session. No tool takes a sender: this is it."""

    def __init__(
        self, shown: Credential, hub: Hub, open_at_once: OpenAtOnce, client: ClientHandover | None = None
    ) -> None:
        self._shown = shown
        self._who = shown.who
        self.hub = hub
        self._client = client or ClientHandover()
        self._open_at_once = open_at_once

    @property
    def who(self) -> Principal:
        """Under its current name: it may have been renamed since it connected."""
        return structs.replace(self._who, name=self.hub.name)

    def allowed(self, action: Action) -> None:
        """Raise unless it may do something that concerns only the hub or itself."""
        own = action in (Action.SEE_OWN, Action.CHANGE_OWN)
        authorize(self.who, action, PersonTarget(self.who.name) if own else HUB_TARGET)

    def may(self, action: Action) -> bool:
        """Whether it may do something that concerns the hub."""
        return may(self.who, action, HUB_TARGET)

    def admitted(self, action: Action, subject: Subject = THE_HUB) -> Hub:
        """Its voice for what is one decision, which settles whether it may. The owner's needs nobody's leave."""
        if self._who.standing is Standing.OWNER:
            return self.hub
        admission = Admission(self._who.id, action, subject, self._who.token or None)
        return self.hub.admitted(admission, self._shown.settle)

    async def conversation(self, ref: str, action: Action) -> shapes.Conversation:
        return await lookup.conversation(self.hub, self.who, ref, action)

    async def version(self, ref: str) -> ConversationVersion:
        """Of a conversation that it may read."""
        return await lookup.version(self.hub, self.who, ref)

    async def message(self, ref: str, action: Action) -> str:
        """The address of a message whose conversation may be called by its name."""
        where = await lookup.around(self.hub, self.who, ref, action)
        return f"{where.id}:{ref.rpartition(':')[2]}"

    async def still_good(self, handed: Sequence[str] = ()) -> None:
        """Raise if its token was revoked while it waited; what it was to be given is offered again."""
        await still_good_for(self.hub, self._who, handed)

    def staying(self) -> AbstractContextManager[None]:
        """It waits or listens for the duration of the block: refused if it has too many connections open."""
        return self._open_at_once.one(self.who)

    def begin(self) -> None:
        """A client introduces itself: it has not seen what the one before it was given."""
        self._client.handed = ()

    async def take_messages(self, **options: Any) -> dict[str, Any]:
        """Its waiting messages, at once or as soon as there are any; what it was given before is acknowledged."""
        mailbox = self.admitted(Action.CHANGE_OWN, OfPerson(self._who.id)).mailbox
        ask = mailbox.wait if "timeout" in options else mailbox.check
        with self.staying() if options.get("timeout") else nullcontext():
            found = await ask(handed=self._client.handed, **options)
        if "timeout" in options:
            await self.still_good(found.handed)
        self._client.handed = found.handed
        answer = found.to_dict()
        del answer["handed"]
        return {key: value for key, value in answer.items() if value or key in ("messages", "next")}


MAX_KNOWN = 10_000
MAX_CLIENTS = 16
"""Of one token; of more, the one that came first is taken for a new one when it comes again."""


class Callers:
    """Of a transport without sessions: known again by what they show, and several with one token by what tells them
    apart. That is no credential: it only says to whom something was handed."""

    def __init__(self, open_at_once: OpenAtOnce) -> None:
        self._known: dict[tuple[str, str], dict[str, ClientHandover]] = {}
        self._open_at_once = open_at_once

    def of(self, shown: Credential, hub: Hub, client: str) -> Caller:
        clients = self._with_token(shown.who)
        known = clients.get(client)
        if known is None:
            if len(clients) >= MAX_CLIENTS:
                del clients[next(iter(clients))]
            known = clients[client] = ClientHandover()
        return Caller(shown, hub, self._open_at_once, known)

    def _with_token(self, who: Principal) -> dict[str, ClientHandover]:
        key = (who.id, who.token)
        if key not in self._known and len(self._known) >= MAX_KNOWN:
            del self._known[next(iter(self._known))]
        return self._known.setdefault(key, {})
