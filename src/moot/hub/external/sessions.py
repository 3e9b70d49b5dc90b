"""Which outside agents are present: sessions that give signs of life, and waits for messages.

One heartbeat for all sessions of a process, none for each; one watcher of the log for all waits. Above: doors that
outside agents come in by. Below: flow/steps/reach.py says what a sign of life means.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import structlog
from msgspec import ValidationError, convert, structs

from moot.errors import BadValue, MootError
from moot.flow import arrive, depart, heartbeat, lower_reach, wait
from moot.flow.arrive import Arrive
from moot.flow.claim import CLAIMABLE
from moot.flow.heartbeat import Sign
from moot.model.event import Event
from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.model.participant import REACH_SECONDS, Kind, Participant, Reach
from moot.wiring import Parts

log = structlog.get_logger("moot.attendance")

BEAT_SECONDS = REACH_SECONDS / 3
SEEN_SECONDS = 300.0
"""How long a request without a session counts as presence: its caller will probably ask again."""
SEEN_EVERY_SECONDS = 15.0


class Attendance:
    def __init__(self, parts: Parts, spawn: Callable[..., None]) -> None:
        self._parts = parts
        self._spawn = spawn
        self._sessions: dict[ParticipantId, list[Sign]] = {}
        self._beats = False
        self._waits: dict[ParticipantId, set[asyncio.Event]] = {}
        self._seen: dict[ParticipantId, float] = {}
        self.dismissed = False
        """Set during shutdown: pending waits return."""

    # --- sessions ----------------------------------------------------------------------------------------

    async def arrive(self, command: Arrive) -> Participant:
        """The participant for somebody who arrives, found or created; no session begins yet."""
        participant: Participant = await self._parts.store.transact(arrive, await self._apart(command))
        return participant

    async def _apart(self, command: Arrive) -> Arrive:
        """Two sessions in one folder are two agents while both are there."""
        place = (command.client, command.folder)
        taken = [
            participant.id
            for participant in await self._parts.store.participants()
            if (participant.config.client, participant.config.folder) == place
            and (participant.id in self._sessions or self._alive_elsewhere(participant, command.pid))
        ]
        return structs.replace(command, taken=tuple(taken), machine=self._parts.presence.machine)

    def _alive_elsewhere(self, participant: Participant, pid: int) -> bool:
        """Whether another process speaks for it, which is alive and whose session has not expired."""
        other, machine = participant.config.pid, participant.config.machine
        if other in (0, pid) or participant.reachable(self._parts.clock.now()) is Reach.AWAY:
            return False
        return self._parts.presence.may_run(other, machine)

    @asynccontextmanager
    async def session(self, participant: Participant, sign: Sign, pid: int) -> AsyncIterator[None]:
        """While the block lasts, signs of life are given for an outside agent."""
        if participant.kind is not Kind.EXTERNAL:
            yield
            return
        self._sessions.setdefault(participant.id, []).append(sign)
        if not self._beats:
            self._beats = True
            self._spawn(self._beat())
        try:
            yield
        finally:
            self._sessions[participant.id].remove(sign)
            if not self._sessions[participant.id]:
                del self._sessions[participant.id]
                await self._parts.store.transact(depart, depart.Depart(participant.id, pid))

    async def _beat(self) -> None:
        clock = self._parts.clock
        while True:
            await clock.sleep_until(clock.now() + BEAT_SECONDS)
            if not self._sessions:
                continue
            signs = tuple(signs[-1] for signs in self._sessions.values())
            try:
                await self._parts.store.transact(heartbeat, heartbeat.Heartbeat(signs))
            except MootError as trouble:
                log.warning("heartbeat failed", action="heartbeat_failed", error=str(trouble))

    def seen(self, participant_id: ParticipantId, door: str, reach: Reach = Reach.ON_DEMAND) -> None:
        """Note a request without a session, at most every now and then."""
        now = self._parts.clock.now()
        if (
            participant_id not in self._sessions
            and now >= self._seen.get(participant_id, 0.0) + SEEN_EVERY_SECONDS
        ):
            self._seen[participant_id] = now
            self._spawn(self.sign(Sign(participant_id, reach, SEEN_SECONDS, door)))

    async def sign(self, sign: Sign) -> None:
        await self._parts.store.transact(heartbeat, heartbeat.Heartbeat((sign,)))

    async def lower_reach(self) -> None:
        """Lower the reach of participants whose lease has expired."""
        now = self._parts.clock.now()
        lapsed = tuple(
            participant.id
            for participant in await self._parts.store.participants()
            if lower_reach.has_lapsed(participant, now)
        )
        if lapsed:
            await self._parts.store.transact(lower_reach, lower_reach.LowerReach(lapsed))

    # --- waits -------------------------------------------------------------------------------------------

    def on_events(self, events: list[Event]) -> None:
        if not self._waits:
            return
        for event in events:
            turn = event.turn
            if turn is not None and turn.state in CLAIMABLE:
                for woken in self._waits.get(turn.agent, ()):
                    woken.set()

    def dismiss(self) -> None:
        """Pending waits return now, with what there is."""
        self.dismissed = True
        for waits in self._waits.values():
            for woken in waits:
                woken.set()

    @asynccontextmanager
    async def waiting(self, participant_id: ParticipantId, seconds: float) -> AsyncIterator[asyncio.Event]:
        """For the block somebody is `live`; the event is set whenever something may wait for it."""
        woken = asyncio.Event()
        self._waits.setdefault(participant_id, set()).add(woken)
        try:
            until = self._parts.clock.now() + seconds + REACH_SECONDS
            await self._parts.store.transact(wait, wait.WaitUntil(participant_id, until))
            yield woken
        finally:
            self._waits[participant_id].discard(woken)
            if not self._waits[participant_id]:
                del self._waits[participant_id]
                self._spawn(self._parts.store.transact(wait, wait.WaitUntil(participant_id, 0.0)))


def arrival(door: str, whence: JsonObject) -> Arrive:
    """The command for an arrival, from what a client says of itself."""
    try:
        return convert({"door": door, **whence}, Arrive)
    except ValidationError as wrong:
        raise BadValue(f"cannot connect like this: {wrong}") from wrong


def reach_of(word: str) -> Reach:
    """What somebody without an open wait may say of how it can be reached."""
    if word not in (Reach.NEXT_TURN, Reach.ON_DEMAND):
        raise BadValue(f'unknown reach "{word}"', detail="expected next-turn or on-demand")
    return Reach(word)
