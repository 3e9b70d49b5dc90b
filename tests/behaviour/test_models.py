"""Agents that think with a model, over real sockets to a scripted server: two providers, tools, failures (P-03)."""

import asyncio
import logging
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from moot import Hub, wiring
from moot.brains.llm.retry import Retries
from moot.host.clock import SystemClock
from moot.settings import Home, load
from moot.testing import ManualClock
from moot.testing.fake_llm import PASS_VARIANTS, Answer, FakeLLM, Fault, Request, Script, ScriptedCall
from moot.wiring import configured_agents
from tests.support.waiting import PATIENCE, until

SETTINGS = """
[groups]
cooldown_seconds = 0.0
reactive_round = false
agent_reply_timeout = {patience}
"""
ROW = """
[[agents]]
name = "{name}"
role = "{role}"
brain = "{brain}"
tools = {tools}
project = "../work"
"""


class Team:
    """A home whose agents think with a scripted server."""

    def __init__(self, home: Path, llm: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = Home(home / "home")
        self.home.make()
        self.work = home / "work"
        self.work.mkdir()
        self.llm = llm
        self.rows: list[str] = []
        monkeypatch.setenv("ANTHROPIC_BASE_URL", llm.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-1")

    def has(self, name: str, provider: str = "openai", *, role: str = "", tools: str = "[]") -> "Team":
        model = f"openai:{name}@{self.llm.openai_url}" if provider == "openai" else f"anthropic:{name}"
        self.rows.append(ROW.format(name=name, role=role, brain=model, tools=tools))
        return self

    @asynccontextmanager
    async def open(self, patience: float = PATIENCE, **options: Any) -> AsyncIterator[Hub]:
        self.home.toml.write_text(SETTINGS.format(patience=patience) + "".join(self.rows))
        agents = configured_agents(load(self.home), self.home)
        async with Hub.open(self.home.path, agents=agents, **options) as hub:
            yield hub


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A folder that a sandbox takes for a project: none below /dev, where this suite keeps its files, is one."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def make_team(on_disk: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    # A breaker opened by one test is not the next one's; how long the pauses are is tests/unit/brains/test_patience.py.
    patience = Retries(SystemClock(), first_pause=0.02)
    monkeypatch.setattr(wiring, "_retries", lambda: patience)

    @asynccontextmanager
    async def made(script: Script) -> AsyncIterator[Team]:
        async with FakeLLM(script) as llm:
            yield Team(on_disk, llm, monkeypatch)

    return made


def seqs(request: Request) -> list[int]:
    """The numbers of the messages in a request, in order."""
    text = "\n".join(line for _, line in request.lines)
    return [int(n) for n in re.findall(r"^\[From [^\n]*\]: #(\d+) <", text, re.MULTILINE)]


@pytest.mark.req("G-07", "K-06", "P-03", "G-16")
async def test_four_agents_of_two_providers_each_see_every_message_once(make_team: Any) -> None:
    async with make_team(lambda request: Answer(f"{request.model} speaks, number {request.number}")) as team:
        names = ["ann", "ben", "cat", "dan"]
        for n, name in enumerate(names):
            team.has(name, "anthropic" if n % 2 else "openai", role=f"role of {name}")
        async with team.open() as hub:
            await hub.conversations.create(
                "room", participants=names, settings={"max_agent_turns_per_message": 4}
            )
            for n in range(3):
                await hub.post("room", f"@ann @ben @cat @dan question {n}")
                await hub.settled("room", timeout=40)
            messages = await hub.messages("room")
        assert [m.sender for m in messages] == ["user", *names] * 3
        for name in names:
            asked = [request for request in team.llm.requests if request.model == name]
            last = asked[-1]
            own = [m.text for m in messages if m.sender == name][:-1]
            assert [text for role, text in last.lines if role == "assistant"] == own
            upto = max(seqs(last))
            assert seqs(last) == [m.seq for m in messages if m.sender != name and m.seq <= upto]
            assert all(
                f"- {other} (agent): role of {other}" in last.system for other in names if other != name
            )
            assert f"You are {name}, role of {name}." in last.system


@pytest.mark.req("M-06", "P-03")
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_what_a_turn_cost_is_kept_and_the_cache_hits(make_team: Any, provider: str) -> None:
    async with make_team(lambda request: Answer(f"answer {request.number} " * 20)) as team:
        team.has("ann", provider)
        async with team.open() as hub:
            for n in range(4):
                await hub.ask("ann", f"question {n}", timeout=40)
            turns = [await hub.turn(t.id) for t in await hub.turns(agent="ann")]
            used = await hub.inspector.usage(agent="ann")
    last = turns[-1].usage
    assert last is not None
    assert last["calls"] == 1
    assert last["model"] == "ann"
    assert last["output_tokens"] > 0
    assert last["hit_rate"] > 0.5
    assert last["prefix"] > 0.5
    assert turns[0].usage is not None
    assert "prefix" not in turns[0].usage
    assert used["turns"] == 4
    assert used["input_tokens"] == sum(t.usage["input_tokens"] for t in turns if t.usage)
    given = turns[-1].given
    assert given is not None
    assert given["exact"] is True
    assert given["system"] == team.llm.requests[-1].system


@pytest.mark.req("P-03", "G-08")
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault.BAD_KEY, "key"),
        (Fault.STORM, "overloaded|trouble|503"),
        (Fault.HTML, "answer"),
        (Fault.TOO_LONG, "long"),
        (Fault.EMPTY, "reply was empty"),
        (Fault.RESET, "connection broke"),
        (Fault.TRUNCATED, "connection broke"),
        (Fault.STREAM_ERROR, "."),
        (Fault.BAD_UTF8, "."),
        (Fault.HUGE_BODY, "."),
        (Fault.GZIP_BOMB, "."),
        (Fault.RATE_LIMITED, "."),
        (Fault.REDIRECT_METADATA, "."),
        (Fault.REDIRECT_LOOPBACK, "."),
    ],
)
async def test_a_failing_model_shows_one_notice_and_the_others_go_on(
    make_team: Any, provider: str, fault: Fault, told: str
) -> None:
    def script(request: Request) -> Answer:
        return Answer("fine", fault=fault) if request.model == "ill" else Answer("I am well")

    async with make_team(script) as team:
        team.has("ill", provider).has("well", "openai")
        async with team.open() as hub:
            await hub.conversations.create("room", participants=["ill", "well"])
            await hub.post("room", "@ill @well how are you?")
            await hub.settled("room", timeout=40)
            messages = await hub.messages("room")
            states = {t.agent: t.state for t in await hub.turns(conversation="room")}
        notices = [m.text for m in messages if m.kind == "system"]
        assert len(notices) == 1, notices
        assert notices[0].startswith("[ill could not answer: ")
        assert re.search(told, notices[0]), notices[0]
        assert [m.text for m in messages if m.kind == "agent"] == ["I am well"]
        assert states == {"ill": "failed", "well": "said"}
        assert sum(r.model == "ill" for r in team.llm.requests) <= 3


