"""Ways out of the sandbox, each tried for real. None may work.

An attempt is a script that runs inside. It has escaped when it prints the secret or the word ESCAPED, or when a file
outside the project is not as it was. Where an attempt is harmless it is also made without the sandbox and must succeed
there: an attempt that could not work anywhere would prove nothing.
"""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.tools import ShellTool
from tests.sandbox.attempts import ATTEMPTS, Attempt
from tests.sandbox.conftest import SECRET, World
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("K-10")


@pytest.fixture
def listeners(world: World) -> Iterator[dict[str, str]]:
    """Servers that tell the secret to whoever connects, and the words that stand for them in a script."""
    abstract = f"moot-{os.getpid()}-{world.project.parent.name}"
    shared = Path("/dev/shm") / abstract
    shared.write_text(SECRET, encoding="utf-8")
    here = Path.cwd()
    os.chdir(world.outside)  # the address of a socket is short, a path of a test may not be
    tcp, named, hidden = socket.socket(), socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    tcp.bind(("127.0.0.1", 0))
    named.bind("sock")
    hidden.bind(f"\0{abstract}")
    os.chdir(here)
    for server in (tcp, named, hidden):
        server.listen()

    def serve(server: socket.socket) -> None:
        try:
            while True:
                connection, _ = server.accept()
                connection.sendall(SECRET.encode())
                connection.close()
        except OSError:
            return

    threads = [threading.Thread(target=serve, args=(server,), daemon=True) for server in (tcp, named, hidden)]
    for thread in threads:
        thread.start()
    yield {
        "OUTSIDE": str(world.outside),
        "PROJECT": str(world.project),
        "HOME/": f"{world.home}/",
        "'HOME": f"'{world.home}",
        "PID": str(os.getpid()),
        "PORT": str(tcp.getsockname()[1]),
        "ABSTRACT": abstract,
        "SHARED": abstract,
    }
    for server in (tcp, named, hidden):
        server.shutdown(socket.SHUT_RDWR)
        server.close()
    for thread in threads:
        thread.join(PATIENCE)
    shared.unlink()


