"""A brain that thinks with a model: it asks, runs the tools the model asks for, and goes on from the store.

Above: wiring makes it, the host runs it. Below: retry.py asks the model; the turn (`HostedTurn`) has the prompt,
streams, and writes every tool call down before and after. Not here: prompts (context/), tools (tools/).
"""

from collections.abc import Callable, Mapping
from typing import Final

from moot.brain import HostedTurn, Tool
from moot.brains.llm.retry import Patience
from moot.brains.llm.trouble import ModelTrouble
from moot.errors import MootError
from moot.model.prompt import Answered, ToolCall
from moot.ports import Model

MAX_ANSWERS: Final = 12
"""Answers of a model in one turn: after so many it is going round in circles."""

TextCalls = Callable[[str], tuple[ToolCall, ...]]
"""Finds calls in a text, for models that know no other way."""


class NoAnswer(Exception):
    """The turn fails; `notice` is what the conversation is told of it."""

    def __init__(self, notice: str) -> None:
        super().__init__(notice)
        self.notice = notice


class ModelBrain:
    def __init__(
        self,
        model: Callable[[], Model],
        patience: Patience,
        tools: Mapping[str, Tool],
        text_calls: TextCalls | None = None,
    ) -> None:
        self._make = model
        self._model: Model | None = None
        self._patience = patience
        self._tools = tools
        self._text_calls = text_calls

    async def think(self, turn: HostedTurn) -> str | None:
        await self._take_up(turn)
        first = turn.steps[-1].answer + 1 if turn.steps else 0
        for number in range(first, MAX_ANSWERS):
            answered = await self._ask(turn)
            calls = answered.calls or self._in_text(answered)
            if not calls:
                return self._reply(turn, answered.text)
            for n, call in enumerate(calls):
                said = answered.text if n == 0 else ""
                await turn.use(self._tools.get(call.name), call, answer=number, said=said)
        raise NoAnswer(f"kept calling tools and was stopped after {MAX_ANSWERS} answers")

    async def close(self) -> None:
        if self._model is not None:
            await self._model.close()

    async def _take_up(self, turn: HostedTurn) -> None:
        """After a crash: a tool that may have run is run again only where that does no harm."""
        for step in turn.steps:
            if step.seq:
                continue
            if not step.idempotent:
                raise NoAnswer(
                    f"needs a review: {step.tool} was called before a crash and may have run, so "
                    "it is not run again"
                )
            await turn.run_step(self._tools.get(step.tool), step)

    async def _ask(self, turn: HostedTurn) -> Answered:
        prompt = await turn.prompt()
        turn.begin_answer()
        try:
            self._model = self._model or self._make()
            until = self._patience.now() + turn.seconds_left
            answered = await self._patience.complete(self._model, prompt, turn.say, deadline=until)
        except ModelTrouble as trouble:
            turn.spend(trouble.usage)
            raise NoAnswer(f"could not answer: {trouble.sentence}") from None
        except MootError as refusal:
            raise NoAnswer(f"could not answer: {refusal.title}") from None
        turn.spend(answered.usage)
        return answered

    def _in_text(self, answered: Answered) -> tuple[ToolCall, ...]:
        return self._text_calls(answered.text) if self._text_calls is not None else ()

    def _reply(self, turn: HostedTurn, text: str) -> str:
        if not text.strip() and turn.must_answer:
            raise NoAnswer("could not answer: the model's reply was empty")
        return text
