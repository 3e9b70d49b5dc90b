"""One contract for all drivers: open, prompt, interrupt, resume, close, over real pipes to scripted programs."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from msgspec import Struct, structs

from moot.brains.command.driver import (
    CliDied,
    CliEvent,
    CliSetup,
    Driver,
    OpenedSession,
    PermissionAnswer,
    PermissionRequest,
    Permissions,
    PromptEnded,
    PromptEnding,
    SessionLost,
    TextDelta,
    ToolBegan,
    ToolEnded,
    UsageReport,
)
from moot.brains.command.drivers.acp import AcpDriver
from moot.brains.command.drivers.claude import ClaudeDriver
from moot.brains.command.drivers.codex import CodexDriver
from moot.brains.command.drivers.template import TemplateDriver
from moot.model.prompt import ToolCall, ToolResult, ToolSpec
from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE

TEMPLATE = "sed -n 's/^! say //p'"
DRIVERS: dict[str, Callable[[], Driver]] = {
    "claude": ClaudeDriver,
    "codex": CodexDriver,
    "acp": lambda: AcpDriver(["fakeacp"]),
    "template": lambda: TemplateDriver(["sh", "-c", TEMPLATE]),
}
SPOKEN = ("claude", "codex", "acp")
TOOL = ToolSpec("list_agents", "List agents", {"type": "object"})


class Session(Struct):
    driver: Driver
    opened: OpenedSession
    calls: list[ToolCall]
    requests: list[PermissionRequest]

    async def prompt(self, text: str) -> list[CliEvent]:
        return [one async for one in self.driver.prompt(text)]


@asynccontextmanager
async def session(
    workshop: Workshop,
    kind: str,
    resume: str | None = None,
    *,
    allowed: bool = False,
    permissions: Permissions = Permissions.EDIT,
) -> AsyncIterator[Session]:
    calls: list[ToolCall] = []
    requests: list[PermissionRequest] = []

    async def call(one: ToolCall) -> ToolResult:
        calls.append(one)
        return ToolResult('{"self":"arya"}')

    async def allow(request: PermissionRequest) -> PermissionAnswer:
        requests.append(request)
        return PermissionAnswer(allowed, "" if allowed else "no")

    setup = CliSetup(
        agent="arya",
        project=workshop.project("arya"),
        environ={name: os.environ[name] for name in ("PATH", "HOME")},
        brief="be brief",
        permissions=permissions,
        tools=lambda: (TOOL,),
        call=call,
        allow=allow,
        run_folder=workshop.home.path / "clis",
    )
    driver = DRIVERS[kind]()
    opened = await driver.open(setup, resume)
    try:
        yield Session(driver, opened, calls, requests)
    finally:
        await driver.close()


def text_of(events: list[CliEvent]) -> str:
    return "".join(one.text for one in events if isinstance(one, TextDelta))


@pytest.mark.parametrize("kind", DRIVERS)
async def test_text_comes_in_pieces_and_ends_with_an_end(workshop: Workshop, kind: str) -> None:
    async with session(workshop, kind) as one:
        events = await one.prompt("! say one two three four")
    assert text_of(events).strip() == "one two three four"
    assert isinstance(events[-1], PromptEnded)
    assert events[-1].how is PromptEnding.END
    if kind in SPOKEN:
        assert sum(isinstance(piece, TextDelta) and bool(piece.text) for piece in events) >= 3


@pytest.mark.parametrize("kind", SPOKEN)
async def test_its_own_tools_are_told_with_their_results(workshop: Workshop, kind: str) -> None:
    async with session(workshop, kind) as one:
        events = await one.prompt("! run pwd")
    [began] = [each for each in events if isinstance(each, ToolBegan)]
    [ended] = [each for each in events if isinstance(each, ToolEnded)]
    assert began.id == ended.id
    assert ended.text.strip() == str(workshop.project("arya"))
    assert not ended.failed


@pytest.mark.parametrize("kind", SPOKEN)
async def test_tools_of_moot_come_over_what_is_there_already(workshop: Workshop, kind: str) -> None:
    async with session(workshop, kind) as one:
        events = await one.prompt('! moot list_agents {"a": 1}')
    [call] = one.calls
    assert (call.name, json.loads(call.arguments)) == ("list_agents", {"a": 1})
    assert text_of(events) == '{"self":"arya"}'
    assert not [each for each in events if isinstance(each, ToolBegan)], "it is written down where it runs"


@pytest.mark.parametrize("kind", SPOKEN)
async def test_an_interrupt_ends_a_prompt_that_would_not_end_and_the_session_goes_on(
    workshop: Workshop, kind: str
) -> None:
    async with session(workshop, kind) as one:
        pieces = one.driver.prompt(workshop.streaming)
        heard: list[CliEvent] = []
        async for piece in pieces:
            heard.append(piece)
            if isinstance(piece, TextDelta) and "word" in piece.text:
                break
        await one.driver.interrupt()
        heard += [piece async for piece in pieces]
        assert isinstance(heard[-1], PromptEnded)
        assert heard[-1].how is PromptEnding.INTERRUPTED
        again = await one.prompt("! say still here")
    assert text_of(again) == "still here"


@pytest.mark.parametrize("kind", SPOKEN)
async def test_a_session_is_resumed_by_another_process(workshop: Workshop, kind: str) -> None:
    async with session(workshop, kind) as one:
        await one.prompt("! say first")
        name = one.opened.session
    async with session(workshop, kind, name) as one:
        assert one.opened == OpenedSession(name, one.opened.version, resumed=True)
        await one.prompt("! say second")
    [kept] = (workshop.person / ".fake_clis").glob("*.json")
    assert len(json.loads(kept.read_text())["prompts"]) == 2


@pytest.mark.parametrize("kind", SPOKEN)
async def test_a_session_that_is_gone_is_said_to_be_lost(workshop: Workshop, kind: str) -> None:
    with pytest.raises(SessionLost):
        async with session(workshop, kind, "11111111-1111-4111-8111-111111111111"):
            pass


@pytest.mark.parametrize("kind", SPOKEN)
async def test_a_program_that_dies_is_said_to_have_died(workshop: Workshop, kind: str) -> None:
    async with session(workshop, kind) as one:
        with pytest.raises(CliDied):
            await one.prompt("! say half\n! die")
        assert not one.driver.alive


@pytest.mark.parametrize("kind", SPOKEN)
async def test_what_the_provider_says_of_a_failure_is_no_text(workshop: Workshop, kind: str) -> None:
    async with session(workshop, kind) as one:
        events = await one.prompt("! fail the key is wrong")
    assert text_of(events) == ""
    assert isinstance(events[-1], PromptEnded)
    assert events[-1].how is PromptEnding.ERROR
    assert "the key is wrong" in events[-1].why


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize("kind", SPOKEN)
async def test_a_wish_is_put_to_whoever_decides_and_allowed_only_once(
    workshop: Workshop, kind: str, allowed: bool
) -> None:
    async with session(workshop, kind, allowed=allowed) as one:
        events = await one.prompt("! wish Bash rm -rf build")
    assert [request.action for request in one.requests] == ["rm -rf build"]
    said = text_of(events)
    assert (
        said.startswith("allow" if allowed else "deny")
        or said == f"o-{'allow' if allowed else 'reject'}_once"
    )


@pytest.mark.parametrize("kind", SPOKEN)
async def test_noise_on_its_output_is_skipped(workshop: Workshop, kind: str) -> None:
    async with session(workshop, kind) as one:
        assert text_of(await one.prompt("! noise\n! say fine")) == "fine"


@pytest.mark.parametrize("kind", SPOKEN)
async def test_what_a_prompt_used_is_told_before_its_end(workshop: Workshop, kind: str) -> None:
    async with session(workshop, kind) as one:
        events = await one.prompt("! say something")
    used = [each for each in events if isinstance(each, UsageReport)][-1]
    assert used.usage.input_tokens >= 1000
    assert used.usage.output_tokens > 0
    assert used.total_usd == (0.01 if kind == "claude" else None)


@pytest.mark.parametrize("kind", ["codex", "acp"])
async def test_a_request_that_nobody_knows_is_answered_as_unknown(workshop: Workshop, kind: str) -> None:
    async with session(workshop, kind) as one:
        assert text_of(await one.prompt("! unknown")) == "-32601"


async def test_acp_takes_a_line_of_five_mebibytes(workshop: Workshop) -> None:
    async with session(workshop, "acp") as one:
        assert text_of(await one.prompt("! long")) == "after the long line"


async def test_acp_sends_a_prompt_again_that_was_cancelled_by_nobody(workshop: Workshop) -> None:
    async with session(workshop, "acp") as one:
        assert text_of(await one.prompt("! stray")) == "the second time"


async def test_acp_sets_the_mode_where_the_default_is_to_do_everything(workshop: Workshop) -> None:
    async with session(workshop, "acp") as one:
        assert text_of(await one.prompt("! mode")) == "mode default"


async def test_acp_without_resume_says_that_the_session_is_lost(workshop: Workshop) -> None:
    workshop.script("fakeacp", f'exec "{sys.executable}" -m moot.testing.fake_cli.run acp --no-resume')
    with pytest.raises(SessionLost):
        async with session(workshop, "acp", "11111111-1111-4111-8111-111111111111"):
            pass


async def test_acp_answers_a_wish_that_is_open_at_a_cancel(workshop: Workshop) -> None:
    asked = asyncio.Event()

    async def never(request: PermissionRequest) -> PermissionAnswer:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with session(workshop, "acp") as one:
        driver = one.driver
        assert isinstance(driver, AcpDriver)
        driver._setup = structs.replace(driver._setup, allow=never)
        prompting = asyncio.create_task(one.prompt("! wish Bash ls"))
        await asyncio.wait_for(asked.wait(), PATIENCE)
        await driver.interrupt()
        events = await asyncio.wait_for(prompting, PATIENCE)
    assert isinstance(events[-1], PromptEnded)
    assert events[-1].how is PromptEnding.INTERRUPTED


async def test_a_template_fills_in_its_marks_once_and_uses_no_shell(workshop: Workshop) -> None:
    driver = TemplateDriver(["printf", "%s|", "{prompt}", "{agent} in {project}", "$HOME;"])
    DRIVERS["printf"] = lambda: driver
    try:
        async with session(workshop, "printf") as one:
            events = await one.prompt("say {agent} `ls`")
    finally:
        del DRIVERS["printf"]
    assert text_of(events) == f"say {{agent}} `ls`|arya in {workshop.project('arya')}|$HOME;|"


async def test_a_template_that_fails_says_how(workshop: Workshop) -> None:
    DRIVERS["false"] = lambda: TemplateDriver(["sh", "-c", "echo half; echo broken >&2; exit 3"])
    try:
        async with session(workshop, "false") as one:
            events = await one.prompt("x")
    finally:
        del DRIVERS["false"]
    assert events[-1] == PromptEnded(PromptEnding.ERROR, "sh ended with exit code 3: broken")