@pytest.mark.req("P-03", "G-08")
@pytest.mark.parametrize("fault", [Fault.HANG, Fault.SLOW_START, Fault.DRIP])
async def test_a_model_that_hangs_ends_with_the_turns_time_out(make_team: Any, fault: Fault) -> None:
    def script(request: Request) -> Answer:
        return Answer("late", fault=fault) if request.model == "ill" else Answer("I am well")

    async with make_team(script) as team:
        team.has("ill").has("well")
        clock = ManualClock()
        async with team.open(patience=1.0, clock=clock) as hub:
            await hub.conversations.create("room", participants=["ill", "well"])
            await hub.post("room", "@ill @well how are you?")
            await asyncio.wait_for(team.llm.until_asked(), PATIENCE)

            async def of_the_ill_one() -> str:
                """Each piece of an answer is a sign of life, from which on its time counts anew."""
                await clock.advance(0.5)
                return str((await hub.turns(agent="ill"))[0].state)

            await until(of_the_ill_one, lambda state: state not in ("running", "ready"))
            await hub.settled("room", timeout=40)
            messages = await hub.messages("room")
        assert [m.kind for m in messages] == ["human", "system", "agent"]
        assert "ill" in messages[1].text


@pytest.mark.req("G-03")
@pytest.mark.parametrize(("text", "silent"), PASS_VARIANTS)
async def test_pass_never_leaks_and_in_a_sentence_it_is_text(make_team: Any, text: str, silent: bool) -> None:
    async with make_team(Answer(text, chunk_delay=0.005)) as team:
        team.has("ann")
        async with team.open() as hub:
            await hub.conversations.create("room", participants=["ann"])
            after = hub.position
            deltas: list[str] = []

            async def listen() -> None:
                nonlocal deltas
                events = hub.events(conversation="room", types=("turn.delta",), after=after)
                async for event in events:
                    deltas += [event.body["text"]]

            listening = asyncio.create_task(listen())
            await asyncio.sleep(0)
            await hub.post("room", "@ann anything?")
            await hub.settled("room", timeout=40)
            said = [m.text for m in await hub.messages("room") if m.kind == "agent"]
            listening.cancel()
    assert bool(said) is not silent
    if silent:
        assert "".join(deltas).strip() == ""


