"""Who calls: the credential, how often it may ask, and for whom the owner speaks. The same for requests and sockets."""

import hmac
import math
from collections.abc import Mapping

from starlette.datastructures import Headers

from moot.doors.access import NOBODY, Principal, Standing, unauthenticated
from moot.doors.http.rate import Buckets
from moot.doors.http.table import House
from moot.errors import MootError, NotFound, NotPermitted, RateLimited
from moot.hub import Hub
from moot.model.token import Scope

ALL_SCOPES = frozenset(scope.value for scope in Scope)


class Callers:
    def __init__(self, house: House, buckets: Buckets) -> None:
        self._house = house
        self._buckets = buckets

    async def let_in(self, headers: Headers) -> Principal:
        """As the headers of a request say, and not more often than it may."""
        return await self.admitted(bearer(headers), headers)

    async def admitted(self, token: str, headers: Mapping[str, str]) -> Principal:
        """As a token says, wherever it stood."""
        who = await self.known(token)
        if who.standing is Standing.NOBODY:
            raise unauthenticated()
        self.count(who)
        return await self._spoken_for(headers.get("moot-act-as"), who)

    def count(self, who: Principal) -> None:
        """One more thing asked for, if that is not too much."""
        if who.standing is Standing.PARTICIPANT and (wait := self._buckets.take(who.id)):
            raise RateLimited(
                f"{who.name} asks too often",
                detail=f"{self._house.hub.settings.limits.requests_per_second:g} requests a second are allowed",
                retry_after_ms=math.ceil(wait * 1000),
            )

    async def known(self, token: str) -> Principal:
        hub = self._house.hub
        if not token or not token.isascii():
            return NOBODY
        if hmac.compare_digest(token, self._house.owner_token):
            return Principal(Standing.OWNER, hub.name, hub.name, human=True, scopes=ALL_SCOPES)
        found = await hub.agents.bearer(token)
        if found is None:
            return NOBODY
        return Principal(
            Standing.PARTICIPANT, found.id, found.name, found.human, found.scopes, token=found.token
        )

    async def _spoken_for(self, name: str | None, who: Principal) -> Principal:
        """`Moot-Act-As`, from the owner only. All rules bind whom the owner speaks for."""
        if name is None:
            return who
        if who.standing is not Standing.OWNER:
            raise NotPermitted("only the owner may speak for somebody else", fix=("leave out Moot-Act-As",))
        speaker = await self._house.hub.agents.get(name)
        if speaker.name == who.name:
            return who
        human = speaker.kind == "human"
        return Principal(Standing.PARTICIPANT, speaker.id, speaker.name, human, ALL_SCOPES, by_owner=True)

    def voice(self, who: Principal) -> Hub:
        return self._house.hub.acting_as(who.id) if who.standing is Standing.PARTICIPANT else self._house.hub


def bearer(headers: Headers) -> str:
    given = headers.getlist("authorization")
    kind, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return token if kind.lower() == "bearer" else ""


def without_hints(error: MootError, who: Principal) -> MootError:
    """What comes near a wrong name may be a conversation that the caller must not know of."""
    if not isinstance(error, NotFound) or who.standing is Standing.OWNER:
        return error
    public = set(error.facts.get("available", ()))
    error.suggestions = tuple(name for name in error.suggestions if name in public)
    return error