def filled(script: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        script = script.replace(word, value)
    return script


def escaped(text: str) -> bool:
    """Whether it was printed; a traceback may quote it."""
    return any(line.startswith("ESCAPED") for line in text.splitlines())


def files(folder: Path) -> dict[str, str]:
    """Names and contents, sockets left out."""
    return {str(path): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
async def test_there_is_no_way_out(attempt: Attempt, world: World, listeners: dict[str, str]) -> None:
    outside, home = files(world.outside), files(world.home)
    result = await world.attempt(filled(attempt.script, listeners))
    assert SECRET not in result.text
    assert not escaped(result.text)
    assert (files(world.outside), files(world.home)) == (outside, home)
    assert not any(path.stat().st_mode & 0o6000 for path in world.project.iterdir() if path.exists())
    # It ended by being refused, not because the attempt itself was nonsense.
    assert "SyntaxError" not in result.text
    assert "NameError" not in result.text


@pytest.mark.parametrize(
    "attempt", [a for a in ATTEMPTS if a.works_without], ids=lambda attempt: attempt.name
)
async def test_the_same_attempt_works_without_a_sandbox(
    attempt: Attempt, world: World, listeners: dict[str, str]
) -> None:
    before = files(world.outside)
    result = await world.attempt(filled(attempt.script, listeners), walled=False)
    assert SECRET in result.text or escaped(result.text) or files(world.outside) != before, result.text


def test_more_ways_out_are_tried_than_were_asked_for() -> None:
    assert len({attempt.name for attempt in ATTEMPTS}) == len(ATTEMPTS) >= 25


async def test_what_a_run_leaves_behind_is_no_way_out_for_the_next(world: World) -> None:
    """A cover is found again by its path, so nothing on that path may change hands between two runs."""
    move = "import os\ntry: os.rename({!r}, 'moved')\nexcept OSError: pass\n"
    await world.attempt("".join(move.format(path) for path in ("state", "state/inner", "state/inner/.moot")))
    await world.attempt("import os\nos.makedirs('state/inner/.moot', exist_ok=True)")
    result = await world.run(["sh", "-c", "grep -r canary . ; find . -name keys.json"])
    assert SECRET not in result.text
    assert "keys.json" not in result.text
    assert (world.home / "keys.json").read_text() == SECRET


async def test_two_hidden_places_in_one_folder_are_both_covered(world: World) -> None:
    beside = world.home.parent / "elsewhere.db"
    beside.write_text(SECRET, encoding="utf-8")
    walled = world.walled
    walled.hidden = (world.home, beside, world.home / "run")
    result = await walled.run(
        {"argv": ["sh", "-c", "cat state/inner/elsewhere.db; grep -r canary state"]}, None
    )
    assert SECRET not in result.text
    assert "elsewhere.db: Permission denied" in result.text


@pytest.mark.parametrize("place", ["agents/mine", "agents/mine/work"])
async def test_no_workspace_is_a_project(place: str, world: World) -> None:
    """Its files are read as the owner's words."""
    mine = world.home / place
    mine.mkdir(parents=True)
    for tool in (world.walled, world.bare):
        shell = ShellTool(("sh",), mine, sandbox=tool.sandbox, hidden=(world.home,))
        result = await shell.run({"argv": ["sh", "-c", "echo kept > SOUL.md"]}, None)
        assert (result.failed, list(mine.iterdir())) == (True, [])
        assert "is Moot's own home, or inside it" in result.text


async def test_a_project_that_was_moved_is_not_followed(world: World) -> None:
    """An agent with the folder above could put a link in its place."""
    inner = world.project / "inner"
    inner.mkdir()
    tools = [
        ShellTool(("ls",), inner, sandbox=tool.sandbox, hidden=(world.home,))
        for tool in (world.walled, world.bare)
    ]
    assert [(await tool.run({"argv": ["ls"]}, None)).text for tool in tools] == [
        "exit code 0\n(no output)"
    ] * 2
    await world.attempt(
        "import os\nos.rmdir('inner')\nos.symlink('OUTSIDE', 'inner')".replace("OUTSIDE", str(world.outside))
    )
    assert inner.resolve() == world.outside
    for tool in tools:
        assert "is no longer the same folder" in (await tool.run({"argv": ["ls"]}, None)).text


async def test_words_stay_words(world: World) -> None:
    words = [
        "; id",
        "$(id)",
        "`id`",
        "*",
        "> made",
        "| cat",
        "&& id",
        "--help",
        "\\",
        "'",
        '"',
        "~",
        "a\nb",
        "grüß 你好",
    ]
    for walled in (True, False):
        result = await world.run(["printf", "<%s>", *words], walled=walled)
        assert result.text == "exit code 0\n" + "".join(f"<{word}>" for word in words)
    assert not (world.project / "made").exists()


async def test_a_program_of_the_same_name_in_the_project_is_not_run(world: World) -> None:
    fake = world.project / "ls"
    fake.write_text("#!/bin/sh\necho ESCAPED\n", encoding="utf-8")
    fake.chmod(0o755)
    for walled in (True, False):
        result = await world.run(["ls"], walled=walled)
        assert "exit code 0" in result.text
        assert "ESCAPED" not in result.text


@pytest.mark.parametrize("cwd", ["linked-folder", "state/inner/.moot", "state/inner/.moot/run", "..", "/"])
async def test_a_folder_outside_or_hidden_is_refused(cwd: str, world: World) -> None:
    result = await world.run(["ls"], cwd=cwd)
    assert result.failed
    assert "cwd" in result.text
    assert "exit code" not in result.text


async def test_a_folder_inside_is_where_it_runs(world: World) -> None:
    (world.project / "src").mkdir()
    for walled in (True, False):
        result = await world.run(["python3", "-c", "import os; print(os.getcwd())"], walled=walled, cwd="src")
        assert result.text == f"exit code 0\n{world.project / 'src'}"


async def test_terminal_sequences_do_not_come_through(world: World) -> None:
    result = await world.run(["printf", r"\033]0;owned\007\033[31mred\033[0m\b\r!"])
    assert result.text == "exit code 0\nred\ufffd\n!"


async def test_work_is_still_possible(world: World) -> None:
    """The wall has a door: the project itself."""
    script = "echo x > made && mkdir /tmp/t && echo y > /tmp/t/z && cat /tmp/t/z && id -un && date +%Z && sort < made"
    result = await world.run(["sh", "-c", script])
    assert not result.failed, result.text
    assert result.text.splitlines()[1:3] == ["y", "agent"]
    assert (world.project / "made").read_text() == "x\n"
    assert (world.project / "made").stat().st_uid == os.getuid()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
async def test_git_works_inside(world: World) -> None:
    for command in ("git init -q .", "git config user.name a", "git config user.email a@b", "git add link"):
        assert not (await world.walled.run({"command": command}, None)).failed
    await world.walled.run({"command": "git commit -q -m 'one | two'"}, None)
    assert (await world.walled.run({"command": "git log --format=%s"}, None)).text == "exit code 0\none | two"
