"""The how-to "a team of coding agents in three projects", as it is printed: its settings and its commands."""

import asyncio
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest

from moot.client import RemoteHub
from moot.settings import Home
from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE, until

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "run-coding-agents.md"
MOOT = Path(sys.executable).with_name("moot")
FLAGS = "--input-format --strict-mcp-config --setting-sources --permission-mode --session-id app-server"
WHO = {"claude": ("claude", "puppet"), "codex": ("codex", "abra"), "opencode": ("acp", "janus")}
"""Program of the page → the protocol it speaks, and whose part of the tour it plays."""


def block(kind: str) -> str:
    """The first of its kind on the page."""
    found = re.search(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


async def typed(line: str) -> str:
    process = await asyncio.create_subprocess_shell(f"exec {line}", stdin=DEVNULL, stdout=PIPE)
    out, _ = await asyncio.wait_for(process.communicate(), 2 * PATIENCE)
    return out.decode()


@pytest.mark.req("J-08")
async def test_the_page_works_as_printed(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    for program, (protocol, name) in WHO.items():
        play = f'"{sys.executable}" -m moot.testing.fake_cli.run {protocol} "$@" --tour {name}'
        workshop.script(
            program, f'case "$*" in --version) echo 9.9.9;; --help) echo {FLAGS};; *) exec {play};; esac'
        )
    (workshop.bin / "moot").symlink_to(MOOT)
    monkeypatch.setenv("MOOT_HUB__PORT", "0")
    monkeypatch.setenv("PATH", f"{workshop.bin}:/usr/bin:/bin")
    home = Home(workshop.person / ".moot")
    home.path.mkdir(mode=0o700)
    home.toml.write_text(block("toml"))
    for name, file in (("puppet", "driver.toml"), ("abra", "personas.toml"), ("janus", "panel.toml")):
        (workshop.person / "work" / name).mkdir(parents=True)
        (workshop.person / "work" / name / file).write_text("port = 9223\n")
    doctor, up, chat = [line.partition("#")[0].strip() for line in block("sh").splitlines()]
    looked = await typed(doctor)
    for name in ("puppet", "abra", "janus"):
        assert f"{name}: " in looked
    assert "not installed" not in looked
    hub = await asyncio.create_subprocess_shell(f"exec {up}", stdin=DEVNULL, stdout=DEVNULL)
    try:
        found = await until(lambda: RemoteHub.find(home), lambda one: one is not None)
        assert found is not None
        assert "I have asked puppet, who keeps the driver." in await typed(chat)

        async def everything() -> list[str]:
            places = await found.conversations.list()
            return [one.text.strip() for place in places for one in await found.messages(place.id)]

        done = "Done: the personas use port 9223. I may not push by myself, so I have asked you."
        said = await until(everything, lambda texts: done in texts)
        await found.close()
    finally:
        hub.terminate()
        await asyncio.wait_for(hub.wait(), PATIENCE)
    assert "It listens on 9223; it stands in driver.toml." in said
    assert (workshop.person / "work" / "abra" / "personas.toml").read_text() == "port=9223\n"
