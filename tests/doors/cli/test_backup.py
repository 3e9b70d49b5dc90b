"""`moot backup`: made while others write, verified, put back whole or not at all."""

import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from moot.stores.sqlite.file import migrate
from tests.doors.cli.shell import Shell, Told
from tests.support.waiting import PATIENCE

Moot = Callable[..., Told]
SECRET = "sk-ant-canary-0123456789-x7Qa"


@pytest.fixture
def talked(shell: Shell, moot: Moot) -> Moot:
    """A home in which arya was greeted once."""
    (shell.home / "agents" / "arya").mkdir(parents=True)
    (shell.home / "agents" / "arya" / "SOUL.md").write_text("calm", encoding="utf-8")
    (shell.home / "agents" / "arya" / "token.txt").write_text(SECRET, encoding="utf-8")
    (shell.home / "keys.json").write_text(json.dumps({"anthropic": SECRET}), encoding="utf-8")
    (shell.home / "keys.json").chmod(0o600)
    assert moot("chat", "arya", "-m", "hello").code == 0
    return moot


def texts(moot: Moot) -> list[str]:
    return [
        message["text"] for message in moot("conv", "show", "direct-arya+user", "--json").json["messages"]
    ]


def made(moot: Moot) -> Path:
    return Path(moot("backup", "create", "--json").json["path"])


def open_mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def damage(path: Path) -> None:
    """Overwrite the second page and what follows it."""
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xde\xad" * 20_000)


@pytest.mark.req("P-07")
def test_a_backup_is_whole_by_itself_and_for_the_owner_alone(shell: Shell, talked: Moot) -> None:
    told = talked("backup", "create", "--json").json
    path = Path(told["path"])
    assert set(told) == {"path", "bytes", "messages"}
    assert (told["messages"], told["bytes"]) == (2, path.stat().st_size)
    assert path.parent == shell.home / "backups"
    assert open_mode(path) == 0o600
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, path.with_suffix(".files").name]
    [verified] = talked("backup", "verify", str(path), "--json").json
    assert (verified["sound"], verified["messages"], verified["problems"]) == (True, 2, [])


def test_settings_and_identity_files_lie_beside_it_and_secrets_do_not(talked: Moot) -> None:
    path = made(talked)
    beside = path.with_suffix(".files")
    names = sorted(str(p.relative_to(beside)) for p in beside.rglob("*") if p.is_file())
    assert names == ["agents/arya/SOUL.md", "moot.toml"]
    assert {open_mode(beside / name) for name in names} == {0o600}
    for kept in (path, *(beside / name for name in names)):
        assert SECRET.encode() not in kept.read_bytes()


@pytest.mark.req("P-07")
def test_restoring_brings_back_that_moment_and_keeps_what_was_there(shell: Shell, talked: Moot) -> None:
    path = made(talked)
    talked("chat", "arya", "-m", "later")
    assert len(texts(talked)) == 4
    told = talked("backup", "restore", str(path), "--yes", "--json")
    assert (told.code, told.json["messages"]) == (0, 2)
    assert texts(talked) == ["hello", "arya heard: hello"]
    safety = Path(told.json["safety"])
    assert talked("backup", "restore", safety.name, "--yes").code == 0
    assert len(texts(talked)) == 4
    assert talked("doctor").code == 0
    assert not list(shell.home.glob("moot.db.*"))


def test_numbers_that_were_given_are_not_given_again(talked: Moot, shell: Shell) -> None:
    path = made(talked)
    talked("chat", "arya", "-m", "later")
    last = newest_event(shell)
    assert talked("backup", "restore", str(path), "--yes").code == 0
    talked("chat", "arya", "-m", "another")
    assert newest_event(shell, first=True) > last


