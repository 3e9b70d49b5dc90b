"""A brain that thinks with a model: it asks the model, runs the tools the model calls, and resumes from the store.

Above: wiring makes it, the host runs it. Below: retry.py asks the model; the turn (`HostedTurn`) has the prompt,
streams, and stores every tool call before and after. Not here: prompts (context/), tools (tools/).
"""

from collections.abc import Callable, Mapping
from typing import Final

from moot.brain import HostedTurn, Tool
from moot.brains.llm.retry import Retries
from moot.brains.llm.trouble import ModelTrouble
from moot.errors import MootError
from moot.model.prompt import ModelAnswer, ToolCall
from moot.ports import Model

MAX_ANSWERS: Final = 12
"""Answers of a model in one turn: one that gives more is going round in circles."""

TextCalls = Callable[[str], tuple[ToolCall, ...]]
"""Finds calls in a text, for models that cannot call tools otherwise."""


class NoAnswer(Exception):
    """The turn fails; `notice` is shown in the conversation."""

    def __init__(self, notice: str) -> None:
        super().__init__(notice)
        self.notice = notice


class ModelBrain:
    def __init__(
        self,
        model: Callable[[], Model],
        retries: Retries,
        tools: Mapping[str, Tool],
        text_calls: TextCalls | None = None,
    ) -> None:
        self._make = model
        self._model: Model | None = None
        self._retries = retries
        self._tools = tools
        self._text_calls = text_calls

    async def think(self, turn: HostedTurn) -> str | None:
        await self._resume_steps(turn)
        first = turn.steps[-1].answer + 1 if turn.steps else 0
        for number in range(first, MAX_ANSWERS):
            answer = await self._ask(turn)
            calls = answer.calls or self._calls_in_text(answer)
            if not calls:
                return self._reply(turn, answer.text)
            for n, call in enumerate(calls):
                text = answer.text if n == 0 else ""
                await turn.use(self._tools.get(call.name), call, answer=number, said=text)
        raise NoAnswer(f"kept calling tools and was stopped after {MAX_ANSWERS} answers")

    async def close(self) -> None:
        if self._model is not None:
            await self._model.close()

    async def _resume_steps(self, turn: HostedTurn) -> None:
        """After a crash: run a tool that may have run once more, but only if that does no harm."""
        for step in turn.steps:
            if step.seq:
                continue
            if not step.idempotent:
                raise NoAnswer(
                    f"needs a review: {step.tool} was called before a crash and may have run, so "
                    "it is not run again"
                )
            await turn.run_step(self._tools.get(step.tool), step)

    async def _ask(self, turn: HostedTurn) -> ModelAnswer:
        prompt = await turn.prompt()
        turn.begin_answer()
        try:
            self._model = self._model or self._make()
            until = self._retries.now() + turn.seconds_left
            answer = await self._retries.complete(self._model, prompt, turn.say, deadline=until)
        except ModelTrouble as trouble:
            turn.spend(trouble.usage)
            raise NoAnswer(f"could not answer: {trouble.sentence}") from None
        except MootError as refusal:
            raise NoAnswer(f"could not answer: {refusal.title}") from None
        turn.spend(answer.usage)
        return answer

    def _calls_in_text(self, answer: ModelAnswer) -> tuple[ToolCall, ...]:
        return self._text_calls(answer.text) if self._text_calls is not None else ()

    def _reply(self, turn: HostedTurn, text: str) -> str:
        if not text.strip() and turn.must_answer:
            raise NoAnswer("could not answer: the model's reply was empty")
        return text
