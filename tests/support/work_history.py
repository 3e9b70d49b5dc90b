"""Random histories of an organisation: links come, go and are turned off, work is handed down, questions wait, workers
die, deadlines pass. A history is a list of `(act, which, how)`, as in history.py, which plays groups.

The player judges nothing; `complaints` does, after every act, from what is stored and a second opinion on links.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from moot.errors import MootError
from moot.flow import finish
from moot.model.conversation import GroupSettings
from moot.model.ids import ParticipantId
from moot.model.limits import Limits
from moot.model.participant import Kind
from moot.model.records.link import Link
from moot.model.records.task import Task, TaskState
from moot.model.turn import OPEN, RuleName, Turn, TurnState
from tests.support.history import ALL, at_once
from tests.support.link_policy import PlainLink, allowed
from tests.support.linked_world import LinkedWorld

T = TypeVar("T")
NAMES = ("ada", "bo", "cy", "dee")
LIMITS = Limits(pair_backoff_seconds=0.0, pair_per_minute=1000, agent_turns_per_hour=10_000)
CLAIMABLE = (TurnState.READY, TurnState.OWED)
MAX_SECONDS = 100_000.0


class WorkPlayer:
    def __init__(self, policy: str, backend: str, folder: Path) -> None:
        self.policy = policy
        self.world = LinkedWorld(backend, folder, GroupSettings(), LIMITS)
        self.world.under(policy)
        self._loop = None if backend in ("rules", "memory") else asyncio.new_event_loop()
        self.run: Callable[[Coroutine[Any, Any, Any]], Any] = (
            at_once if self._loop is None else self._loop.run_until_complete
        )
        self.log: list[str] = []
        self.unpermitted: list[str] = []
        self._words = 0

    def begin(self) -> None:
        self.run(self.world.open())
        self.run(self.world.enrol(list(NAMES), [], []))
        self.run(self.world.make("desk", [NAMES[0]], "direct", {}))
        for above, below in pairwise(NAMES[:3]):
            self.run(self.world.link(above, "superior", below))

    def close(self) -> None:
        self.run(self.world.close())
        if self._loop is not None:
            self._loop.close()

    def act(self, name: str, which: int, how: int) -> None:
        self.log.append(f"{self.world.now:.0f} {name} ({which}, {how})")
        try:
            getattr(self, f"_{name}")(which, how)
        except MootError as refusal:
            self.log[-1] += f" refused: {refusal.title}"

    # --- choosing ------------------------------------------------------------------------------------------

    def _two(self, which: int) -> tuple[str, str]:
        first = which % len(NAMES)
        return NAMES[first], NAMES[(first + 1 + which // len(NAMES) % (len(NAMES) - 1)) % len(NAMES)]

    def _text(self) -> str:
        self._words += 1
        return f"sentence number {self._words}, with words enough to be no mere nod"

    def links(self) -> list[Link]:
        found: list[Link] = self.run(self.world.links())
        return found

    def tasks(self) -> list[Task]:
        found: list[Task] = self.run(self.world.tasks())
        return found

    def turns(self) -> list[Turn]:
        found: list[Turn] = self.run(self.world.store.turns(limit=ALL))
        return found

    def _a_link(self, which: int) -> Link | None:
        links = self.links()
        return links[which % len(links)] if links else None

    def _a_task(self, which: int) -> Task | None:
        tasks = [task for task in self.tasks() if task.is_open] or self.tasks()
        return tasks[which % len(tasks)] if tasks else None

    def _running(self, which: int) -> Turn | None:
        """A turn that runs, else one that is claimed for the purpose."""
        turns = [turn for turn in self.turns() if turn.state in (TurnState.RUNNING, *CLAIMABLE)]
        if not turns:
            return None
        turn = turns[which % len(turns)]
        return turn if turn.state is TurnState.RUNNING else self._claimed(turn)

    def _claimed(self, turn: Turn) -> Turn | None:
        taken: Turn | None = self.run(self.world.claim_as(turn, self.world.host_of(turn.agent))).turn
        if taken is not None and not self._may_begin(taken):
            self.unpermitted.append(f"turn {taken.id} of {taken.agent} began although no link carries it")
        return taken

    def _may_begin(self, turn: Turn) -> bool:
        if turn.conversation not in self._pairs():
            return True
        if any(call.human or call.reason is RuleName.TASK for call in turn.calls):
            return True
        members = self.run(self.world.store.members(turn.conversation))
        others = [member.participant for member in members if member.participant not in (turn.agent, "user")]
        return all(self.allows(other, turn.agent, answers=True) for other in others)

    def _pairs(self) -> set[str]:
        """Conversations of two agents."""
        return {id for name, id in self.world.where.items() if "task" not in name and name != "desk"}

    def allows(self, sender: str, receiver: str, *, answers: bool = False) -> bool:
        plain = [
            PlainLink(link.source, link.target, link.direction == "one_way", link.enabled, by_spawn=False)
            for link in self.links()
        ]
        return allowed(plain, self.policy, sender, receiver, answers=answers)

    # --- the acts --------------------------------------------------------------------------------------------

    def _nothing(self, which: int, how: int) -> None:
        """The first card of the deck, so that a failing history shrinks to its essence."""

    def _link(self, which: int, how: int) -> None:
        relationship = ("superior", "superior", "peer", "subordinate")[how % 4]
        one, other = self._two(which)
        direction = "one_way" if how % 5 == 0 else "two_way"
        self.run(self.world.link(one, relationship, other, direction=direction))

    def _switch(self, which: int, how: int) -> None:
        link = self._a_link(which)
        if link is not None:
            self.run(self.world.relink(*link.ends, enabled=not link.enabled))

    def _unlink(self, which: int, how: int) -> None:
        link = self._a_link(which)
        if link is not None:
            self.run(self.world.unlink(*link.ends))

    def _post(self, which: int, how: int) -> None:
        self.run(self.world.post("desk", "user", self._text()))

    def _send(self, which: int, how: int) -> None:
        one, other = self._two(which)
        intent = ("", "", "inform", "report", "escalate", "approve", "delegate")[how % 7]
        may = self.allows(one, other)
        self.run(self.world.send(one, other, self._text(), intent=intent))
        if not may:
            self.unpermitted.append(f"{one} wrote to {other}")

    def _ask(self, which: int, how: int) -> None:
        one, other = self._two(which)
        shape = {"shape": '{"type":"integer"}'} if how % 3 == 0 else {}
        self.run(self.world.ask(one, other, self._text(), seconds=(5.0, 50.0, 500.0)[how % 3], **shape))

    def _delegate(self, which: int, how: int) -> None:
        below = [(link.superior, link.other(link.superior)) for link in self.links() if link.superior]
        one, other = below[which % len(below)] if below and how % 5 else self._two(which)
        seconds = (0.0, 20.0, 200.0)[how % 3]
        mine = [t for t in self.turns() if t.agent == one and t.state is TurnState.RUNNING]
        turn = mine[0] if mine and how % 2 else None
        if how % 11 == 0:
            one, turn = "user", None
        self.run(self.world.delegate(one, other, self._text(), seconds=seconds, turn=turn))

    def _update(self, which: int, how: int) -> None:
        task = self._a_task(which)
        if task is not None:
            state = ("working", "working", "done", "failed", "cancelled")[how % 5]
            author = task.to if state != "cancelled" else (task.by, "user", task.to)[how // 5 % 3]
            self.run(self.world.update(author, task, state, self._text()))

    def _claim(self, which: int, how: int) -> None:
        turns = [turn for turn in self.turns() if turn.state in CLAIMABLE]
        if turns:
            self._claimed(turns[which % len(turns)])

    def _finish(self, which: int, outcome: finish.Outcome) -> None:
        turn = self._running(which)
        if turn is not None:
            self.run(self.world.do(finish, finish.Finish(turn=turn.id, fence=turn.fence, outcome=outcome)))

    def _say(self, which: int, how: int) -> None:
        self._finish(which, finish.Said(text=self._text() if how % 4 else "7"))

    def _pass(self, which: int, how: int) -> None:
        self._finish(which, finish.Said(text="[PASS]"))

    def _fail(self, which: int, how: int) -> None:
        self._finish(which, finish.Failed(error="boom"))

    def _crash(self, which: int, how: int) -> None:
        self.run(self.world.crash(NAMES[which % len(NAMES)]))

    def _pause(self, which: int, how: int) -> None:
        self.run(self.world.pause(NAMES[which % len(NAMES)], how % 2 == 0))

    def _wait(self, which: int, how: int) -> None:
        self.run(self.world.wait((1.0, 6.0, 31.0, 61.0, 601.0)[how % 5]))

    def _reload(self, which: int, how: int) -> None:
        if self.world.backend != "rules":
            self.run(self.world.restart())

    # --- letting it come to rest -------------------------------------------------------------------------------

    def settle(self) -> None:
        """Everybody is awake and says something in every turn; then all deadlines pass."""
        for name in NAMES:
            self.run(self.world.pause(name, False))
        for _ in range(200):
            turn = self._running(0)
            if turn is None and not any(t.state in (*CLAIMABLE, TurnState.RUNNING) for t in self.turns()):
                break
            if turn is not None:
                done = finish.Finish(turn=turn.id, fence=turn.fence, outcome=finish.Said(text="[PASS]"))
                self.run(self.world.do(finish, done))
        self.run(self.world.wait(MAX_SECONDS))


# --- what has to hold ------------------------------------------------------------------------------------------


def complaints(player: WorkPlayer) -> Iterator[str]:
    yield from player.unpermitted
    turns = player.turns()
    for task in player.tasks():
        yield from (_of_an_open_task if task.is_open else _of_an_ended_task)(player, task, turns)
    yield from _rings(player)


def _of_an_open_task(player: WorkPlayer, task: Task, turns: list[Turn]) -> Iterator[str]:
    """It has somebody who is at it, or said so, and a moment at which it expires."""
    if not task.deadline:
        yield f"task {task.id} would never expire"
    at_it = [turn for turn in turns if turn.conversation == task.conversation and turn.state in OPEN]
    if not at_it and not task.kept_by:
        yield f"task {task.id} is {task.state}, and nobody is at it"
    if player.run(player.world.told_of(task)):
        yield f"task {task.id} is {task.state}, and its end was told"


def _of_an_ended_task(player: WorkPlayer, task: Task, turns: list[Turn]) -> Iterator[str]:
    """Told once in each place, with the state it has; and no turn is left of it."""
    told = player.run(player.world.told_of(task))
    if not told:
        yield f"task {task.id} ended as {task.state}, and nobody was told"
    places = Counter(where for where, _ in told)
    if any(count > 1 for count in places.values()):
        yield f"the end of task {task.id} was told twice: {told}"
    if {state for _, state in told} - {task.state.value}:
        yield f"task {task.id} is {task.state}, and was told as {told}"
    open_ones = [t for t in turns if t.conversation == task.conversation and t.state in OPEN]
    if [turn for turn in open_ones if turn.state is not TurnState.RUNNING and turn.agent == task.to]:
        yield f"task {task.id} has ended, and {task.to} still has a turn for it"
    yield from _woken_once(player, task, turns)


def _woken_once(player: WorkPlayer, task: Task, turns: list[Turn]) -> Iterator[str]:
    """An agent that delegated was called by one message about the end, wherever that was."""
    by = player.run(player.world.store.participants())
    if next(who for who in by if who.id == task.by).kind is Kind.HUMAN:
        return
    calls: set[tuple[str, int]] = set()
    for name, where in player.world.where.items():
        ends = [
            message.seq
            for message in player.run(player.world.messages(name))
            if message.metadata.get("task") == task.id and "state" in message.metadata
        ]
        calls.update(
            (where, call.seq)
            for turn in turns
            if turn.conversation == where and turn.agent == task.by
            for call in turn.calls
            if call.seq in ends and call.reason is RuleName.TASK
        )
    if len(calls) > 1:
        yield f"{task.by} was woken more than once by the end of task {task.id}: {sorted(calls)}"


def _rings(player: WorkPlayer) -> Iterator[str]:
    waits = [wait for wait in player.run(player.world.waits()) if wait.until > player.world.now]
    waits_for: dict[ParticipantId, set[ParticipantId]] = {}
    for wait in waits:
        waits_for.setdefault(wait.asker, set()).add(wait.target)
    for start, targets in waits_for.items():
        seen: set[ParticipantId] = set()
        ahead = list(targets)
        while ahead:
            here = ahead.pop()
            if here == start:
                yield f"{start} waits for itself"
                return
            if here not in seen:
                seen.add(here)
                ahead += waits_for.get(here, ())


def at_rest(player: WorkPlayer) -> Iterator[str]:
    """When everybody is back and all deadlines have passed, no task is open."""
    for task in player.tasks():
        if task.state in (TaskState.OPEN, TaskState.WORKING):
            yield f"task {task.id} is {task.state} for good"


DECK: tuple[str, ...] = tuple(
    name
    for name, cards in {
        "nothing": 1, "link": 10, "switch": 4, "unlink": 3, "post": 3, "send": 8, "ask": 8, "delegate": 14, "update": 8,
        "claim": 12, "say": 12, "pass": 4, "fail": 3, "crash": 4, "pause": 2, "wait": 6, "reload": 3,
    }.items()
    for _ in range(cards)
)  # fmt: skip
