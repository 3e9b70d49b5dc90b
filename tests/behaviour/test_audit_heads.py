"""Where chains stand is written down outside the database, so that cutting one off is found too."""

import json
import stat
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from moot import Hub, agent
from moot.hub.archive import backups
from moot.hub.process.heads_file import HeadsFile
from moot.model.records.audit import ChainEnd
from moot.rules.audit import KnownHead
from moot.settings import Home
from moot.testing import ManualClock
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("S-17")


@agent("arya")
async def arya(turn: Any) -> str:
    return "[PASS]"


def lines(home: Home) -> list[dict[str, Any]]:
    file = home.audit / "heads.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def test_a_hub_writes_down_each_minute_where_chains_stand(tmp_path: Path) -> None:
    clock, home = ManualClock(1_800_000_000.0), Home(tmp_path)
    async with Hub.open(tmp_path, agents=[arya], clock=clock, socket=home.hub_sock) as hub:
        await hub.conversations.create("room", participants=["arya"])

        async def length() -> int:
            return max((line["length"] for line in lines(home) if line["chain"] == "acts"), default=0)

        before = await until(length, lambda found: found > 0)
        await hub.post("room", "hello")
        await hub.links.create("user", "arya")
        assert await length() == before
        await clock.advance(61)
        await until(length, lambda found: found == before + 1)
        [room] = {line["chain"] for line in lines(home) if line["chain"].startswith("conversation:c")}
        assert room
        await hub.agents.pause("arya")
    assert await length() == before + 2, "at a clean stop too"
    assert stat.S_IMODE((home.audit / "heads.jsonl").stat().st_mode) == 0o600
    assert len({line["instance"] for line in lines(home)}) == 1


