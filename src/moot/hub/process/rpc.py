"""What may be called over the hub's socket: whatever sdk/ declares, answered in lines of JSON.

    {"call": 1, "do": "post", "as": null, "args": ["build", "hello"], "with": {}}   →   {"answer": 1, "value": {…}}
    {"call": 2, "do": "why", …}                                                    →   {"answer": 2, "error": {…}}
    {"follow": 3, "with": {"conversation": "build", "after": 41}}                  →   {"event": 3, "value": {…}} …
    {"unfollow": 3}
    {"open": 4, "what": "mcp", "with": {"client": "claude", …}}                    →   {"answer": 4, "value": {…}}
    {"to": 4, "said": {…}}                                                         ↔   {"from": 4, "said": {…}} …
    {"shut": 4}                                                                    ←   {"shut": 4} where the door failed

Whoever reaches the socket is the owner: the kernel has said so (host/pings.py). Above: hub/core.py hears the lines.
Below: Hub. Not here: hosting agents, which needs a process of one's own.
"""

import asyncio
from collections.abc import Callable, Sized
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias

import structlog

from moot.errors import BadValue, HubAbsent, MootError
from moot.host.pings import JsonLine, Peer
from moot.model.entrance import DoorName
from moot.model.hint import Act, Hint
from moot.model.json import Json, JsonObject
from moot.sdk import CALLS

log = structlog.get_logger("moot.calls")

ENCODED = frozenset({"newest"})
"""Methods whose answers are written down before; see queries/encoded.py."""

MAX_AT_ONCE = 1000
"""Calls and streams of one peer that are under way."""


class Visit(Protocol):
    """One peer at a door: gets its messages for as long as it stays connected."""

    facts: JsonObject
    """Sent to the peer when the door is open."""

    def on_message(self, message: Json) -> None: ...

    async def until_ended(self) -> None:
        """Returns when nobody answers at this door any more, although the peer is still there."""
        ...


Opener: TypeAlias = Callable[[JsonObject, Callable[[Json], None]], AbstractAsyncContextManager[Visit]]
"""Opens a door for a peer: given what it says of itself, and how to speak to it."""


