"""Who is calling, and how often: turns the credential of a request into a principal, for everything on the port."""

import hmac
import math
from time import monotonic

from starlette.requests import HTTPConnection

from moot.doors.http.gate.rate import Buckets
from moot.doors.http.wire.unauthenticated import KNOWN
from moot.errors import MootError, NotPermitted, RateLimited
from moot.hub import Hub
from moot.model.entrance import DoorName
from moot.model.ids import ParticipantId
from moot.model.records.token import TokenScope
from moot.rules.access import Principal, Standing, unauthenticated

ALL_SCOPES = frozenset(scope.value for scope in TokenScope)


class Gate:
    """The one way in for everything that listens on the port."""

    def __init__(self, hub: Hub, owner_token: str) -> None:
        self.hub = hub
        self._owner_token = owner_token
        self._bearers = hub.agents.bearers()
        self._per_second = hub.settings.limits.requests_per_second
        self._buckets = Buckets(self._per_second, monotonic)

    async def principal(
        self, request: HTTPConnection, door: str = "http", *, settled_later: bool = False
    ) -> Principal:
        """Who the credential says it is, within the rate limit. `settled_later`: see `bearer`."""
        headers = request.headers.getlist("authorization")
        kind, _, token = headers[0].partition(" ") if len(headers) == 1 else ("", "", "")
        token = token if kind.lower() == "bearer" else ""
        return await self.admit(token, request, door, settled_later=settled_later)

    async def admit(
        self, token: str, request: HTTPConnection, door: str, *, settled_later: bool = False
    ) -> Principal:
        """The same for a token that did not come in the usual header."""
        caller = await self.bearer(token, door, settled_later=settled_later)
        if caller is None:
            raise unauthenticated()
        on_recognised = request.scope.get("extensions", {}).get(KNOWN)
        if on_recognised is not None:
            on_recognised()
        try:
            self.count(caller)
            return await self._act_as(request, caller)
        except MootError:
            if settled_later and not await self.is_good(caller):  # the caller then learns nothing else
                raise unauthenticated() from None
            raise

    async def bearer(self, token: str, door: str, *, settled_later: bool = False) -> Principal | None:
        """The principal of a token; None if the token is not valid. `settled_later`: the request is one decision, which
        itself checks the token (flow/steps/admission.py)."""
        if not token or not token.isascii():
            return None
        hub = self.hub
        if hmac.compare_digest(token, self._owner_token):
            return Principal(Standing.OWNER, ParticipantId(hub.name), hub.name, human=True, scopes=ALL_SCOPES)
        holder = await self._bearers.of(token, settled_later=settled_later)
        if holder is None:
            return None
        hub.agents.noticed(holder.id, door)
        return Principal(
            Standing.OWNER if holder.is_owner else Standing.PARTICIPANT,
            holder.id,
            holder.name,
            holder.human,
            holder.scopes,
            token=holder.token,
            in_browser=holder.in_browser,
        )

    def count(self, caller: Principal) -> None:
        """Count a request; too many in a short time are refused. The owner is exempt."""
        if caller.standing is Standing.PARTICIPANT and (wait := self._buckets.take(caller.id)):
            raise RateLimited(
                f"{caller.name} sends too many requests",
                detail=f"{self._per_second:g} requests per second are allowed",
                retry_after_ms=math.ceil(wait * 1000),
                limit="requests_per_second",
            )

    async def _act_as(self, request: HTTPConnection, caller: Principal) -> Principal:
        """`Moot-Act-As`, from the owner only. The rules of the participant acted for apply."""
        name = request.headers.get("moot-act-as")
        if name is None:
            return caller
        if caller.standing is not Standing.OWNER:
            raise NotPermitted("only the owner may act as somebody else", fix=("leave out Moot-Act-As",))
        speaker = await self.hub.agents.get(name)
        if speaker.name == caller.name:
            return caller
        human = speaker.kind == "human"
        return Principal(
            Standing.PARTICIPANT, ParticipantId(speaker.id), speaker.name, human, ALL_SCOPES, by_owner=True
        )

    async def is_good(self, caller: Principal) -> bool:
        """Whether the token has not been revoked since."""
        return not caller.token or await self._bearers.is_good(caller.token, caller.id)

    def voice(self, caller: Principal, door: DoorName = DoorName.HTTP) -> Hub:
        """The hub, acting as the caller, who came in by this door."""
        if caller.in_browser and door is DoorName.HTTP:
            door = DoorName.WEB
        if caller.standing is not Standing.PARTICIPANT:
            return self.hub.through(door)
        return (
            self.hub.through(door).acting_as(caller.id)
            if caller.by_owner
            else self.hub.voice_of(caller.id, door)
        )

    async def voice_within(self, caller: Principal, turn: str | None) -> Hub:
        """The same, within an open turn of an outside agent: what it posts belongs to that turn."""
        hub = self.voice(caller)
        return await hub.within(turn) if turn and caller.standing is Standing.PARTICIPANT else hub
