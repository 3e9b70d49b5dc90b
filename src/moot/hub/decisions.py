"""`hub.decisions`: what waits for a person to decide, and the answer."""

from moot import shapes
from moot.errors import BadValue
from moot.flow import answer_decision
from moot.hub.core import Core
from moot.hub.speaker import Speaker
from moot.model.records.decision import DECISIONS, DecisionState, PersonsDecision
from moot.sdk.decisions import DecisionCalls


class Decisions(DecisionCalls):
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    @property
    def _core(self) -> Core:
        return self._speaker.core

    async def list(self, *, state: str | None = None) -> list[shapes.PersonsDecision]:
        if state is not None and state not in {each.value for each in DecisionState}:
            known = ", ".join(each.value for each in DecisionState)
            raise BadValue(f'unknown state of a decision "{state}"', detail=f"expected one of {known}")
        found = sorted((await self._mine()).values(), key=lambda one: (one.created_at, one.id))
        shaped = [self._shape(one) for one in found]
        return [one for one in shaped if state is None or one.state == state]

    async def get(self, id: str) -> shapes.PersonsDecision:
        return self._shape(await self._found(id))

    async def answer(self, id: str, answer: str) -> shapes.PersonsDecision:
        asked = await self._found(id)
        question = await self._core.parts.store.message(asked.conversation, asked.seq)
        command = answer_decision.AnswerDecision(
            self._speaker.me,
            asked.id,
            self._speaker.checked(answer),
            asked.conversation,
            question.turn if question is not None else None,
        )
        return self._shape(await self._core.do(answer_decision, command))

    async def _mine(self) -> dict[str, PersonsDecision]:
        store, me = self._core.parts.store, self._speaker.me
        found = [*await store.records(DECISIONS.where(to=me)), *await store.records(DECISIONS.where(by=me))]
        return {one.id: one for one in found}

    async def _found(self, ref: str) -> PersonsDecision:
        mine = await self._mine()
        found = [one for id, one in mine.items() if id == ref] or [
            one for id, one in mine.items() if ref and id.startswith(ref)
        ]
        if len(found) != 1:
            raise answer_decision.unknown(ref)
        return found[0]

    def _shape(self, decision: PersonsDecision) -> shapes.PersonsDecision:
        return shapes.PersonsDecision.of(decision, self._core.directory.name, self._core.parts.clock.now())