@pytest.mark.req("J-06", "P-03")
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_an_interruption_closes_the_connection(make_team: Any, provider: str) -> None:
    def script(request: Request) -> Answer:
        if "in French" in request.raw.decode():
            return Answer("Bonjour")
        return Answer("Hello wonderful world, " * 20_000, chunk_delay=0.01)  # else it is heard out first

    async with make_team(script) as team:
        team.has("ann", provider)
        async with team.open() as hub:
            await hub.conversations.create("room", participants=["ann"])
            streamed = asyncio.Event()

            async def listen(after: int) -> None:
                async for _ in hub.events(conversation="room", types=("turn.delta",), after=after):
                    streamed.set()

            listening = asyncio.create_task(listen(hub.position))
            await hub.post("room", "@ann greet")
            await asyncio.wait_for(streamed.wait(), PATIENCE)
            await hub.post("room", "in French", interrupt=True)
            await until(lambda: _value(team.llm.disconnects), bool)
            await hub.settled("room", timeout=40)
            messages = await hub.messages("room")
            listening.cancel()
    assert [m.sender for m in messages] == ["user", "ann", "user", "ann"]
    assert messages[1].text.startswith("Hello")
    assert messages[1].metadata["partial"] is True
    assert messages[3].text == "Bonjour"
    assert "in French" in team.llm.requests[-1].last


async def _value(found: list[float]) -> list[float]:
    return found


@pytest.mark.req("K-10")
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_model_calls_a_tool_and_goes_on_from_the_store(make_team: Any, provider: str) -> None:
    def script(request: Request) -> Answer:
        if any("harbour.txt" in text for role, text in request.lines if role == "user"):
            return Answer("The file is harbour.txt.")
        return Answer("Let me look.", calls=(ScriptedCall("shell", {"argv": ["ls"]}),))

    async with make_team(script) as team:
        team.has("ann", provider, tools='["shell:ls"]')
        (team.work / "harbour.txt").write_text("ships")
        async with team.open() as hub:
            reply = await hub.ask("ann", "what is there?", timeout=40)
            [turn] = await hub.turns(agent="ann")
            whole = await hub.turn(turn.id)
            kinds = [m.kind for m in await hub.messages(reply.conversation)]
    assert reply.text == "The file is harbour.txt."
    assert kinds == ["human", "tool", "agent"]
    assert [(s["tool"], s["said"]) for s in whole.steps] == [("shell", "Let me look.")]
    assert whole.usage is not None
    assert whole.usage["calls"] == 2
    assert whole.given is not None
    assert whole.given["tools"] == ["shell"]
    assert len(team.llm.requests) == 2


