"""The key of a coding CLI: it reaches the program, and nothing that the program runs can find it."""

import os
from pathlib import Path

import pytest

from moot.testing.fake_cli.codex import REFUSED, fingerprint
from tests.coding.test_interjection import direct
from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE

KEY = "sk-planted-key-of-codex"


def in_proc(workshop: Workshop) -> list[str]:
    """Environment and command line of every process of this workshop's person."""
    found: list[str] = []
    for pid in (name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()):
        try:
            environ = Path(f"/proc/{pid}/environ").read_bytes()
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:  # it has just ended
            continue
        if f"HOME={workshop.person}".encode() in environ.split(b"\0"):
            found.append((environ + line).decode("utf-8", "replace"))
    return found


def files_with(workshop: Workshop, words: str) -> list[Path]:
    files = [file for file in workshop.root.rglob("*") if file.is_file() and not file.is_symlink()]
    return [file for file in files if words.encode() in file.read_bytes()]


@pytest.mark.req("J-08")
@pytest.mark.parametrize("sandbox", ["none", "bwrap"])
async def test_codex_uses_a_key_that_nothing_it_runs_can_find(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, sandbox: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    workshop.agent("arya", "codex", credential="api-key", sandbox=sandbox)
    look = (
        """for up in $PPID $$; do tr '\\0' '\\n' < /proc/$up/environ; done; grep -rl "planted"-key $HOME ."""
    )
    async with workshop.hub() as hub:
        assert (await hub.ask("arya", "! key", timeout=PATIENCE)).text == fingerprint(KEY)
        programs = in_proc(workshop)
        seen = (await hub.ask("arya", f"! run {look} || echo nowhere", timeout=PATIENCE)).text
        assert files_with(workshop, KEY) == []
    assert [text for text in programs if "app-server" in text], "codex ran"
    assert not [text for text in programs if KEY in text]
    assert "PATH=" in seen
    assert KEY not in seen
    assert seen.endswith("nowhere\n")


async def test_a_codex_that_is_started_again_is_given_its_key_again(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    workshop.agent("arya", "codex", credential="api-key")
    for _ in range(2):
        async with workshop.hub() as hub:
            assert (await hub.ask("arya", "! key", timeout=PATIENCE)).text == fingerprint(KEY)


async def test_a_codex_that_logs_in_by_itself_is_given_no_key(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    workshop.agent("arya", "codex")
    async with workshop.hub() as hub:
        assert (await hub.ask("arya", "! key", timeout=PATIENCE)).text == "no key"


async def test_a_key_that_codex_does_not_take_is_named_and_not_shown(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY + REFUSED)
    workshop.agent("arya", "codex", credential="api-key")
    async with workshop.hub() as hub:
        await hub.send("arya", "hello")
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=PATIENCE)
        notice = (await hub.messages(where))[-1]
        assert files_with(workshop, KEY) == []
    assert notice.sender == "system"
    assert "it did not take its key: invalid key ***" in notice.text


@pytest.mark.parametrize("cli", ["claude", "codex", "acp"])
async def test_a_provider_that_repeats_the_key_shows_it_to_nobody(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, cli: str
) -> None:
    """The key of a variable that moot.toml names, and one of a login that Moot does not know."""
    named, of_login = "0123456789-of-a-person", "sk-ant-of-a-login"
    monkeypatch.setenv("SOME_KEY", named)
    workshop.agent("arya", cli, environment=["SOME_KEY"])
    async with workshop.hub() as hub:
        await hub.send("arya", f"! fail 401 invalid key {named}, {of_login}, Bearer abc.defghi: log in again")
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=PATIENCE)
        notice = (await hub.messages(where))[-1]
        [turn] = await hub.turns(agent="arya")
    assert notice.sender == "system"
    assert "401 invalid key ***, sk-***, Bearer ***: log in again" in notice.text
    assert str(turn.error) in notice.text
