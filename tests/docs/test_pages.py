"""The pages tell the truth: files they name exist, and the programs they show run."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moot.rules.words import search
from tests.doors.cli.shell import Shell
from tests.doors.http.up import Up

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PROGRAMS = [
    (page.relative_to(ROOT), number, block)
    for page in PAGES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
    if "asyncio.run(" in block
]


def test_the_life_of_a_message_names_only_files_that_exist_and_the_spine_among_them() -> None:
    text = (ROOT / "docs/explanation/life-of-a-message.md").read_text()
    named = set(re.findall(r"`(src/moot/[\w/]+\.py)`", text))
    assert {"src/moot/flow/post.py", "src/moot/rules/floor/group.py", "src/moot/flow/finish.py"} <= named
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@contextmanager
def a_hub_for(program: str, folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """A program that connects to a hub finds one, under the address that the page names and with a token."""
    if "Hub.connect(" not in program:
        yield program, dict(os.environ)
        return
    (folder / "home").mkdir(mode=0o700)
    hub = Up(folder / "home")
    hub.start()
    token = hub.token["Authorization"].removeprefix("Bearer ")
    try:
        yield program.replace("http://127.0.0.1:8420", hub.url), {**os.environ, "MOOT_TOKEN": token}
    finally:
        assert hub.end(signal.SIGTERM) == 0


@pytest.mark.req("P-04")
@pytest.mark.parametrize(("page", "number", "program"), PROGRAMS, ids=lambda value: str(value)[:40])
def test_programs_shown_in_the_pages_run_twice(page: Path, number: int, program: str, tmp_path: Path) -> None:
    """Once, and once more in the same home: nobody tries a program only once."""
    script = tmp_path / "shown.py"
    with a_hub_for(program, tmp_path) as (shown, environment):
        script.write_text(shown)
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, str(script)],
                cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert done.stdout.strip(), "a program shown to people should say something"
            assert "Struct(" not in done.stdout
            assert "(message=" not in done.stdout, "a value shown to people should be readable"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_gives_the_command_another_meaning(page: Path) -> None:
    assert re.findall(r"^\s*(?:function )?moot ?\(\)|alias moot=", page.read_text(), re.MULTILINE) == []


def test_the_commands_of_the_tutorial_work_in_this_order(tmp_path: Path) -> None:
    page = (ROOT / "docs/tutorial/first-conversation.md").read_text()
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    assert len(lines) > 10
    tmp_path.chmod(0o700)
    shell = Shell(tmp_path)
    for line in lines:
        [moot, *words] = shlex.split(line)
        assert moot == "moot"
        done = shell.moot(*words)
        assert done.code == 0, f"{line}\n{done.err}"
        assert done.out.strip() or "--unread" in words, line
        if words[0] == "why" and len(words) > 1:  # of a message that asks somebody, not of a notice
            assert "  you, " in done.out.splitlines()[0], done.out


def test_the_page_on_search_names_every_operator_and_value() -> None:
    page = (ROOT / "docs/howto/search.md").read_text()
    named = {word for quoted in re.findall(r"`([^`\n]+)`", page) for word in re.findall(r"\w+:?", quoted)}
    wanted = {f"{word}:" for word in search.OPERATORS} | {v for of in search.VALUES.values() for v in of}
    assert wanted - named == set()
