"""Supervisors: agents that are shown what is said around others, and never speak."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot import PASS, Hub, agent, supervisor
from moot.brain import WatchedMessage
from moot.brains.code import AgentSpec
from moot.errors import BadValue, NotPermitted
from moot.host.supervision import Supervision
from moot.settings import Home, load
from moot.wiring import configured_agents
from tests.support.waiting import until

pytestmark = pytest.mark.req("K-14")

Shown = tuple[str, str, str, str]


class Warden:
    """Notes what it is shown."""

    def __init__(self, *watches: str, fails_at: str = "") -> None:
        self.shown: list[Shown] = []
        self._fails_at = fails_at

        @supervisor("warden", watches=watches or ("arya",))
        async def warden(seen: WatchedMessage) -> None:
            said = seen.message
            self.shown.append((seen.action, seen.conversation.name, said.sender, said.text))
            if said.text == self._fails_at:
                raise ValueError("on purpose")

        self.spec: AgentSpec = warden

    async def has_seen(self, *texts: str) -> None:
        async def seen() -> list[str]:
            return [text for _, _, _, text in self.shown]

        await until(seen, lambda found: found == list(texts))


def echo(name: str) -> AgentSpec:
    """Answers those who name it, and nobody else."""

    @agent(name)
    async def think(turn: Any) -> str:
        return f"{name} heard {turn.text}" if f"@{name}" in turn.text else PASS

    return think


async def test_it_is_shown_what_is_said_around_those_it_watches_and_nothing_else(tmp_path: Path) -> None:
    warden = Warden("arya")
    async with Hub.open(tmp_path, agents=[echo("arya"), echo("bob"), warden.spec]) as hub:
        await hub.conversations.create("hers", participants=["arya"])
        await hub.conversations.create("his", participants=["bob"])
        await hub.conversations.create("ours", participants=["bob", "arya"])
        await hub.post("his", "@bob hello")
        await hub.settled("his")
        said = await hub.post("hers", "@arya hello")
        await hub.settled("hers")
        seen = ["@arya hello", "arya heard @arya hello"]
        await warden.has_seen(*seen)  # it is shown a message as it stands by then
        await hub.edit(said.id, "@arya good day", version=1)
        await hub.post("ours", "nobody in particular")
        seen += ["@arya good day", "nobody in particular"]
        await warden.has_seen(*seen)
        await hub.delete(said.id, version=2)
        await warden.has_seen(*seen, "")
        assert [(action, where) for action, where, _, _ in warden.shown] == [
            ("posted", "hers"),
            ("posted", "hers"),
            ("edited", "hers"),
            ("posted", "ours"),
            ("deleted", "hers"),
        ]


async def test_it_misses_nothing_that_is_said_once_its_hub_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it takes to find out where it was."""
    warden, said, starting_position = Warden("arya"), asyncio.Event(), Supervision._starting_position

    async def slowly(supervision: Supervision) -> int:
        await said.wait()
        return await starting_position(supervision)

    monkeypatch.setattr(Supervision, "_starting_position", slowly)
    async with Hub.open(tmp_path, agents=[echo("arya"), warden.spec]) as hub:
        await hub.conversations.create("room", participants=["arya"])
        await hub.post("room", "at once")
        said.set()
        await hub.post("room", "later")
        await warden.has_seen("at once", "later")


async def test_it_never_speaks_whoever_asks_it_to(tmp_path: Path) -> None:
    warden = Warden("*")
    async with Hub.open(tmp_path, agents=[echo("arya"), warden.spec]) as hub:
        await hub.conversations.create("room", participants=["arya", "warden"])
        receipt = await hub.post("room", "@warden what do you think?", force=["warden"])
        await hub.settled("room")
        [part] = [one for one in receipt.deliveries if one.agent == "warden"]
        assert (part.duty, part.reason) == ("blocked", "only watches")
        direct = await hub.send("warden", "are you there?")
        await hub.settled(direct.conversation)
        assert [turn for turn in await hub.turns(agent="warden") if turn.started_at] == []
        for speak in (
            hub.acting_as("warden").post("room", "I have something to say"),
            hub.acting_as("warden").send("arya", "listen"),
        ):
            with pytest.raises(NotPermitted, match="warden only watches"):
                await speak
        assert {message.sender for message in await hub.messages("room")} == {"user"}


