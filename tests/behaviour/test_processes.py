"""Several processes on one home: whoever commits pings exactly those it concerns, and nobody polls (A-06, A-07)."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.flow import attach
from moot.host.pings import JsonLine, Peer, PingSocket, ask, short
from moot.model.ids import HostId, ParticipantId
from tests.support.waiting import PATIENCE, until

HOST = """
import asyncio, sys
from pathlib import Path
from moot import Hub, agent

@agent(sys.argv[2])
async def speak(turn):
    await turn.say("one moment, ")
    return f"{turn.agent} heard {turn.text.replace('@', '')}"

async def main():
    async with Hub.open(sys.argv[1], agents=[speak]) as hub:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


@asynccontextmanager
async def hosting(home: Path, name: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, str(home), name, stdin=-1, stdout=-1
    )
    try:
        assert process.stdout is not None
        assert (await process.stdout.readline()).strip() == b"ready"
        yield process
    finally:
        if process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()
            await asyncio.wait_for(process.wait(), PATIENCE)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Sweeps are so rare that only a ping can be what woke somebody."""
    (tmp_path / "moot.toml").write_text(
        "[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n[host]\nsweep_seconds = 3600\n"
    )
    return tmp_path


@pytest.mark.req("A-06", "A-07")
async def test_two_processes_and_no_hub_answer_each_other_at_once(home: Path) -> None:
    async with hosting(home, "arya"), hosting(home, "gendry"), Hub.open(home) as hub:
        await hub.conversations.create("room", participants=["arya", "gendry"])
        await hub.post("room", "@arya @gendry hello")
        await hub.settled("room", timeout=40)
        said = [m.sender for m in await hub.messages("room") if m.kind == "agent"]
        assert said == ["arya", "gendry"]


async def test_pieces_of_a_reply_reach_whoever_watches_in_another_process(home: Path) -> None:
    async with hosting(home, "arya"), Hub.open(home) as hub:
        await hub.conversations.create("room", participants=["arya"])
        heard: list[str] = []

        async def listen() -> None:
            async for event in hub.events(conversation="room", types=("turn.delta",)):
                heard.append(event.body["text"])  # noqa: PERF401  they come one by one

        listening = asyncio.create_task(listen())

        async def asked() -> list[str]:
            """What is lost is lost: whoever has just begun to watch may miss the first."""
            await hub.post("room", "@arya hello")
            await hub.settled("room", timeout=40)
            return heard

        await until(asked, lambda found: "one moment, " in found)
        listening.cancel()


async def _now(value: Any) -> Any:
    return value


@pytest.mark.req("A-07")
async def test_exactly_the_hosts_of_the_agents_concerned_are_pinged(home: Path, tmp_path: Path) -> None:
    async with Hub.open(home) as hub:
        core = hub._core
        pinged: dict[str, list[JsonLine]] = {"arya": [], "gendry": []}
        sockets = []
        for name, lines in pinged.items():
            await hub.agents.create(name)

            def heard(line: JsonLine, peer: Peer, lines: list[JsonLine] = lines) -> None:
                lines.append(line)

            socket = PingSocket(tmp_path / f"{name}.sock", heard)
            await socket.open()
            sockets.append(socket)
            await core.parts.store.transact(
                attach, attach.Attach(HostId(f"h-{name}"), 1, (ParticipantId(name),), str(socket.path))
            )
        await hub.conversations.create(
            "room", participants=["arya", "gendry"], settings={"reply_strategy": "mention_only"}
        )
        receipt = await hub.post("room", "@arya hello")
        await until(lambda: _now(pinged["arya"]), bool)
        assert pinged["arya"] == [
            {"notify": {"conv_id": receipt.conversation, "from": "user", "seq": receipt.seq}}
        ]
        await asyncio.sleep(0.05)
        assert pinged["gendry"] == []
        for socket in sockets:
            await socket.close()


async def test_a_host_whose_socket_is_gone_costs_nothing(home: Path) -> None:
    @agent("arya")
    async def arya(turn: Any) -> str:
        return "here"

    async with hosting(home, "gendry") as process, Hub.open(home, agents=[arya]) as hub:
        await hub.conversations.create("room", participants=["arya", "gendry"])
        process.kill()
        await process.wait()
        await hub.post("room", "@gendry @arya hello")
        await until(lambda: hub.messages("room"), lambda found: any(m.text == "here" for m in found))


async def test_a_ping_is_answered_with_who_is_there(home: Path) -> None:
    async with hosting(home, "arya"):
        [path] = (home / "run" / "peers").glob("*.sock")
        answer = await ask(path, {"ping": 7}, PATIENCE)
        assert answer is not None
        assert (answer["pong"], answer["agents"]) == (7, ["arya"])
    assert await ask(path, {"ping": 8}, 1) is None


@pytest.mark.parametrize(
    "sent", [b"not json\n", b"[1, 2]\n", b'{"live": 7}\n', b"x" * (2 << 20), b'{"unknown": {}}\n', b"\n\n\n"]
)
async def test_nonsense_on_the_socket_harms_nobody(home: Path, sent: bytes) -> None:
    async with hosting(home, "arya"), Hub.open(home) as hub:
        for path in (home / "run" / "peers").glob("*.sock"):
            with short(path) as address:
                _, writer = await asyncio.open_unix_connection(address)
            writer.write(sent)
            writer.close()
        assert (await hub.ask("arya", "still there?", timeout=40)).text == "arya heard still there?"


@pytest.mark.req("M-01")
async def test_whose_process_dies_is_away_and_everybody_is_told(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text("[host]\nlease_seconds = 60.0\nsweep_seconds = 0.3\n")
    async with hosting(tmp_path, "arya") as process, Hub.open(tmp_path) as hub:
        assert (await hub.agents.get("arya")).reachability == "live"
        after = hub.position
        process.kill()
        await process.wait()
        async with asyncio.timeout(PATIENCE):
            async for event in hub.events(types=("agent.status",), after=after):
                assert (event.by, event.body["reachability"]) == ("arya", "away")
                break
        assert (await hub.agents.get("arya")).reachability == "away"