class Calls:
    """Answers the calls of all peers, as the owner or as whom the owner speaks for."""

    def __init__(self, hub: Any) -> None:
        self._hub = hub
        self._under_way: dict[Peer, dict[Json, asyncio.Task[None]]] = {}
        self._doors: dict[Peer, DoorName | None] = {}
        self._visits: dict[tuple[Peer, int], Visit] = {}
        self._closing = False

    def on_line(self, line: JsonLine, peer: Peer) -> None:
        if "call" in line:
            self._begin(peer, line["call"], self._answer(line, peer))
        elif "follow" in line:
            self._begin(peer, line["follow"], self._follow(line, peer))
        elif "to" in line:
            if (visit := self._visits.get((peer, line["to"]))) is not None:
                visit.on_message(line.get("said"))
        elif "open" in line:
            self._begin(peer, line["open"], self._open(line, peer))
        elif "unfollow" in line or "shut" in line:
            self._stop(peer, line.get("unfollow", line.get("shut")))
        elif "hello" in line:
            self._doors[peer] = _door(line.get("door"))
            peer.send({"hello": {"name": self._hub.name, "position": self._hub.position}})

    def gone(self, peer: Peer) -> None:
        self._doors.pop(peer, None)
        for task in self._under_way.pop(peer, {}).values():
            task.cancel()

    async def close(self) -> None:
        """Cancel calls that are running, and refuse new ones."""
        self._closing = True
        tasks = [task for by_number in self._under_way.values() for task in by_number.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, peer: Peer, number: Any, work: Any) -> None:
        mine = self._under_way.setdefault(peer, {})
        refusal = self._refusal(number, mine)
        if refusal is not None:
            work.close()
            peer.send({"answer": number, "error": _error_fields(refusal)})
            return
        task = asyncio.get_running_loop().create_task(work)
        mine[number] = task
        task.add_done_callback(lambda _: mine.pop(number, None))

    def _refusal(self, number: Json, under_way: Sized) -> MootError | None:
        if self._closing:
            return HubAbsent("the hub is stopping", fix=("try again",), retry_after_ms=1000)
        if len(under_way) >= MAX_AT_ONCE or not isinstance(number, int):
            return BadValue("too many calls at once")
        return None

    def _stop(self, peer: Peer, number: Json) -> None:
        task = self._under_way.get(peer, {}).get(number)
        if task is not None:
            task.cancel()

    async def _answer(self, line: JsonLine, peer: Peer) -> None:
        number = line["call"]
        try:
            method = await self._method(line, peer)
            value = await method(*line.get("args", ()), **line.get("with", {}))
        except MootError as refusal:
            peer.send({"answer": number, "error": _error_fields(refusal)})
        except (TypeError, ValueError) as wrong:
            peer.send({"answer": number, "error": _error_fields(BadValue(f"{line.get('do')}: {wrong}"))})
        except Exception as error:  # the border of the process: a caller gets an answer whatever happened
            log.error("a call failed", action="call_failed", method=line.get("do"), error=repr(error))
            peer.send(
                {"answer": number, "error": _error_fields(MootError(f"{line.get('do')} failed: {error}"))}
            )
        else:
            peer.send({"answer": number, "value": value})

    async def _method(self, line: JsonLine, peer: Peer) -> Json:
        name = line.get("do")
        if name not in CALLS:
            raise BadValue(f'unknown method "{name}"', detail=f"methods are {', '.join(sorted(CALLS))}")
        target: Any = await self._voice(line, peer)
        if name in ENCODED:
            target = target.encoded
        for part in name.split("."):
            target = getattr(target, part)
        return target

    async def _voice(self, line: JsonLine, peer: Peer) -> Any:
        """As whom, by which door, and in which turn."""
        speaker, turn, door = line.get("as"), line.get("in"), self._doors.get(peer)
        hub = self._hub if door is None else self._hub.through(door)
        hub = hub.acting_as(speaker) if speaker else hub
        return await hub.within(turn) if turn else hub

    async def _follow(self, line: JsonLine, peer: Peer) -> None:
        number = line["follow"]
        try:
            async for event in (await self._voice(line, peer)).encoded.events(**line.get("with", {})):
                peer.send({"event": number, "value": event})
        except MootError as refusal:
            peer.send({"answer": number, "error": _error_fields(refusal)})
        except (
            TypeError,
            ValueError,
            OverflowError,
        ) as wrong:  # of what was asked: events have been read before
            peer.send({"answer": number, "error": _error_fields(BadValue(f"events: {wrong}"))})

    async def _open(self, line: JsonLine, peer: Peer) -> None:
        """Open a door of this process for one peer, until the peer leaves or closes it."""
        number = line["open"]

        def say(message: Json) -> None:
            peer.send({"from": number, "said": message})

        try:
            opener: Opener | None = self._hub.openers.get(str(line.get("what")))
            if opener is None:
                raise HubAbsent(f'the hub has no door "{line.get("what")}" open', fix=(Hint(Act.START_HUB),))
            async with opener(line.get("with", {}), say) as visit:
                self._visits[peer, number] = visit
                peer.send({"answer": number, "value": visit.facts})
                await visit.until_ended()
            peer.send({"shut": number})
        except MootError as refusal:
            peer.send({"answer": number, "error": _error_fields(refusal)})
        finally:
            self._visits.pop((peer, number), None)


def _door(word: Json) -> DoorName | None:
    """The door that a program on this machine names; only the command line and its chat are accepted."""
    return DoorName(word) if word in (DoorName.CLI, DoorName.TUI) else None


def _error_fields(error: MootError) -> JsonObject:
    return {**error.to_dict(), "name": error.name}
