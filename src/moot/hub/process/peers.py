"""The other processes on this home: we ping them about events that concern them, and listen to their pings.

The store lists them (`hosts`), so there is nothing to configure. Below: host/pings.py carries the lines; what a lost
ping announced is found by the sweep.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from moot.errors import Trouble
from moot.host.host import AgentHost
from moot.host.pings import JsonLine, Peer, Pinger, PingSocket
from moot.hub.process.rpc import Calls
from moot.model import participant
from moot.model.event import Commit, Event
from moot.model.ids import ConversationId, ParticipantId
from moot.ports import Clock, People, Presence

Authors = dict[tuple[ConversationId | None, int], ParticipantId | None]
MAX_PENDING = 10_000
"""Events waiting to be announced; beyond that the sweeps of the other processes find them."""


class Peers:
    def __init__(
        self,
        path: Path,
        people: People,
        clock: Clock,
        *,
        hinted: Callable[[], None],
        lost: Callable[[], None],
        presence: Presence,
    ) -> None:
        self._people = people
        self._clock = clock
        self._hinted = hinted
        self._presence = presence
        self._live: Callable[[object], None] | None = None
        self._socket = PingSocket(path, self._on_line)
        self._pinger = Pinger(lost)
        self._host: AgentHost | None = None
        self._pending: list[Event] = []
        self._hosts: list[participant.Host] | None = None
        """As they were read last, while it is known that none has come or gone since."""
        self._pinging: asyncio.Task[None] | None = None
        self._watching: list[str] = []
        """Sockets of those who watch, as last seen."""
        self.are_watched_elsewhere = False
        """Somebody watches on another machine, as last seen."""
        self._calls: Calls | None = None
        self._early: list[tuple[JsonLine, Peer]] = []
        """Calls that came while the hub was still opening."""

    @property
    def address(self) -> str:
        return str(self._socket.path)

    def belong_to(self, host: AgentHost) -> None:
        self._host = host

    def hear_live_with(self, arrived: Callable[[object], None]) -> None:
        """Set who gets what other processes send over the live lane."""
        self._live = arrived

    def answer_with(self, calls: Calls) -> None:
        """From now on whoever connects may call, not only ping."""
        self._calls = calls
        self._socket.on_gone = calls.gone
        early, self._early = self._early, []
        for line, peer in early:
            if peer.transport is not None:
                calls.on_line(line, peer)

    async def listen(self) -> None:
        if not self._socket.is_open:
            await self._socket.open()

    async def close(self) -> None:
        if self._pinging is not None:
            await asyncio.gather(self._pinging, return_exceptions=True)
        if self._calls is not None:
            await self._calls.close()
        await self._pinger.close()
        await self._socket.close()

    # --- telling -----------------------------------------------------------------------------------------

    def committed(self, commit: Commit) -> None:
        """This process stored something: whoever it concerns is pinged as soon as the loop comes to it."""
        if commit.hosts_may_differ:
            self._hosts = None
        if len(self._pending) < MAX_PENDING:
            self._pending += commit.events
        if self._pinging is None or self._pinging.done():
            self._pinging = asyncio.get_running_loop().create_task(self._ping_hosts())

    async def _ping_hosts(self) -> None:
        while self._pending:
            events, self._pending = self._pending, []
            try:
                others = await self._others()
            except Trouble:  # the store is out of reach: hints are lost, and the sweep makes up for them
                continue
            self._watching = [host.socket for host in others if host.watches]
            authors = {(e.conversation, e.seq): e.by for e in events if e.seq}
            for host in others:
                concerned = events if host.watches else [e for e in events if _concerns(e, host)]
                for line in notices(concerned, authors):
                    self._pinger.send(host.socket, line)

    async def _others(self) -> list[participant.Host]:
        me, now = self._host.id if self._host is not None else None, self._clock.now()
        if self._hosts is None:
            self._hosts = await self._people.hosts()
        there = [host for host in self._hosts if host.id != me and host.lease_until > now]
        self.are_watched_elsewhere = any(
            host.watches and not self._presence.is_local(host.machine) for host in there
        )
        return [host for host in there if host.socket and self._presence.is_local(host.machine)]

    @property
    def are_watched(self) -> bool:
        return bool(self._watching)

    def send_to_watching(self, line: JsonLine) -> None:
        """Send to the processes that watched at the last commit; one whose buffer is full does not get it."""
        for address in self._watching:
            self._pinger.send(address, line)

    # --- hearing -----------------------------------------------------------------------------------------

    def _on_line(self, line: JsonLine, peer: Peer) -> None:
        if "notify" in line:
            self._hinted()
        elif "live" in line:
            if self._live is not None:
                self._live(line["live"])
        elif "ping" in line:
            agents = self._host.agents if self._host is not None else ()
            ready = self._calls is not None
            peer.send({"pong": line["ping"], "pid": os.getpid(), "agents": list(agents), "ready": ready})
        elif self._calls is not None:
            self._calls.on_line(line, peer)
        elif len(self._early) < MAX_PENDING:
            self._early.append((line, peer))


def _concerns(event: Event, host: participant.Host) -> bool:
    return event.turn is not None and event.turn.agent in host.agents


def notices(events: list[Event], authors: Authors) -> list[JsonLine]:
    """One line for each conversation, about the newest thing in it, and who said the message it is about."""
    newest: dict[ConversationId | None, JsonLine] = {}
    for event in events:
        seq = event.seq or (event.turn.cause if event.turn is not None else 0)
        by = authors.get((event.conversation, seq), event.by)
        newest[event.conversation] = {"conv_id": event.conversation, "from": by, "seq": seq}
    return [{"notify": notice} for notice in newest.values()]
