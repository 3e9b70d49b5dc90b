"""A model adapter before the fake server, for tests that ask it things."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from moot.brains.llm.brain_string import make_model
from moot.brains.llm.keys import KeyRing
from moot.model.prompt import ModelAnswer, Prompt, PromptLine
from moot.ports import Model
from moot.testing.fake_llm import FakeLLM, Request, Script

KEY = "sk-canary-0123456789abcdef"
PROVIDERS = ("anthropic", "openai")
NO_FILE = Path("/nonexistent/keys.json")


class Ear:
    """What a model said while it spoke."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.heard = asyncio.Event()

    async def __call__(self, text: str) -> None:
        self.pieces.append(text)
        if text:
            self.heard.set()

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Talk:
    """A model, and the server it talks to."""

    def __init__(self, provider: str, llm: FakeLLM, model: Model) -> None:
        self.provider = provider
        self.llm = llm
        self.model = model
        self.ear = Ear()

    async def ask(self, prompt: Prompt | str = "hello") -> ModelAnswer:
        return await self.model.complete(prompt_of(prompt), self.ear)

    @property
    def request(self) -> Request:
        return self.llm.requests[-1]


def prompt_of(given: Prompt | str) -> Prompt:
    return Prompt("", (PromptLine("user", given),)) if isinstance(given, str) else given


@asynccontextmanager
async def talking(
    provider: str, script: Script, *, idle_seconds: float = 5.0, model: str = "some-model", key: str = KEY
) -> AsyncIterator[Talk]:
    async with FakeLLM(script) as llm:
        environ = {
            "ANTHROPIC_API_KEY": key,
            "OPENAI_API_KEY": key,
            "ANTHROPIC_BASE_URL": llm.url,
            "OPENAI_BASE_URL": llm.openai_url,
        }
        keys = KeyRing(environ, NO_FILE)
        made = make_model(f"{provider}:{model}", keys=keys, environ=environ, idle_seconds=idle_seconds)
        try:
            yield Talk(provider, llm, made)
        finally:
            await made.close()
