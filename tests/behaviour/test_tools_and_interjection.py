"""Tool calls are written down before and after; a message may stop a turn, but never between the two (K-10, J-06)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.brains.code import AgentSpec
from moot.errors import NotPermitted
from moot.model.prompt import ToolCall, ToolResult, ToolSpec
from tests.support.waiting import until


class Gate:
    """A tool that answers when it is let."""

    spec = ToolSpec("gate", "waits", {"type": "object"})

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()
        self.runs = 0

    async def run(self, arguments: dict[str, Any], turn: Any) -> ToolResult:
        self.runs += 1
        self.entered.set()
        await self.open.wait()
        return ToolResult("it opened")


def streaming(name: str, started: asyncio.Event, **options: Any) -> AgentSpec:
    """Says `Hello wor` and then waits for ever; spoken to again, it tells what it was given."""

    @agent(name, **options)
    async def speak(turn: Any) -> str | None:
        if any(m.metadata.get("partial") for m in turn.messages):
            return f"again over {[m.text for m in turn.new]}"
        await turn.say("Hello wor")
        started.set()
        await asyncio.sleep(60)
        return None

    return speak


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    (tmp_path / "moot.toml").write_text("[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n")
    return tmp_path


@pytest.mark.req("K-10")
async def test_a_tools_answer_is_a_message_by_tool_that_wakes_nobody(quick: Path) -> None:
    gate = Gate()
    gate.open.set()

    @agent("arya")
    async def arya(turn: Any) -> str:
        result = await turn.use(gate, ToolCall("c1", "gate", '{"x": 1}'), answer=0, said="let me see")
        return f"it says: {result.text}"

    @agent("bob")
    async def bob(turn: Any) -> str:
        return f"bob was given {[m.kind for m in turn.new]}"

    async with Hub.open(quick, agents=[arya, bob]) as hub:
        await hub.conversations.create("room", participants=["arya", "bob"])
        await hub.post("room", "@arya look")
        await hub.settled("room")
        messages = await hub.messages("room")
        assert [(m.sender, m.kind) for m in messages] == [
            ("user", "human"), ("tool", "tool"), ("arya", "agent"), ("bob", "agent"),
        ]  # fmt: skip
        told = messages[1]
        assert told.text == "it opened"
        assert told.metadata == {"tool": "gate", "for": "arya", "call": "c1", "arguments": '{"x": 1}'}
        assert (told.root, told.hop) == (messages[2].root, messages[2].hop)
        assert messages[3].text == "bob was given ['human', 'tool', 'agent']"
        why = {row.agent: row.duty for row in (await hub.why(told.id)).agents}
        assert why == {"arya": "observes", "bob": "observes"}
        [turn] = [t for t in await hub.turns(conversation="room") if t.agent == "arya"]
        [step] = (await hub.turn(turn.id)).steps
        assert (step["tool"], step["said"], step["result"]) == ("gate", "let me see", told.id)


@pytest.mark.req("G-07")
async def test_a_tools_answer_is_not_new_to_the_agent_that_asked_for_it(quick: Path) -> None:
    gate, given = Gate(), []
    gate.open.set()

    @agent("arya")
    async def arya(turn: Any) -> str:
        given.append([m.text for m in turn.new])
        if not turn.steps and len(given) == 1:
            await turn.use(gate, ToolCall("c1", "gate", "{}"), answer=0, said="")
        return "done"

    async with Hub.open(quick, agents=[arya]) as hub:
        await hub.conversations.create("room", participants=["arya"])
        for text in ("@arya one", "@arya two"):
            await hub.post("room", text)
            await hub.settled("room")
    assert given == [["@arya one"], ["@arya two"]]


@pytest.mark.req("K-10")
@pytest.mark.parametrize(
    ("call", "told"),
    [
        (ToolCall("c", "nothing", "{}"), 'unknown tool "nothing"'),
        (ToolCall("c", "gate", "{broken"), "the arguments are not a JSON object"),
        (ToolCall("c", "gate", "[1]"), "the arguments are not a JSON object"),
    ],
)
async def test_a_call_that_cannot_be_made_is_told_and_the_turn_goes_on(
    quick: Path, call: ToolCall, told: str
) -> None:
    gate = Gate()
    gate.open.set()

    @agent("arya")
    async def arya(turn: Any) -> str:
        tool = gate if call.name == "gate" else None
        result = await turn.use(tool, call, answer=0, said="")
        return f"{result.failed}: {result.text}"

    async with Hub.open(quick, agents=[arya]) as hub:
        reply = await hub.ask("arya", "go", timeout=40)
        assert reply.text.startswith(f"True: {told}")
        assert gate.runs == 0


@pytest.mark.req("K-10")
async def test_a_tool_that_raises_is_told_to_the_brain(quick: Path) -> None:
    class Broken:
        spec = ToolSpec("broken", "breaks", {"type": "object"})

        async def run(self, arguments: dict[str, Any], turn: Any) -> ToolResult:
            raise OSError("the disk is gone")

    @agent("arya")
    async def arya(turn: Any) -> str:
        result = await turn.use(Broken(), ToolCall("c", "broken", "{}"), answer=0, said="")
        return str(result.text)

    async with Hub.open(quick, agents=[arya]) as hub:
        assert (await hub.ask("arya", "go", timeout=40)).text == "broken failed: OSError: the disk is gone"


@pytest.mark.req("J-06")
async def test_a_person_interrupts_and_the_new_turn_has_the_message_and_the_partial(quick: Path) -> None:
    started = asyncio.Event()
    async with Hub.open(quick, agents=[streaming("a", started)]) as hub:
        await hub.conversations.create("room", participants=["a"])
        await hub.post("room", "@a greet")
        await started.wait()
        await hub.post("room", "in French", interrupt=True)
        await hub.settled("room", timeout=40)
        messages = await hub.messages("room")
        assert [m.text for m in messages] == [
            "@a greet", "Hello wor", "in French", "again over ['@a greet', 'in French']",
        ]  # fmt: skip
        assert messages[1].metadata == {"partial": True}


@pytest.mark.req("J-06")
@pytest.mark.parametrize("way", ["by a message", "without one"])
async def test_an_agent_interrupts_only_those_that_let_it(quick: Path, way: str) -> None:
    started = {name: asyncio.Event() for name in ("patient", "open")}
    agents = [
        streaming("patient", started["patient"]),
        streaming("open", started["open"], on_busy="interrupt"),
    ]
    async with Hub.open(quick, agents=agents) as hub:
        await hub.agents.create("b", external=True)
        b = hub.acting_as("b")
        for name, event in started.items():
            await hub.conversations.create(f"room-{name}", participants=[name, "b"])
            await hub.post(f"room-{name}", f"@{name} greet")
            await event.wait()

        async def interrupt(name: str) -> None:
            if way == "without one":
                await b.agents.interrupt(name)
            else:
                await b.post(f"room-{name}", f"@{name} in French", interrupt=True)

        with pytest.raises(NotPermitted, match="b may not interrupt patient"):
            await interrupt("patient")
        with pytest.raises(NotPermitted, match="b may not pause"):
            await b.agents.pause("patient")
        [turn] = await hub.turns(agent="patient")
        assert turn.state == "running"
        await interrupt("open")
        assert "cancelled" in [turn.state for turn in await hub.turns(agent="open")]


@pytest.mark.req("J-06")
@pytest.mark.parametrize("kind", ["group", "direct"])
async def test_an_agent_that_wants_it_is_interrupted_by_whoever_speaks_to_it(quick: Path, kind: str) -> None:
    started = asyncio.Event()
    async with Hub.open(quick, agents=[streaming("a", started, on_busy="interrupt")]) as hub:
        where = "room"
        if kind == "group":
            await hub.conversations.create("room", participants=["a"])
            await hub.post("room", "@a greet")
        else:
            where = (await hub.send("a", "@a greet")).conversation
        await started.wait()
        await hub.post(where, "and now in French @a")
        await hub.settled(where, timeout=40)
        await until(lambda: _partials(hub, where), lambda found: found == ["Hello wor"])
        last = [
            m.text for m in await hub.messages(where) if m.kind == "agent" and not m.metadata.get("partial")
        ]
        assert last == ["again over ['@a greet', 'and now in French @a']"]


async def _partials(hub: Hub, where: str) -> list[str]:
    return [m.text for m in await hub.messages(where) if m.metadata.get("partial")]


@pytest.mark.req("J-06")
async def test_the_default_is_to_queue_and_a_message_for_others_stops_nobody(quick: Path) -> None:
    started, go = asyncio.Event(), asyncio.Event()

    def patient(name: str, on_busy: str) -> AgentSpec:
        @agent(name, on_busy=on_busy)
        async def speak(turn: Any) -> str:
            started.set()
            await go.wait()
            return f"over {len(turn.new)}"

        return speak

    async with Hub.open(quick, agents=[patient("a", "queue"), patient("b", "interrupt")]) as hub:
        for name, text in (("a", "@a more"), ("b", "nobody in particular")):
            started.clear()
            go.clear()
            await hub.conversations.create(f"with-{name}", participants=[name])
            await hub.post(f"with-{name}", f"@{name} begin")
            await started.wait()
            await hub.post(f"with-{name}", text)
            go.set()
            await hub.settled(f"with-{name}", timeout=40)
            said = [m.text for m in await hub.messages(f"with-{name}") if m.kind == "agent"]
            assert said == ["over 1", "over 1"]


@pytest.mark.req("J-06")
@pytest.mark.parametrize("kind", ["group", "direct"])
async def test_a_turn_is_not_stopped_between_a_tools_start_and_its_result(quick: Path, kind: str) -> None:
    gate, turns = Gate(), []

    @agent("a")
    async def a(turn: Any) -> str:
        turns.append([m.text for m in turn.new])
        if len(turns) == 1:
            await turn.use(gate, ToolCall("c1", "gate", "{}"), answer=0, said="one moment")
            await asyncio.sleep(60)
        return "after the interruption"

    async with Hub.open(quick, agents=[a]) as hub:
        if kind == "group":
            where = (await hub.conversations.create("room", participants=["a"])).id
            await hub.post(where, "@a begin")
        else:
            where = (await hub.send("a", "@a begin")).conversation
        await gate.entered.wait()
        await hub.post(where, "stop that", interrupt=True)
        [running] = await hub.turns(conversation=where, state="running")
        gate.open.set()
        await hub.settled(where, timeout=40)
        kinds = [(m.kind, m.text) for m in await hub.messages(where)]
        assert kinds == [
            ("human", "@a begin"),
            ("human", "stop that"),
            ("tool", "it opened"),
            ("agent", "one moment"),
            ("agent", "after the interruption"),
        ]
        assert turns == [["@a begin"], ["@a begin", "stop that"]]
        assert (await hub.turn(running.id)).state == "cancelled"
        assert gate.runs == 1


@pytest.mark.req("J-06")
async def test_a_peer_that_interrupts_again_and_again_is_braked(quick: Path) -> None:
    """A turn begun after an interruption is not interrupted again by an agent."""
    begun, may_end = 0, asyncio.Event()

    @agent("victim", on_busy="interrupt")
    async def victim(turn: Any) -> str:
        nonlocal begun
        begun += 1
        await turn.say("I was about to say")
        await may_end.wait()
        return "at last"

    async with Hub.open(quick, agents=[victim]) as hub:
        await hub.agents.create("pest")
        await hub.conversations.create("room", participants=["victim", "pest"])
        await hub.post("room", "@victim speak")
        await until(lambda: hub.turns(conversation="room", state="running"), bool)
        pest = hub.acting_as("pest")
        for n in range(20):
            await pest.post("room", f"@victim hey {n}")
            if n % 5 == 4:
                may_end.set()
                await hub.settled("room", timeout=40)
                may_end.clear()
        victims = [m for m in await hub.messages("room") if m.sender == "victim"]
        cut = [m for m in victims if m.metadata.get("partial")]
        said = [m for m in victims if m.text == "at last"]
        assert said
        assert len(cut) <= len(said), "after each interruption it gets to speak"
        assert begun <= 2 * len(said) + 1, "every second turn at least comes to its end"
        assert begun < 20, "not every interruption stopped it"
