"""Both adapters before the fake server: what holds for one holds for the other."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from moot.testing.fake_llm import Script
from tests.support.talking import PROVIDERS, Talk, talking

MakeTalk = Callable[[Script], Awaitable[Talk]]


@pytest.fixture(params=PROVIDERS)
async def talk(request: pytest.FixtureRequest) -> AsyncIterator[MakeTalk]:
    """`await talk(script)`; everything is closed afterwards."""
    async with AsyncExitStack() as stack:

        async def make(script: Script) -> Talk:
            return await stack.enter_async_context(talking(request.param, script))

        yield make