async def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    first, second = Warden("arya"), Warden("arya")
    async with Hub.open(tmp_path, agents=[echo("arya")]) as hub:
        await hub.conversations.create("room", participants=["arya"])
        await hub.post("room", "before it came")
    async with Hub.open(tmp_path, agents=[echo("arya"), first.spec]) as hub:
        await hub.post("room", "while it watches")
        await first.has_seen("while it watches")
    async with Hub.open(tmp_path, agents=[echo("arya")]) as hub:
        await hub.post("room", "while it is away")
    async with Hub.open(tmp_path, agents=[echo("arya"), second.spec]) as hub:
        await hub.post("room", "when it is back")
        await second.has_seen("while it is away", "when it is back")


async def test_one_message_that_it_fails_at_does_not_hold_it_up(tmp_path: Path) -> None:
    warden = Warden("arya", fails_at="one")
    async with Hub.open(tmp_path, agents=[echo("arya"), warden.spec]) as hub:
        await hub.conversations.create("room", participants=["arya"])
        for text in ("one", "two"):
            await hub.post("room", text)
        await warden.has_seen("one", "two")


async def test_of_two_processes_that_run_it_one_is_shown_each_message(tmp_path: Path) -> None:
    wardens = Warden("arya"), Warden("arya")
    async with Hub.open(tmp_path, agents=[echo("arya"), wardens[0].spec]) as hub:
        await hub.conversations.create("room", participants=["arya"])
        async with Hub.open(tmp_path, agents=[wardens[1].spec]):
            for number in range(10):
                await hub.post("room", str(number))
            await wardens[0].has_seen(*map(str, range(10)))
            assert wardens[1].shown == []


def configured(home: Path) -> list[AgentSpec]:
    return configured_agents(load(Home(home)), Home(home))


MODULE = """
import asyncio
from pathlib import Path

async def watch(seen):
    with Path(__file__).with_name("seen.txt").open("a") as file:
        file.write(seen.message.text + "\\n")
"""


async def test_a_row_of_moot_toml_makes_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "wardens.py").write_text(MODULE)
    row = f'[[agents]]\nname = "warden"\nbrain = "code:wardens:watch"\nproject = "{tmp_path}"\n'
    (home / "moot.toml").write_text(f'{row}watches = ["arya"]\n')
    async with Hub.open(home, agents=[echo("arya"), *configured(home)]) as hub:
        await hub.conversations.create("room", participants=["arya"])
        await hub.post("room", "from a row")

        async def seen() -> str:
            file = tmp_path / "seen.txt"
            return file.read_text() if file.exists() else ""

        await until(seen, lambda text: text == "from a row\n")
    (home / "moot.toml").write_text('[[agents]]\nname = "warden"\nbrain = "demo"\nwatches = ["arya"]\n')
    with pytest.raises(BadValue, match=r"warden watches, so its brain must be a function"):
        configured(home)


async def test_it_is_told_from_an_agent_that_has_nothing_to_do_also_while_nobody_runs_it(
    tmp_path: Path,
) -> None:
    warden = Warden("arya", "bob")
    async with Hub.open(tmp_path, agents=[echo("arya"), warden.spec]) as hub:
        labels = {one.name: one.activity["label"] for one in await hub.agents.list()}
        assert labels == {"arya": "idle", "warden": "watches arya, bob"}
        states = {one.name: one.state for one in (await hub.operator.now()).agents}
        assert states == labels
    async with Hub.open(tmp_path) as hub:
        states = {one.name: one.state for one in (await hub.operator.now()).agents}
        assert states == {"arya": "away", "warden": "away, watches arya, bob"}