def newest_event(shell: Shell, *, first: bool = False) -> int:
    """The newest event's id; with `first`, the oldest among those that tell of the third message."""
    connection = apsw.Connection(str(shell.home / "moot.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        which = "SELECT min(id) FROM events WHERE seq = 3" if first else "SELECT max(id) FROM events"
        return int(str(connection.execute(which).get))
    finally:
        connection.close()


def test_without_a_path_the_newest_sound_one_is_taken(shell: Shell, talked: Moot) -> None:
    first = made(talked)
    talked("chat", "arya", "-m", "later")
    second = made(talked)
    damage(second)
    told = talked("backup", "restore", "--yes", "--json")
    assert told.json["path"] == str(first)
    assert talked("backup", "verify", second.name).code == 1


@pytest.mark.req("P-07")
def test_a_damaged_database_names_the_restore_that_mends_it(shell: Shell, talked: Moot) -> None:
    made(talked)
    damage(shell.home / "moot.db")
    told = talked("doctor")
    assert told.code == 1
    assert "moot backup restore" in told.out
    told = talked("backup", "restore", "--yes", "--json")
    assert told.code == 0
    kept = Path(told.json["safety"])
    assert kept.suffix == ".damaged"
    assert b"\xde\xad\xde\xad" in (kept / "moot.db").read_bytes()
    assert texts(talked) == ["hello", "arya heard: hello"]
    assert talked("doctor").code == 0


def test_a_log_without_its_database_does_not_stand_in_the_way(shell: Shell, talked: Moot) -> None:
    made(talked)
    (shell.home / "moot.db").unlink()
    (shell.home / "moot.db-wal").write_bytes(b"left over" * 100)
    assert talked("tail").code == 1
    assert talked("backup", "restore", "--yes").code == 0
    assert texts(talked) == ["hello", "arya heard: hello"]


def test_a_backup_that_is_damaged_replaces_nothing(shell: Shell, talked: Moot) -> None:
    path = made(talked)
    talked("chat", "arya", "-m", "later")
    damage(path)
    told = talked("backup", "restore", str(path), "--yes")
    assert told.code == 1
    assert told.err.startswith("error[E602]")
    assert len(texts(talked)) == 4
    assert not list(shell.home.glob("moot.db.*"))


def test_an_altered_message_is_found(talked: Moot) -> None:
    path = made(talked)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE messages SET content = 'forged' WHERE seq = 1")
    connection.close()
    told = talked("backup", "verify", str(path))
    assert told.code == 1
    assert "message 1 was altered" in told.out
    assert talked("backup", "restore", str(path), "--yes").code == 1
    assert texts(talked)[0] == "hello"


def test_a_backup_of_an_older_schema_is_brought_up_to_date(
    shell: Shell, talked: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(talked)
    steps = migrate.shipped()
    newer = migrate.Migration(steps[-1].number + 1, "CREATE TABLE extra (x INTEGER) STRICT;")
    monkeypatch.setattr(migrate, "shipped", lambda: (*steps, newer))
    [told] = talked("backup", "verify", str(path), "--json").json
    assert (told["sound"], told["schema"]) == (True, steps[-1].number)
    assert talked("backup", "restore", str(path), "--yes").code == 0
    assert texts(talked) == ["hello", "arya heard: hello"]
    of_newer = made(talked)
    monkeypatch.undo()
    refused = talked("backup", "restore", str(of_newer), "--yes")
    assert refused.code == 1
    assert refused.err.startswith("error[E601]")


def test_missing_files_come_back_and_others_stay_as_they_are(shell: Shell, talked: Moot) -> None:
    path = made(talked)
    (shell.home / "agents" / "arya" / "SOUL.md").unlink()
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    told = talked("backup", "restore", str(path), "--yes", "--json").json
    assert told["files"] == ["agents/arya/SOUL.md"]
    assert toml.read_text(encoding="utf-8").endswith("# mine\n")


def test_settings_from_elsewhere_are_left_for_the_owner_to_read(
    shell: Shell, talked: Moot, tmp_path: Path
) -> None:
    made = Path(talked("backup", "create", "--json").json["path"])
    elsewhere = tmp_path / "elsewhere"
    made.parent.rename(elsewhere)
    settings = (shell.home / "moot.toml").read_text()
    (shell.home / "moot.toml").unlink()
    restored = talked("backup", "restore", str(elsewhere / made.name), "--yes")
    assert restored.code == 0
    assert "also restored: moot.toml.restored" in restored.out
    assert "this backup is from elsewhere" in restored.out
    assert (shell.home / "moot.toml.restored").read_text() == settings
    assert not (shell.home / "moot.toml").exists()


def test_nobody_may_be_using_the_home(shell: Shell, talked: Moot) -> None:
    path = made(talked)
    hub = shell.start("up", "--json")
    assert hub.stdout is not None
    try:
        pid = json.loads(hub.stdout.readline())["pid"]
        told = shell.moot("backup", "restore", str(path), "--yes")
        assert told.code == 9
        assert told.err.startswith(f"error[E403] {shell.home} is in use: a hub is running (pid {pid})")
    finally:
        hub.terminate()
        hub.communicate(timeout=PATIENCE)


def test_whoever_else_has_it_open_is_named(shell: Shell, talked: Moot) -> None:
    path = made(talked)
    script = (
        "import apsw, sys\nc = apsw.Connection(sys.argv[1])\nc.execute('SELECT * FROM counters').fetchall()\n"
    )
    other = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"{script}print('open', flush=True)\nsys.stdin.read()",
            str(shell.home / "moot.db"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == b"open\n"
        told = shell.moot("backup", "restore", str(path), "--yes")
        assert told.code == 9
        assert f"process {other.pid} has it open" in told.err
    finally:
        other.communicate(b"", timeout=PATIENCE)
    assert shell.moot("backup", "restore", str(path), "--yes").code == 0


def test_a_daemon_that_lives_is_named(shell: Shell, talked: Moot) -> None:
    path = made(talked)
    pid = shell.moot("agent", "start", "arya", "--json").json["pid"]
    try:
        told = shell.moot("backup", "restore", str(path), "--yes")
        assert told.code == 9
        assert f"agent arya is running (pid {pid})" in told.err
        assert "fix   moot agent stop arya" in told.err
        assert shell.moot("backup", "create").code == 0
    finally:
        shell.moot("agent", "stop", "arya")
    assert shell.moot("backup", "restore", str(path), "--yes").code == 0


def test_it_asks_first(shell: Shell, talked: Moot) -> None:
    path = made(talked)
    told = talked("backup", "restore", str(path))
    assert told.code == 2
    assert "add --yes" in told.err


def test_without_anything_to_do_it_says_so(shell: Shell, moot: Moot) -> None:
    assert moot("backup", "create").code == 3
    assert moot("backup", "list", "--json").json == []
    assert moot("backup", "verify", "--json").json == []
    assert moot("backup", "restore", "--yes").code == 3
    assert moot("backup", "verify", "nothing").code == 3


def test_what_is_not_a_database_is_no_backup(shell: Shell, moot: Moot) -> None:
    for content in (b"", b"x" * 10_000):
        (shell.home / "letter.db").write_bytes(content)
        told = moot("backup", "verify", str(shell.home / "letter.db"))
        assert told.code == 1, content[:3]
        assert moot("backup", "restore", str(shell.home / "letter.db"), "--yes").code == 1


def test_a_backup_cut_short_is_not_one(shell: Shell, talked: Moot) -> None:
    path = made(talked)
    shutil.copy(path, path.with_name(path.name + ".partial"))
    path.unlink()
    assert talked("backup", "list", "--json").json == []
