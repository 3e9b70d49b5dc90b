"""The real claude and the real codex as agents that Moot runs, with a scripted model."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from pathlib import Path

import pytest
from msgspec import Struct

from moot.brains.llm.keys import KeyRing
from moot.client import RemoteHub
from moot.model.json import JsonObject
from moot.settings import Home
from moot.testing.fake_llm import Answer, FakeLLM, Fault, Request, ScriptedCall
from tests.clis.conftest import hub_of
from tests.clis.place import Place, Played, installed
from tests.support.waiting import until

BOTH = pytest.mark.parametrize("cli", ["claude", "codex"])


class Hosted(Place):
    """One agent, whose CLI Moot runs."""

    cli = ""

    def environ(self, **more: str) -> dict[str, str]:
        """Codex starts no sandbox where its home lies below the temporary folder."""
        scratch = self.home / "scratch"
        scratch.mkdir(exist_ok=True)
        return super().environ(TMPDIR=str(scratch), **more)

    def set_up(self, cli: str, **settings: str) -> None:
        self.cli = cli
        project = self.folder("project")
        (self.home / ".moot").mkdir(mode=0o700, exist_ok=True)
        rows = [f'name = "arya"\nbrain = "command:{cli}"\nproject = "{project}"']
        rows.append('environment = ["FAKE_KEY", "ANTHROPIC_API_KEY"]')
        rows += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        (self.home / ".moot" / "moot.toml").write_text("[[agents]]\n" + "\n".join(rows) + "\n")
        if cli == "codex":
            self.tell_codex_of_the_model()

    async def connected(self) -> RemoteHub:
        hub = await RemoteHub.find(Home(self.home / ".moot"))
        assert hub is not None
        return hub

    async def decided(self) -> None:
        """Allow whatever is asked for."""
        hub = await self.connected()
        for one in await hub.decisions.list(state="open"):
            await hub.decisions.answer(one.id, "allow once")
        await hub.close()

    async def ask(self, text: str, seconds: float = 60.0) -> str:
        hub = await self.connected()
        try:
            return (await hub.ask("arya", text, timeout=seconds)).text
        finally:
            await hub.close()


@pytest.fixture
async def hosted(tmp_path: Path) -> AsyncIterator[Hosted]:
    installed()
    script: dict[str, Played] = {}

    async def play(request: Request) -> Answer:
        return await script[request.model](request)

    async with FakeLLM(play) as model:
        place = Hosted(tmp_path / "person", model, script)
        place.home.mkdir()
        yield place


async def state_of(hub: RemoteHub) -> str:
    return str((await hub.agents.get("arya")).activity["state"])


class Running(Struct, frozen=True):
    pid: int
    line: str
    environ: str


def running(home: Path) -> list[Running]:
    """Everything that runs for this person."""
    mine, found = f"HOME={home}".encode(), []
    for pid in [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]:
        try:
            environ = Path(f"/proc/{pid}/environ").read_bytes()
            if mine in environ.split(b"\0"):
                line = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
                found.append(Running(int(pid), line, environ.decode(errors="replace")))
        except OSError:
            continue
    return found


def command_lines(home: Path) -> list[str]:
    return [one.line for one in running(home)]


def clis_of(home: Path, cli: str) -> list[int]:
    """The CLI itself, without its keeper."""
    word = "stream-json" if cli == "claude" else "app-server"
    return [one.pid for one in running(home) if word in one.line and "keeper.py" not in one.line]


def shell(cli: str, command: str) -> Answer:
    if cli == "claude":
        return Answer(calls=(ScriptedCall("Bash", {"command": command, "description": "x"}),))
    return Answer(calls=(ScriptedCall("exec_command", {"cmd": command}),))


Play = Callable[[Request], Awaitable[Answer]]


def played(hosted: Hosted, play: Play) -> None:
    hosted.script[hosted.cli] = play  # type: ignore[assignment]


def given(request: Request) -> str:
    """The newest that the CLI put before its model, as text."""
    return json.dumps(request.body.get("messages") or request.body.get("input"), ensure_ascii=False)


async def listen(hub: RemoteHub, pieces: list[str]) -> None:
    """What everybody sees of an answer before it is there."""
    async for event in hub.events(types=["turn.delta"]):
        pieces.append(str(event.body["text"]))  # noqa: PERF401  it is read before this ends


def sessions(home: Path) -> list[Path]:
    """The files in which the CLIs keep their sessions."""
    places = (home / ".claude" / "projects", home / ".codex" / "sessions")
    return [file for place in places if place.exists() for file in place.rglob("*.jsonl")]


@BOTH
async def test_1_and_2_it_answers_with_its_last_words_and_is_itself(hosted: Hosted, cli: str) -> None:
    hosted.set_up(cli)
    seen: list[Request] = []
    trees: list[Running] = []

    async def play(request: Request) -> Answer:
        seen.append(request)
        if len(seen) == 1:
            name = "mcp__moot__list_agents" if cli == "claude" else "list_agents"
            return Answer("I look first.", calls=(ScriptedCall(name, {}),))
        trees.extend(running(hosted.home))
        return Answer("Three words here, and then some more of them.", chunk_delay=0.05)

    played(hosted, play)
    async with hub_of(hosted, MOOT_TOKEN_ARYA="planted-token"):
        hub = await hosted.connected()
        pieces: list[str] = []
        listening = asyncio.create_task(listen(hub, pieces))
        assert await hosted.ask("who are you?") == "Three words here, and then some more of them."
        listening.cancel()
        await hub.close()
        secrets = [Home(hosted.home / ".moot").token.read_text().strip(), "planted-token"]
    assert len([piece for piece in pieces if piece.strip()]) >= 3, pieces
    assert '"self' in given(seen[1]).replace("\\", "")
    assert 'self":"arya"' in given(seen[1]).replace("\\", "")
    below = [one for one in trees if " up --json" not in one.line]
    assert below
    assert not [one.line for one in trees if "moot mcp" in one.line or "moot_" in one.line], (
        "no shim, no token"
    )
    assert not [one.line for one in below if any(secret in one.environ + one.line for secret in secrets)]


@BOTH
async def test_3_interrupted_in_mid_text_it_goes_on_in_the_same_session(hosted: Hosted, cli: str) -> None:
    hosted.set_up(cli, on_busy="interrupt")
    seen: list[Request] = []

    async def play(request: Request) -> Answer:
        seen.append(request)
        if len(seen) == 1:
            return Answer("slowly " * 200, fault=Fault.DRIP, seconds=0.01)
        return Answer("the second answer")

    played(hosted, play)
    async with hub_of(hosted):
        hub = await hosted.connected()
        try:
            await hub.send("arya", "begin")
            await until(lambda: state_of(hub), lambda state: state == "streaming", 30)
            answer = await hub.ask("arya", "and now?", timeout=60)
            messages = await hub.messages(answer.conversation, limit=100)
            kept = [one for one in messages if one.metadata.get("partial")]
            [asked] = [one for one in messages if one.text == "and now?"]
            first = (await hub.turns(agent="arya"))[0]
        finally:
            await hub.close()
    assert answer.text == "the second answer"
    assert kept
    assert kept[0].text.startswith("slowly")
    assert hosted.model.disconnects, "the request was cut off"
    assert "and now?" in given(seen[-1])
    assert "interrupted" in given(seen[-1])
    assert "slowly" in given(seen[-1]), "its own words are quoted, or in its history"
    assert len(sessions(hosted.home)) == 1
    assert (moment(first.ended_at) - moment(asked.at)).total_seconds() < 1.0


def moment(text: str | None) -> datetime:
    assert text is not None
    return datetime.fromisoformat(text)


@BOTH
async def test_7_and_8_nothing_of_a_hostile_repository_runs_and_no_secret_reaches_a_command(
    hosted: Hosted, cli: str
) -> None:
    hosted.set_up(cli, permissions="ask")
    project, planted = hosted.folder("project"), hosted.home / "planted"
    hook = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": f"touch {planted}"}]}]}}
    for folder, name, text in (
        (".claude", "settings.json", json.dumps(hook)),
        ("", ".mcp.json", json.dumps({"mcpServers": {"x": {"command": "touch", "args": [str(planted)]}}})),
        (".codex", "config.toml", f'[mcp_servers.x]\ncommand = "touch"\nargs = ["{planted}"]\n'),
    ):
        (project / folder).mkdir(exist_ok=True)
        (project / folder / name).write_text(text)
    config = hosted.home / ".codex" / "config.toml"
    before = config.read_bytes() if config.exists() else b""
    seen: list[Request] = []

    async def play(request: Request) -> Answer:
        seen.append(request)
        return shell(cli, "env | sort; pwd") if len(seen) == 1 else Answer("done")

    played(hosted, play)
    async with hub_of(hosted, SECRET_TOKEN="planted-secret", MOOT_TOKEN_X="planted-too", CLAUDECODE="1"):
        asking = asyncio.create_task(hosted.ask("look around"))
        await until(hosted.decided, lambda _: asking.done(), 60)
        assert asking.result() == "done"
    assert not planted.exists()
    shown = given(seen[-1])
    at = shown.find("planted-")
    assert at < 0, shown[max(0, at - 300) : at + 100]
    assert "PATH=" in shown, "the command ran"
    assert (config.read_bytes() if config.exists() else b"") == before, "no trust was written"


async def test_9_claude_writes_inside_its_project_and_not_outside(hosted: Hosted) -> None:
    hosted.set_up("claude")
    project = hosted.folder("project")
    private = (project / ".git" / "config", project / ".claude" / "settings.json")
    targets = (project / "inside.txt", hosted.home / "outside.txt", *private)
    (project / ".git").mkdir()
    seen: list[Request] = []

    async def play(request: Request) -> Answer:
        seen.append(request)
        if len(seen) <= len(targets):
            path = str(targets[len(seen) - 1])
            return Answer(calls=(ScriptedCall("Write", {"file_path": path, "content": "x"}),))
        return Answer("done")

    played(hosted, play)
    async with hub_of(hosted):
        assert await hosted.ask("write") == "done"
        hub = await hosted.connected()
        asked = [one.question for one in await hub.decisions.list(state="open")]
        await hub.close()
    assert [path.exists() for path in targets] == [True, False, False, False]
    assert len(asked) == 3
    assert str(targets[1]) in asked[0]


async def test_11_claude_is_charged_once_across_a_restart(hosted: Hosted) -> None:
    hosted.set_up("claude")

    async def play(request: Request) -> Answer:
        return Answer("fine")

    played(hosted, play)
    used: list[JsonObject] = []
    for times in (2, 1):  # claude counts what a session cost from its beginning, resumed or not
        async with hub_of(hosted):
            for _ in range(times):
                await hosted.ask("go on")
            hub = await hosted.connected()
            used = [turn.usage or {} for turn in await hub.turns(agent="arya")]
            await hub.close()
    assert [one["input_tokens"] > 0 for one in used] == [True] * 3
    costs = [one["cost_usd"] for one in used]
    assert min(costs) > 0
    assert costs[2] < costs[0] + costs[1], costs


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("cli", "times"), [("claude", 1), ("codex", 3)])
async def test_5_after_kill_9_of_the_host_in_a_tool_nothing_is_left_and_one_answer_follows(
    hosted: Hosted, cli: str, times: int
) -> None:
    """All in one session."""
    hosted.set_up(cli, permissions="ask")
    project, ran = hosted.folder("project"), set[int]()
    seen: list[Request] = []
    number = 0

    async def play(request: Request) -> Answer:
        seen.append(request)
        if number in ran:
            return Answer(f"all done {number}")
        ran.add(number)
        return shell(cli, f"touch {project / f'mark{number}'}; sleep 300")

    async def left() -> list[str]:
        return [line for line in command_lines(hosted.home) if "sleep 300" in line or cli in line]

    played(hosted, play)
    for number in range(times):
        mark = project / f"mark{number}"
        async with hub_of(hosted) as process:
            hub = await hosted.connected()
            await hub.send("arya", f"run it, {number}")
            await hub.close()
            await until(hosted.decided, lambda _: mark.exists(), 60)  # noqa: B023  awaited at once
            process.kill()
            await process.wait()
        await until(left, lambda lines: not lines, 5)
        async with hub_of(hosted):
            hub = await hosted.connected()
            await hub.settled(timeout=60)
            [pair] = [one.id for one in await hub.conversations.list() if len(one.participants) == 2]
            answers = [
                one.text
                for one in await hub.messages(pair, limit=100)
                if one.sender == "arya" and one.intent != "ask"
            ]
            await hub.close()
        assert answers == [f"all done {one}" for one in range(number + 1)]
        assert "cut off" in given(seen[-1]), "the session was resumed"


@BOTH
async def test_4_interrupted_in_a_tool_nothing_of_it_is_left_running(hosted: Hosted, cli: str) -> None:
    hosted.set_up(cli, permissions="ask", on_busy="interrupt")
    mark = hosted.folder("project") / "mark"
    seen: list[Request] = []

    async def play(request: Request) -> Answer:
        seen.append(request)
        return shell(cli, f"touch {mark}; sleep 301") if len(seen) == 1 else Answer("what is new?")

    played(hosted, play)
    async with hub_of(hosted):
        hub = await hosted.connected()
        await hub.send("arya", "run it")
        await until(hosted.decided, lambda _: mark.exists(), 60)
        await until(lambda: state_of(hub), lambda state: state == "tool")
        answer = await hub.ask("arya", "stop that", timeout=60)

        async def left() -> list[str]:
            return [line for line in command_lines(hosted.home) if "sleep 301" in line]

        await until(left, lambda lines: not lines, 10)
        tools = [one for one in await hub.messages(answer.conversation, limit=100) if one.kind == "tool"]
        await hub.close()
    assert answer.text == "what is new?"
    assert tools, "what came of the tool is written down first"
    assert "stop that" in given(seen[-1])


@pytest.mark.timeout(180)
@BOTH
async def test_6_killed_it_is_resumed_once_and_a_lost_session_begins_anew_with_the_window(
    hosted: Hosted, cli: str
) -> None:
    hosted.set_up(cli)
    seen: list[Request] = []

    async def play(request: Request) -> Answer:
        seen.append(request)
        if len(seen) == 2:
            return Answer("slowly " * 400, fault=Fault.DRIP, seconds=0.02)
        return Answer(f"answer {len(seen)}")

    played(hosted, play)
    async with hub_of(hosted):
        hub = await hosted.connected()
        await hosted.ask("my number is 4711")
        asking = asyncio.create_task(hosted.ask("hold on", 90))
        await until(lambda: state_of(hub), lambda state: state == "streaming", 60)
        for pid in clis_of(hosted.home, cli):
            os.kill(pid, signal.SIGKILL)
        assert (await asking).startswith("answer")
        assert "cut off" in given(seen[-1]), "the session was resumed"
        assert "4711" in given(seen[-1]), "and is the same"
        await hub.close()
    assert sessions(hosted.home)
    for file in sessions(hosted.home):
        file.unlink()
    for file in (hosted.home / ".codex").glob("*.sqlite*"):
        file.unlink()  # codex keeps an index of its threads
    before = len(seen)
    async with hub_of(hosted):
        assert (await hosted.ask("and what was my number?")).startswith("answer")
    assert "4711" in given(seen[-1]), "a fresh session is told everything"
    assert len(seen) - before <= 2


async def test_9_codex_writes_inside_its_project_and_not_outside(hosted: Hosted) -> None:
    hosted.set_up("codex")
    project = hosted.folder("project")
    (project / ".git").mkdir()
    targets = (project / "inside.txt", hosted.home / "outside.txt", project / ".git" / "config")
    seen: list[Request] = []

    async def play(request: Request) -> Answer:
        seen.append(request)
        if len(seen) <= len(targets):
            return shell("codex", f"echo x > {targets[len(seen) - 1]}")
        return Answer("done")

    played(hosted, play)
    async with hub_of(hosted):
        assert await hosted.ask("write") == "done"
    assert [path.exists() for path in targets] == [True, False, False]


async def test_11_codex_is_not_charged_again_after_a_restart(hosted: Hosted) -> None:
    hosted.set_up("codex")

    async def play(request: Request) -> Answer:
        return Answer("fine")

    played(hosted, play)
    used: list[int] = []
    for _ in range(3):
        async with hub_of(hosted):
            await hosted.ask("go on")
            hub = await hosted.connected()
            turns = await hub.turns(agent="arya")
            used = [turn.usage["input_tokens"] for turn in turns if turn.usage]
            await hub.close()
    assert len(used) == 3
    assert used[2] < used[0] + used[1], used


async def test_8_codex_uses_a_key_that_nothing_it_runs_can_find(hosted: Hosted) -> None:
    hosted.set_up("codex", credential="api-key", permissions="ask")
    config, login = hosted.home / ".codex" / "config.toml", hosted.home / ".codex" / "auth.json"
    config.write_text(config.read_text().replace('env_key = "FAKE_KEY"', "requires_openai_auth = true"))
    login.write_text(json.dumps({"OPENAI_API_KEY": "of-the-person"}))
    key = KeyRing({}, Home(hosted.home / ".moot").keys).store("openai", "sk-planted-key").key.reveal()
    seen: list[Request] = []
    trees: list[Running] = []

    async def play(request: Request) -> Answer:
        seen.append(request)
        trees.extend(running(hosted.home))
        places = "/proc/[0-9]*/environ /proc/[0-9]*/cmdline ~/.codex/*.json"
        look = f"env; grep -al 'sk-[p]lanted' {places} | sed s/^/found:/"
        return shell("codex", look) if len(seen) == 1 else Answer("done")

    played(hosted, play)
    async with hub_of(hosted):
        asking = asyncio.create_task(hosted.ask("look around"))
        await until(hosted.decided, lambda _: asking.done(), 60)
        assert asking.result() == "done"
    assert {request.headers.get("authorization") for request in seen} == {f"Bearer {key}"}
    assert [one for one in trees if "app-server" in one.line]
    assert not [one.line for one in trees if key in one.line + one.environ]
    assert "PATH=" in given(seen[-1]), "the command ran"
    assert key not in given(seen[-1])
    assert re.findall(r"found:/[a-z][^ ]*", given(seen[-1])) == []
    assert login.read_text() == json.dumps({"OPENAI_API_KEY": "of-the-person"})


async def test_8_claude_uses_a_key_that_no_command_is_given(hosted: Hosted) -> None:
    hosted.set_up("claude", credential="api-key", permissions="ask")
    toml = hosted.home / ".moot" / "moot.toml"
    toml.write_text(toml.read_text().replace('environment = ["FAKE_KEY", "ANTHROPIC_API_KEY"]', ""))
    key = KeyRing({}, Home(hosted.home / ".moot").keys).store("anthropic", "sk-planted-key").key.reveal()
    seen: list[Request] = []
    trees: list[Running] = []

    async def play(request: Request) -> Answer:
        seen.append(request)
        trees.extend(running(hosted.home))
        return (
            shell("claude", "env; cat /proc/$PPID/cmdline | tr '\\0' ' '")
            if len(seen) == 1
            else Answer("done")
        )

    played(hosted, play)
    async with hub_of(hosted, ANTHROPIC_API_KEY="", SECRET_TOKEN="planted-secret"):
        asking = asyncio.create_task(hosted.ask("look around"))
        await until(hosted.decided, lambda _: asking.done(), 60)
        assert asking.result() == "done"
    assert {request.headers.get("x-api-key") for request in seen} == {key}
    assert not [one.line for one in trees if key in one.line + one.environ]
    assert "PATH=" in given(seen[-1]), "the command ran"
    assert key not in given(seen[-1])
    assert "planted-secret" not in given(seen[-1])