async def test_a_tail_that_was_cut_off_is_found_by_what_stands_outside(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with Hub.open(tmp_path, agents=[arya], socket=home.hub_sock) as hub:
        room = await hub.conversations.create("room", participants=["arya"])
        for text in ("one", "two", "three"):
            await hub.post("room", text)
        await hub.settled()
    connection = apsw.Connection(str(home.db))
    second = "SELECT hash FROM messages WHERE conversation = ? AND seq = 2"
    [(head,)] = connection.execute(second, (room.id,))
    connection.execute("DELETE FROM messages WHERE conversation = ? AND seq = 3", (room.id,))
    cut = "UPDATE conversations SET chain = ?, chain_length = 2, next_seq = 3 WHERE id = ?"
    connection.execute(cut, (head, room.id))
    connection.close()
    async with Hub.reading(tmp_path) as hub:
        report = await hub.audit.verify()
    assert [problem for problem in report.problems if room.id in problem and "had 3 once" in problem]
    (home.audit / "heads.jsonl").unlink()
    async with Hub.reading(tmp_path) as hub:
        assert (await hub.audit.verify()).ok, "without it nobody can tell: the stated limit"


async def test_a_conversation_that_vanished_is_missed_unless_somebody_erased_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with Hub.open(tmp_path, agents=[arya], socket=home.hub_sock) as hub:
        for name in ("kept", "gone"):
            await hub.conversations.create(name, participants=["arya"])
            await hub.post(name, "hello")
        await hub.settled()
    async with Hub.open(tmp_path, agents=[arya]) as hub:
        await hub.conversations.delete("gone")
        report = await hub.audit.verify()
        assert report.ok, report.problems
        assert [one.name for one in report.purged] == ["gone"]
        kept = (await hub.conversations.get("kept")).id
    connection = apsw.Connection(str(home.db))
    for table in ("messages", "members", "turns", "rounds"):
        connection.execute(f"DELETE FROM {table} WHERE conversation = ?", (kept,))
    connection.execute("DELETE FROM conversations WHERE id = ?", (kept,))
    connection.close()
    async with Hub.reading(tmp_path) as hub:
        report = await hub.audit.verify()
    assert [problem for problem in report.problems if kept in problem and "nobody erased it" in problem]


async def test_after_a_restore_the_file_is_set_aside(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with Hub.open(tmp_path, agents=[arya], socket=home.hub_sock) as hub:
        await hub.conversations.create("room", participants=["arya"])
    made = backups.create(home)
    async with Hub.open(tmp_path, agents=[arya], socket=home.hub_sock) as hub:
        await hub.post("room", "later")
        await hub.settled()
    backups.restore(home, made.path)
    assert not (home.audit / "heads.jsonl").exists()
    assert len(list(home.audit.glob("heads-*.jsonl"))) == 1, "what was known is kept"
    async with Hub.reading(tmp_path) as hub:
        report = await hub.audit.verify()
        assert report.ok, report.problems


def test_the_file_stays_small_and_keeps_the_newest_line_of_each_chain(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.make()
    file = HeadsFile(home, max_bytes=5000)
    for number in range(1, 200):
        ends = [ChainEnd(chain, number, f"{number:064x}") for chain in ("acts", "conversation:c1")]
        file.append(ends, "me", 1_800_000_000.0 + number)
        assert file.path.stat().st_size <= 5000
    newest = KnownHead(199, f"{199:064x}")
    assert HeadsFile(home).read() == {"acts": newest, "conversation:c1": newest}
    with file.path.open("ab") as torn:
        torn.write(b'{"instance":"me","at":"20')
    assert HeadsFile(home).read() == {"acts": newest, "conversation:c1": newest}


async def verified(home: Home) -> tuple[str, ...]:
    async with Hub.reading(home.path) as hub:
        return (await hub.audit.verify()).problems


async def test_a_line_that_was_altered_added_or_not_signed_is_found(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with Hub.open(tmp_path, agents=[arya], socket=home.hub_sock) as hub:
        await hub.links.create("user", "arya")
    file = home.audit / "heads.jsonl"
    whole = file.read_text()
    assert stat.S_IMODE((home.audit / "heads.key").stat().st_mode) == 0o600
    assert all(line["signature"] for line in lines(home))
    assert await verified(home) == ()
    first, *rest = whole.splitlines(keepends=True)
    number = f'"length":{json.loads(first)["length"]}'
    forged = {
        "was altered, or signed with another key": first.replace(number, '"length":99'),
        "is not signed": json.dumps({**json.loads(first), "signature": ""}) + "\n",
    }
    for words, line in forged.items():
        file.write_text("".join((line, *rest)))
        [problem] = await verified(home)
        assert problem == f"line 1 of audit/heads.jsonl {words}"
    file.write_text(whole)
    (home.audit / "heads.key").unlink()
    assert {problem.split("jsonl ")[1] for problem in await verified(home)} == {
        "is signed, and the key is missing"
    }
    async with Hub.open(tmp_path, socket=home.hub_sock):
        pass
    assert await verified(home) == (), "a new key begins a new file"
    [kept] = home.audit.glob("heads-unsigned-*.jsonl")
    assert kept.read_text() == whole


async def test_what_was_written_before_there_was_a_key_is_signed_when_it_is_made(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.path.mkdir()
    home.toml.write_text(f'[hub]\naudit_key = "{tmp_path / "elsewhere" / "key"}"\n')
    async with Hub.open(home.path, agents=[arya], socket=home.hub_sock):
        pass
    assert not (home.audit / "heads.key").exists()
    plain = [{**line, "signature": ""} for line in lines(home)]
    (home.audit / "heads.jsonl").write_text("".join(json.dumps(line) + "\n" for line in plain))
    (tmp_path / "elsewhere" / "key").unlink()
    assert await verified(home) == ()
    async with Hub.open(home.path, socket=home.hub_sock):
        pass
    assert len(lines(home)) >= len(plain)
    assert all(line["signature"] for line in lines(home))
    assert await verified(home) == ()


async def test_a_minute_begins_with_an_export_however_long_that_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, home = ManualClock(1_800_000_000.0), Home(tmp_path)
    slow, append, begun = threading.Event(), HeadsFile.append, list[float]()

    def append_slowly(file: HeadsFile, ends: list[ChainEnd], instance: str, at: float) -> int:
        begun.append(at)
        assert slow.wait(PATIENCE)
        return append(file, ends, instance, at)

    async def exports() -> int:
        return len(begun)

    monkeypatch.setattr(HeadsFile, "append", append_slowly)
    async with Hub.open(tmp_path, agents=[arya], clock=clock, socket=home.hub_sock):
        await until(exports, lambda count: count == 1)
        await clock.advance(61)
        slow.set()
        await until(exports, lambda count: count == 2)