@pytest.mark.req("K-10")
async def test_a_text_call_runs_only_where_the_settings_allow_it(make_team: Any) -> None:
    def script(request: Request) -> Answer:
        if "harbour.txt" in request.last:
            return Answer("Found it.")
        return Answer("I look.\n# Run bash ls")

    async with make_team(script) as team:
        team.has("ann", tools='["shell:ls", "text-tools"]').has("ben", tools='["shell:ls"]')
        (team.work / "harbour.txt").write_text("ships")
        async with team.open() as hub:
            assert (await hub.ask("ann", "what is there?", timeout=40)).text == "Found it."
            assert (await hub.ask("ben", "what is there?", timeout=40)).text == "I look.\n# Run bash ls"


@pytest.mark.req("K-10")
@pytest.mark.parametrize(
    ("fault", "told"),
    [(Fault.ENDLESS_TOOLS, "kept calling tools"), (Fault.UNKNOWN_TOOL, "kept calling tools")],
)
async def test_tool_loops_end_at_a_cap(make_team: Any, fault: Fault, told: str) -> None:
    async with make_team(Answer("again", fault=fault)) as team:
        team.has("ann", tools='["shell:ls"]')
        async with team.open() as hub:
            receipt = await hub.send("ann", "go")
            await hub.settled(receipt.conversation, timeout=60)
            last = (await hub.messages(receipt.conversation))[-1]
            assert last.kind == "system"
            assert told in last.text
        assert len(team.llm.requests) <= 12


CRASHES = """
import asyncio, os, sys
from pathlib import Path
from tempfile import TemporaryDirectory
from moot import Hub, wiring
from moot.brains.code import AgentSpec
from moot.brains.llm.brain import ModelBrain
from moot.brains.llm.retry import Retries
from moot.host.clock import SystemClock
from moot.model.prompt import ModelAnswer, ToolCall, ToolResult, ToolSpec, Offered

class Counter:
    def __init__(self, path, idempotent):
        self.path = path
        self.spec = ToolSpec("counter", "counts", {"type": "object"}, idempotent=idempotent)
    async def run(self, arguments, turn):
        with open(self.path, "a") as file:
            file.write("ran\\n")
        return ToolResult("counted")

class Model:
    name = "test"
    async def close(self): ...
    async def complete(self, prompt, said):
        if any(line.answers for line in prompt.lines):
            return ModelAnswer("all counted")
        return ModelAnswer("", calls=(ToolCall("c1", "counter", "{}"),))

async def main(home, idempotent):
    tool = Counter(Path(home) / "ran", idempotent)
    brain = ModelBrain(Model, Retries(SystemClock()), {"counter": tool})
    spec = AgentSpec("ann", brain.think, prompted=True, offered=Offered((tool.spec,)))
    async with Hub.open(home, agents=[spec]) as hub:
        receipt = await hub.send("ann", "count", idempotency_key="once")
        await hub.settled(receipt.conversation, timeout=40)

asyncio.run(main(sys.argv[1], sys.argv[2] == "yes"))
"""


@pytest.mark.req("K-10")
@pytest.mark.parametrize("idempotent", ["yes", "no"])
async def test_after_a_crash_a_tool_is_not_run_twice_unless_that_does_no_harm(
    tmp_path: Path, idempotent: str
) -> None:
    for point in ("host.tool_ran:kill:1", ""):
        await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", CRASHES, str(tmp_path), idempotent],
            env={**os.environ, "MOOT_FAILPOINT": point},
            check=not point,
            timeout=60,
        )
    runs = (tmp_path / "ran").read_text().count("ran")
    async with Hub.open(tmp_path) as hub:
        [conversation] = await hub.conversations.list()
        messages = [(m.kind, m.text) for m in await hub.messages(conversation.id)]
        [turn] = await hub.turns(agent="ann")
    if idempotent == "yes":
        assert runs == 2
        assert messages[1:] == [("tool", "counted"), ("agent", "all counted")]
        assert turn.state == "said"
    else:
        assert runs == 1
        assert turn.state == "failed"
        assert messages[1:] == [
            (
                "system",
                "[ann needs a review: counter was called before a crash and may have run, so it is not run again]",
            )
        ]


