"""`hub.decisions`: what waits for a person to decide, and the answer."""

from collections.abc import Sequence

from moot import shapes
from moot.errors import BadValue
from moot.flow import answer_decision, post, use_decision
from moot.hub.commands.ask_person import checked_choices
from moot.hub.commands.send import sent
from moot.hub.core import Core
from moot.hub.speaker import Speaker
from moot.model.query import newest_before
from moot.model.records.decision import DECISIONS, DecisionId, DecisionState, PersonsDecision
from moot.sdk.call import in_process
from moot.sdk.decisions import DecisionCalls

MIN_ID_PREFIX = 4
"""Characters of an id that are enough to look it up."""


class Decisions(DecisionCalls):
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    @property
    def _core(self) -> Core:
        return self._speaker.core

    async def list(
        self, *, state: str | None = None, before: str | None = None, limit: int = 100
    ) -> list[shapes.PersonsDecision]:
        if state is not None and state not in {each.value for each in DecisionState}:
            states = ", ".join(each.value for each in DecisionState)
            raise BadValue(f'unknown state of a decision "{state}"', detail=f"expected one of {states}")
        mine = sorted((await self._mine()).values(), key=lambda decision: (decision.created_at, decision.id))
        now = self._core.parts.clock.now()
        matching = [decision for decision in mine if state is None or decision.state_at(now).value == state]
        older = await self._find(before) if before is not None else None
        return [self._shape(decision) for decision in newest_before(matching, older, limit)]

    async def get(self, id: str) -> shapes.PersonsDecision:
        return self._shape(await self._find(id))

    async def answer(self, id: str, answer: str) -> shapes.PersonsDecision:
        decision = await self._find(id)
        question = await self._core.parts.store.message(decision.conversation, decision.seq)
        command = answer_decision.AnswerDecision(
            self._speaker.me,
            decision.id,
            self._speaker.checked(answer),
            decision.conversation,
            question.turn if question is not None else None,
        )
        return self._shape(await self._core.do(answer_decision, command))

    @in_process("how a hosted program asks for what it may not do, without waiting")
    async def propose(self, question: str, *, choices: Sequence[str]) -> None:
        """Put a question to the owner without waiting: the answer calls the asker, whenever it comes."""
        core = self._core
        person = await core.directory.participant(core.parts.settings.hub.user)
        message = self._speaker.posting("", question, intent=post.ASK, key=core.fresh_key())
        await sent(core, person.id, message, checked_choices(choices), stays_open=True)

    @in_process("how a hosted program does what a person allowed it once")
    async def use(self, question: str, answer: str) -> bool:
        """Whether the question has this answer and it was not used yet; it counts as used then."""
        for one in await self._unused(question, answer):
            if await self._core.do(use_decision, use_decision.UseDecision(self._speaker.me, one.id)):
                return True
        return False

    @in_process("how a hosted program finds what a person allowed it once, to use it in the same decision")
    async def unused(self, question: str, answer: str) -> DecisionId | None:
        """The decision by which this question was answered so, if that was not used yet."""
        return next((one.id for one in await self._unused(question, answer)), None)

    @in_process("how a hosted program asks for the same thing once")
    async def is_open(self, question: str) -> bool:
        now = self._core.parts.clock.now()
        return any(
            one.question == question and one.state_at(now) is DecisionState.OPEN for one in await self._own()
        )

    @in_process("how agents that share a budget ask for more of it once")
    async def was_asked(self, question: str) -> bool:
        """Whether anybody has put this question to the owner, whatever the answer was."""
        owner = await self._core.directory.participant(self._core.parts.settings.hub.user)
        decisions = await self._core.parts.store.records(DECISIONS.where(to=owner.id))
        return any(one.question == question for one in decisions)

    async def _unused(self, question: str, answer: str) -> Sequence[PersonsDecision]:
        return [
            one
            for one in await self._own()
            if (one.question, one.answer) == (question, answer) and one.state is DecisionState.ANSWERED
        ]

    async def _own(self) -> Sequence[PersonsDecision]:
        """The decisions this participant asked the owner for."""
        owner = await self._core.directory.participant(self._core.parts.settings.hub.user)
        decisions = await self._core.parts.store.records(DECISIONS.where(by=self._speaker.me))
        return [decision for decision in decisions if decision.to == owner.id]

    async def _mine(self) -> dict[str, PersonsDecision]:
        store, me = self._core.parts.store, self._speaker.me
        decisions = [
            *await store.records(DECISIONS.where(to=me)),
            *await store.records(DECISIONS.where(by=me)),
        ]
        return {decision.id: decision for decision in decisions}

    async def _find(self, ref: str) -> PersonsDecision:
        """Find a decision by its id or a unique beginning of it."""
        mine = await self._mine()
        matching = [mine[ref]] if ref in mine else []
        if not matching and len(ref) >= MIN_ID_PREFIX:
            matching = [decision for id, decision in mine.items() if id.startswith(ref)]
        if len(matching) > 1:
            raise BadValue(
                f'several decisions begin with "{ref}"',
                detail=", ".join(sorted(decision.id for decision in matching)),
            )
        if not matching:
            raise answer_decision.unknown(ref)
        return matching[0]

    def _shape(self, decision: PersonsDecision) -> shapes.PersonsDecision:
        return shapes.PersonsDecision.of(decision, self._core.directory.name, self._core.parts.clock.now())
