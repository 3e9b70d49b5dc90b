"""Whether a turn may begin under the budgets, and what it is charged to when it ends.

If other turns have set aside what a turn needs, it waits for them, visibly. If a budget is used up, its agent asks the
owner once for as much again, and the turn ends.

Above: the host, for agents whose thinking costs something. Below: flow/reserve.py decides.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import structlog

from moot.errors import MootError, Stale
from moot.flow import reserve
from moot.flow.reserve import Reserve, Reserved, WhenUsedUp
from moot.host.agent_turn import Speaking
from moot.host.hosted import Running
from moot.host.turn_end import Transact
from moot.model.chain import SpendingKind
from moot.model.records.decision import DecisionId
from moot.ports import Clock
from moot.rules.budgets import NO_BUDGET, Account, Overrun, account_of

log = structlog.get_logger("moot.host")

LOOK_SECONDS: Final = 1.0
"""How often to check whether a turn of another process has ended."""
MORE, NO_MORE = "as much again", "no"


class TurnReservation:
    """The reservation of one turn. `freed` is set whenever a turn of this host has ended."""

    def __init__(
        self, transact: Transact, run: Running, speaking: Speaking, clock: Clock, freed: asyncio.Event
    ) -> None:
        self._transact = transact
        self._run = run
        self._speaking = speaking
        self._clock = clock
        self._freed = freed

    async def may_begin(self) -> bool:
        """Set aside what the turn will probably cost; waits while other turns hold it."""
        if self._run.hosted.budget is None:
            return True
        with suppress(Stale):  # the turn was ended from outside
            while True:
                self._freed.clear()
                answer = await self._reserve(WhenUsedUp.ANSWER)
                if answer.overrun is None:
                    self._speaking.wait_for("")
                    return True
                if not answer.waits:
                    if await self._raise(answer.overrun, answer.words):
                        continue  # as much again may not be enough
                    if (await self._reserve(WhenUsedUp.STOP)).is_stopped:
                        return False
                    continue  # since it was looked at, another turn has ended or begun
                self._speaking.wait_for(f"{answer.words}, which other turns have set aside")
                await self._speaking.say("")
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._freed.wait()
        return False

    async def _reserve(self, when_used_up: WhenUsedUp, allowed: DecisionId | None = None) -> Reserved:
        hosted, turn = self._run.hosted, self._run.turn
        above = hosted.budgets_above()
        account = account_of(turn, self._clock.now(), above)
        command = Reserve(
            turn.id, turn.fence, account, hosted.budget or NO_BUDGET, above, when_used_up, allowed
        )
        answer: Reserved = await self._transact(reserve, command)
        return answer

    async def _raise(self, overrun: Overrun, whose: str) -> bool:
        """A budget is used up: use what the owner has allowed in addition, else ask for it. Whether it was
        allowed."""
        decisions: Any = self._speaking.hub.decisions
        question = self._question(overrun, whose)
        try:
            allowed = await decisions.unused(question, MORE)
            if allowed is not None:
                await self._reserve(WhenUsedUp.RAISE, allowed)
                return True
            if not await decisions.was_asked(question):
                await decisions.propose(question, choices=(MORE, NO_MORE))
        except Stale:
            raise
        except MootError as refusal:  # nobody can be asked: that changes nothing for the turn
            log.info("the owner was not asked", action="budget_not_asked", error=refusal.title)
        return False

    def _question(self, overrun: Overrun, whose: str) -> str:
        """The same text for the same budget and amount, so that it is asked once."""
        name, today = self._speaking.agent, datetime.fromtimestamp(self._clock.now(), UTC).strftime("%d %B")
        match overrun.kind:
            case SpendingKind.DAY:
                return (
                    f"The budget of all agents for {today} is used up: {overrun.limit}. May they spend more?"
                )
            case SpendingKind.CONVERSATION:
                place = self._speaking.conversation.name
                return f"The budget of {place} is used up: {overrun.limit}. May agents spend as much again there?"
            case SpendingKind.ROOT:
                root = self._run.turn.root
                return (
                    f"{name} has used up the budget of everything that {root} led to: {overrun.limit}. "
                    "May agents spend as much again on it?"
                )
            case _:
                return f"{name} has used up {whose}, {today}: {overrun.limit}. May it spend as much again?"


def charged_to(run: Running, now: float) -> Account | None:
    """None where nothing was spent."""
    return None if run.spent is None else account_of(run.turn, now, run.hosted.budgets_above())