@pytest.mark.req("P-03")
async def test_a_missing_key_is_a_clear_notice_and_never_a_demo_answer(
    make_team: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with make_team(Answer("hi")) as team:
        team.has("ann", "anthropic")
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        monkeypatch.delenv("ANTHROPIC_BASE_URL")
        async with team.open() as hub:
            receipt = await hub.send("ann", "hello")
            await hub.settled(receipt.conversation, timeout=40)
            [_, notice] = await hub.messages(receipt.conversation)
    assert notice.kind == "system"
    assert notice.text.startswith("[ann could not answer: ")
    assert "ANTHROPIC_API_KEY" in notice.text or "key" in notice.text


@pytest.mark.req("P-06")
async def test_no_key_is_found_in_logs_errors_or_the_database(
    make_team: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Twenty canaries, through every way a request can end."""
    canaries = [f"sk-canary-{n:02}-7d1f3b5a9c" for n in range(20)]
    faults = [Fault.BAD_KEY, Fault.STORM, Fault.HTML, Fault.RESET, Fault.OK]
    caplog.set_level(logging.DEBUG)
    async with make_team(lambda request: Answer("ok", fault=faults[request.number % 5])) as team:
        team.has("ann", "anthropic").has("ben")
        errors: list[str] = []
        for n, canary in enumerate(canaries):
            monkeypatch.setenv("ANTHROPIC_API_KEY", canary)
            (team.home.path / "keys.json").write_text(f'{{"127.0.0.1": "{canary}", "openai": "{canary}"}}')
            (team.home.path / "keys.json").chmod(0o600)
            async with team.open() as hub:
                receipt = await hub.send("ann" if n % 2 else "ben", f"hello {n}")
                await hub.settled(receipt.conversation, timeout=40)
                errors += [str(t.to_dict()) for t in await hub.turns()]
        sent = [value for request in team.llm.requests for value in request.headers.values()]
        assert any(canary in value for canary in canaries for value in sent), "the keys were used"
        stored = b"".join(path.read_bytes() for path in team.home.path.glob("moot.db*"))
    told = caplog.text + "".join(capfd.readouterr()) + "".join(errors)
    for canary in canaries:
        assert canary not in told
        assert canary.encode() not in stored


def calls(name: str, **arguments: Any) -> Answer:
    return Answer("", calls=(ScriptedCall(name, arguments),))


@pytest.mark.req("S-04", "S-09", "S-10")
async def test_a_model_writes_to_a_linked_agent_and_delegates_by_tool(make_team: Any) -> None:
    steps = iter(
        [
            calls("send_agent_message", target="ben", message="good morning"),
            calls("send_agent_message", target="cat", message="and you"),
            calls("delegate", target="ben", task="count the tickets"),
            Answer("seen to"),
        ]
    )
    script = {  # what ben says may give ann a turn over the link meanwhile
        "ann": lambda request: (
            next(steps, Answer("[PASS]")) if b"see to it" in request.raw else Answer("[PASS]")
        ),
        "ben": lambda request: Answer("two are open"),
        "cat": Answer("here"),
    }
    async with make_team(script) as team:
        team.has("ann", tools='["messages", "tasks"]').has("ben", "anthropic", tools='["messages", "tasks"]')
        team.has("cat", tools='["messages"]')
        async with team.open() as hub:
            link = await hub.links.create("ann", "ben", relationship="superior", direction="one_way")
            answer = await hub.ask("ann", "see to it", timeout=40)
            await hub.settled(timeout=40)
            assert answer.text == "seen to"
            said = [message.text for message in await hub.messages(link.channel)]
            assert "good morning" in said
            [task] = await hub.tasks.list()
            assert (task.by, task.to, task.state, task.result) == ("ann", "ben", "done", "two are open")
            results = [m.text for m in await hub.messages(answer.conversation) if m.kind == "tool"]
            assert "ann is bound by its links, and none leads to cat" in results[1]
        first = next(request for request in team.llm.requests if request.model == "ann")
        ben = next(request for request in team.llm.requests if request.model == "ben")
        assert {"send_agent_message", "ask", "delegate"} <= set(first.tools)
        assert {"send_agent_message", "delegate"}.isdisjoint(ben.tools)
