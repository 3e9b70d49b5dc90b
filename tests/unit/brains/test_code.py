"""A function as a brain: what cannot be awaited is refused before anybody speaks to it."""

import functools
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.brains.code import AgentSpec
from moot.errors import BadValue
from moot.settings import AgentSettings, Home
from moot.wiring import spec


def plain(turn: Any) -> str:
    return "hello"


async def yields(turn: Any) -> AsyncIterator[str]:
    yield "hello"


async def fine(turn: Any) -> str:
    return "hello"


class Speaker:
    async def __call__(self, turn: Any) -> str:
        return "hello"


def wrapped(think: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(think)
    def inside(turn: Any) -> Any:
        return think(turn)

    return inside


@pytest.mark.req("P-04")
def test_a_plain_function_is_refused_at_once_with_the_words_that_mend_it() -> None:
    with pytest.raises(BadValue) as refused:
        agent("analyst")(plain)  # type: ignore[arg-type]
    assert refused.value.title == "agent analyst: plain is not async, but an agent must be"
    assert refused.value.fix == ("async def plain(turn): …",)
    assert f"{Path(__file__)}, line " in refused.value.detail


@pytest.mark.parametrize(
    ("think", "said"),
    [
        (yields, "yields is a generator, but an agent must return its text"),
        (lambda turn: "hello", "<lambda> is not async"),
        (functools.partial(plain), "partial is not async"),
        (int, "int is not async"),
        ("hello", "'hello' is not a function"),
    ],
)
def test_so_is_whatever_else_cannot_be_awaited(think: Any, said: str) -> None:
    with pytest.raises(BadValue, match=said):
        AgentSpec("analyst", think)


@pytest.mark.parametrize(
    "think", [fine, functools.partial(fine), Speaker(), Speaker().__call__, wrapped(fine)]
)
async def test_what_can_be_awaited_is_taken(think: Any) -> None:
    no_turn: Any = None
    assert await AgentSpec("analyst", think)(no_turn) == "hello"


def test_a_brain_of_the_settings_is_held_to_the_same(tmp_path: Path) -> None:
    (tmp_path / "plain_team.py").write_text("def sansa(turn):\n    return 'hello'\n")
    row = AgentSettings(name="sansa", brain="code:plain_team:sansa", project=str(tmp_path))
    with pytest.raises(BadValue, match="agent sansa: sansa is not async") as refused:
        spec(row, Home(tmp_path))
    assert refused.value.detail == f"it is defined in {tmp_path / 'plain_team.py'}, line 1"


async def test_a_function_that_is_no_agent_yet_is_refused_by_every_way_in(tmp_path: Path) -> None:
    bare: Any = fine
    for opening in (Hub.open(tmp_path, agents=[bare]), Hub.connect("http://127.0.0.1:1", agents=[bare])):
        with pytest.raises(BadValue, match="fine is not an agent yet") as refused:
            async with opening:
                raise AssertionError("it was opened")
        assert refused.value.fix == ('put @agent("fine") above it',)
    async with Hub.open(tmp_path) as hub:
        with pytest.raises(BadValue, match="not an agent yet"):
            await hub.host([bare])
