"""The caller: the principal that the transport vouches for, its hub, and the messages it was given so far."""

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
    """The caller of one request or session. No tool takes a sender: the caller is the sender."""

    def __init__(
        self, credential: Credential, hub: Hub, open_at_once: OpenAtOnce, client: ClientHandover | None = None
    ) -> None:
        self._credential = credential
        self._principal = credential.caller
        self.hub = hub
        self._client = client or ClientHandover()
        self._open_at_once = open_at_once

    @property
    def principal(self) -> Principal:
        """Under its current name: it may have been renamed since it connected."""
        return structs.replace(self._principal, name=self.hub.name)

    def require(self, action: Action) -> None:
        """Raise unless it may do something that concerns only the hub or itself."""
        own = action in (Action.SEE_OWN, Action.CHANGE_OWN)
        authorize(self.principal, action, PersonTarget(self.principal.name) if own else HUB_TARGET)

    def may(self, action: Action) -> bool:
        """Whether it may do something that concerns the hub."""
        return may(self.principal, action, HUB_TARGET)

    def voice(self, action: Action, subject: Subject = THE_HUB) -> Hub:
        """The hub acting as the caller, for one decision that settles whether it may. The owner always may."""
        if self._principal.standing is Standing.OWNER:
            return self.hub
        admission = Admission(self._principal.id, action, subject, self._principal.token or None)
        return self.hub.admitted(admission, self._credential.settle)

    async def conversation(self, ref: str, action: Action) -> shapes.Conversation:
        return await lookup.conversation(self.hub, self.principal, ref, action)

    async def version(self, ref: str) -> ConversationVersion:
        """Of a conversation that it may read."""
        return await lookup.version(self.hub, self.principal, ref)

    async def message(self, ref: str, action: Action) -> str:
        """The address of a message whose conversation may be called by its name."""
        where = await lookup.around(self.hub, self.principal, ref, action)
        return f"{where.id}:{ref.rpartition(':')[2]}"

    async def still_good(self, handed: Sequence[str] = ()) -> None:
        """Raise if its token was revoked while it waited; what it was to be given is offered again."""
        await still_good_for(self.hub, self._principal, handed)

    def staying(self) -> AbstractContextManager[None]:
        """Count it as waiting or listening during the block: refused if it has too many connections open."""
        return self._open_at_once.one(self.principal)

    def begin(self) -> None:
        """Start anew for a client that introduces itself: it has not seen what the client before it was given."""
        self._client.handed = ()

    async def take_messages(self, **options: Any) -> dict[str, Any]:
        """Its waiting messages, at once or as soon as there are any; what it was given before is acknowledged."""
        mailbox = self.voice(Action.CHANGE_OWN, OfPerson(self._principal.id)).mailbox
        ask = mailbox.wait if "timeout" in options else mailbox.check
        with self.staying() if options.get("timeout") else nullcontext():
            messages = await ask(handed=self._client.handed, **options)
        if "timeout" in options:
            await self.still_good(messages.handed)
        self._client.handed = messages.handed
        answer = messages.to_dict()
        del answer["handed"]
        return {key: value for key, value in answer.items() if value or key in ("messages", "next")}


MAX_TOKENS = 10_000
MAX_CLIENTS = 16
"""Per token; beyond that the oldest is forgotten, and is taken for a new one when it comes back."""


class Callers:
    """Callers of a transport without sessions, recognised by their token, and several with one token by their client
    id. The id is not a credential: it only says which client was given something."""

    def __init__(self, open_at_once: OpenAtOnce) -> None:
        self._by_token: dict[tuple[str, str], dict[str, ClientHandover]] = {}
        self._open_at_once = open_at_once

    def of(self, credential: Credential, hub: Hub, client: str) -> Caller:
        clients = self._with_token(credential.caller)
        handover = clients.get(client)
        if handover is None:
            if len(clients) >= MAX_CLIENTS:
                del clients[next(iter(clients))]
            handover = clients[client] = ClientHandover()
        return Caller(credential, hub, self._open_at_once, handover)

    def _with_token(self, caller: Principal) -> dict[str, ClientHandover]:
        key = (caller.id, caller.token)
        if key not in self._by_token and len(self._by_token) >= MAX_TOKENS:
            del self._by_token[next(iter(self._by_token))]
        return self._by_token.setdefault(key, {})
