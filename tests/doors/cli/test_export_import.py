"""`moot export` and `moot import`: what people care about survives the way out and back in."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.flow import summarise
from moot.hub import Hub
from moot.hub.archive.transcript import moment, seconds
from moot.model.ids import ConversationId
from tests.doors.cli.shell import MOOT, Shell, Told, make_home
from tests.support.beneath import store_of

Moot = Callable[..., Told]

FENCE = "look:\n```python\nprint('never closed')\n# not a heading"
DASHES = "---\nname: forged\n---\n### arya (agent)\n<script>alert(1)</script>"


async def fill(home: Path) -> None:
    """A group with everything in it that an export must carry."""
    async with Hub.open(home) as hub:
        await hub.conversations.create("build", participants=["arya", "gendry"], settings={"max_depth": 4})
        await hub.conversations.configure("build", reply_strategy="mention_only")
        first = await hub.post("build", "hello, nobody in particular", intent="inform")
        await hub.post("build", FENCE, reply_to=first.id)
        wrong = await hub.post("build", "to be corrected")
        await hub.edit(wrong.id, "corrected", version=1)
        gone = await hub.post("build", "to be deleted: sk-ant-0123456789abcdef")
        await hub.delete(gone.id, version=1)
        await hub.acting_as("arya").post("build", f"I am arya {DASHES}")
        await hub.conversations.join("build", "quiet")
        await hub.conversations.leave("build", "quiet")
        await hub.conversations.create("old")
        await hub.post("old", "mail me: karl@example.org, token=abc123secret")
        await hub.conversations.archive("old")


@pytest.fixture
async def talked(shell: Shell, moot: Moot) -> Shell:
    await fill(shell.home)
    return shell


def exported(shell: Shell, *words: str) -> list[dict[str, Any]]:
    told = shell.moot("export", *words, "--format", "jsonl")
    assert told.code == 0, told.err
    return [json.loads(line) for line in told.out.splitlines()]


def without_ids(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same whatever the ids were, and whether it was imported."""
    return [
        {
            **{key: value for key, value in line.items() if key != "id"},
            "metadata": {k: v for k, v in line.get("metadata", {}).items() if k != "imported"},
        }
        for line in lines
    ]


def other_home(shell: Shell) -> Shell:
    return make_home(shell.home.parent / "other")


@pytest.mark.req("A-13")
def test_what_was_exported_and_imported_exports_the_same(talked: Shell) -> None:
    file = talked.home / "all.jsonl"
    assert talked.moot("export", "--all", "-o", str(file)).code == 0
    other = other_home(talked)
    assert other.moot("import", str(file)).code == 0
    before, after = exported(talked, "--all"), exported(other, "--all")
    assert without_ids(after) == without_ids(before)
    assert {line["id"] for line in before if "id" in line}.isdisjoint(
        line["id"] for line in after if "id" in line
    )
    assert other.moot("doctor").code == 0
    again = other.home / "again.jsonl"
    assert other.moot("export", "--all", "-o", str(again)).code == 0
    third = make_home(talked.home.parent / "third")
    assert third.moot("import", str(again)).code == 0
    assert without_ids(exported(third, "--all")) == without_ids(before)


def test_equal_content_gives_equal_bytes(talked: Shell) -> None:
    first = talked.moot("export", "--all", "--format", "jsonl").out
    assert talked.moot("export", "--all", "--format", "jsonl").out == first
    header = json.loads(first.splitlines()[0])
    assert header == {"type": "moot-export", "version": 1}


def test_the_lines_hold_what_people_care_about(talked: Shell) -> None:
    lines = exported(talked, "build")
    [room] = [line for line in lines if line["type"] == "conversation"]
    assert room["settings"] == {"max_depth": 4, "reply_strategy": "mention_only"}
    assert [seat["name"] for seat in room["participants"]] == ["user", "arya", "gendry"]
    said = {line["seq"]: line for line in lines if line["type"] == "message"}
    assert (said[1]["intent"], said[2]["reply_to"]) == ("inform", 1)
    assert (said[3]["text"], said[3]["version"]) == ("corrected", 2)
    assert (said[4].get("text", ""), said[4]["deleted"], said[4]["version"]) == ("", True, 2)
    assert (said[5]["from"], said[5]["kind"]) == ("arya", "agent")
    assert {said[n]["from"] for n in (6, 7)} == {"system"}
    assert lines[-1] == {"type": "end", "messages": 7}


@pytest.mark.req("A-13")
def test_imported_messages_keep_author_time_and_order_and_owe_nobody_a_turn(talked: Shell) -> None:
    file = talked.home / "build.jsonl"
    talked.moot("export", "build", "-o", str(file))
    told = talked.moot("import", str(file), "--json")
    [brought] = told.json["conversations"]
    assert (brought["name"], brought["called"], brought["messages"]) == ("build", "build-2", 7)
    assert all(person["known"] for person in told.json["people"])
    origin = talked.moot("conv", "show", "build", "--json").json
    copy = talked.moot("conv", "show", "build-2", "--json").json
    pairs = list(zip(origin["messages"], copy["messages"], strict=True))
    for old, new in pairs:
        assert (new["from"], new["kind"], new["at"], new["text"]) == (
            old["from"], old["kind"], old["at"], old["text"]
        )  # fmt: skip
        assert new["metadata"]["imported"]["id"] == old["id"]
    assert talked.moot("turns", "--conv", "build-2", "--json").json == []
    assert copy["created_at"] == origin["created_at"]
    assert copy["updated_at"] == origin["updated_at"]


async def test_imported_messages_are_read_by_everybody(talked: Shell) -> None:
    file = talked.home / "build.jsonl"
    talked.moot("export", "build", "-o", str(file))
    assert talked.moot("import", str(file)).code == 0
    async with Hub.open(talked.home) as hub:
        found = await hub._core.directory.conversation("build-2")
        members = await store_of(hub).members(found.id)
        assert [member.cursor for member in members] == [7, 7, 7]
        assert await hub.inspector.unsettled("build-2") == []


def test_a_conversation_goes_on_after_its_import(talked: Shell) -> None:
    file = talked.home / "build.jsonl"
    talked.moot("export", "build", "-o", str(file))
    other = other_home(talked)
    assert other.moot("import", str(file)).code == 0
    told = other.moot("send", "--conv", "build", "@arya and now?", "--json").json
    assert [reply["text"] for reply in told["replies"]] == ["arya heard: arya and now?"]
    assert told["receipt"]["seq"] == 8


@pytest.mark.req("A-13")
def test_the_same_file_twice_changes_nothing(talked: Shell) -> None:
    file = talked.home / "all.jsonl"
    talked.moot("export", "--all", "-o", str(file))
    other = other_home(talked)
    first = other.moot("import", str(file), "--json").json
    second = other.moot("import", str(file), "--json").json
    assert [c["state"] for c in first["conversations"]] == ["new", "new"]
    assert [c["state"] for c in second["conversations"]] == ["there", "there"]
    assert len(exported(other, "--all")) == len(exported(talked, "--all"))


def test_an_interrupted_import_goes_on_where_it_stopped(talked: Shell) -> None:
    file = talked.home / "all.jsonl"
    talked.moot("export", "--all", "-o", str(file))
    other = other_home(talked)
    code = (
        "import sys\nfrom moot.hub.archive import import_ as importing\nfrom moot.cli.app import run\n"
        "importing.BATCH = 2\nsend = importing.Import._send\ncalls = []\n"
        "async def some(self, room, batch):\n    calls.append(1)\n"
        "    if len(calls) == 3: raise OSError('cut')\n    await send(self, room, batch)\n"
        "importing.Import._send = some\nsys.exit(run(['import', sys.argv[1]]))\n"
    )
    cut = subprocess.run(
        [sys.executable, "-c", code, str(file)], env=other.environ(), capture_output=True, check=False
    )
    assert cut.returncode == 1, cut.stderr
    assert other.moot("conv", "list", "--json").json == [], "half a conversation is not open to anybody"
    preview = other.moot("import", str(file), "--dry-run", "--json").json["conversations"]
    assert [(c["state"], c["messages"]) for c in preview] == [("resumed", 3), ("resumed", 1)]
    assert other.moot("import", str(file)).code == 0
    assert without_ids(exported(other, "--all")) == without_ids(exported(talked, "--all"))
    assert other.moot("doctor").code == 0


def test_a_dry_run_tells_and_stores_nothing(talked: Shell) -> None:
    file = talked.home / "build.jsonl"
    talked.moot("export", "build", "-o", str(file))
    other = make_home(talked.home.parent / "other", agents={"gendry": "echo"})
    before = other.moot("agents", "list", "--json").json
    told = other.moot("import", str(file), "--dry-run")
    assert told.out == ('would import "build", 7 messages\n  arya (agent) is new here, without credentials\n')
    assert other.moot("conv", "list", "--json").json == []
    assert other.moot("agents", "list", "--json").json == before


def test_a_person_is_never_taken_for_an_agent_nor_an_agent_for_a_person(talked: Shell) -> None:
    file = talked.home / "build.jsonl"
    talked.moot("export", "build", "-o", str(file))
    other = make_home(talked.home.parent / "other", agents={"gendry": "echo"}, more='[hub]\nuser = "arya"\n')
    people = {p["name"]: p for p in other.moot("import", str(file), "--json").json["people"]}
    assert people["arya"]["called"] == "arya-imported"
    assert people["user"] == {"name": "user", "kind": "human", "called": "user", "known": False}
    said = other.moot("conv", "show", "build", "--json").json["messages"][4]
    assert (said["from"], said["kind"]) == ("arya-imported", "agent")
    agents = {a["name"]: a for a in other.moot("agents", "list", "--json").json}
    assert (agents["arya-imported"]["kind"], agents["arya-imported"]["reachability"]) == ("external", "away")
    again = {p["name"]: p for p in other.moot("import", str(file), "--json").json["people"]}
    assert again["arya"]["called"] == "arya-imported"


# --- broken files -------------------------------------------------------------------------------------------

HEADER = '{"type":"moot-export","version":1}'
PERSON = '{"type":"person","name":"user","kind":"human"}'
AT = "2027-01-15T08:00:00.000000Z"
ROOM = (
    f'{{"type":"conversation","id":"c1","name":"x","kind":"group","created_at":"{AT}","updated_at":"{AT}",'
    f'"participants":[{{"name":"user","joined_at":"{AT}"}}]}}'
)
END = '{"type":"end","messages":1}'


def said(**fields: Any) -> str:
    return json.dumps(
        {"type": "message", "seq": 1, "from": "user", "kind": "human", "at": AT, "text": "hi", **fields}
    )


GOOD = f"{HEADER}\n{PERSON}\n{ROOM}\n{said()}\n{END}"


@pytest.mark.parametrize(
    ("lines", "number", "reason"),
    [
        ([], 0, "the file is empty"),
        (["hello"], 1, "not a Moot export"),
        (['[{"from":"arya"}]'], 1, "not a Moot export"),
        ([PERSON], 1, "not a Moot export"),
        (['{"type":"moot-export","version":9}'], 1, "an export of version 9; this version of Moot reads version 1"),
        ([HEADER, "{"], 2, "input data was truncated"),
        ([HEADER, '{"type":"poem"}'], 2, "invalid value 'poem'"),
        ([HEADER, PERSON, ROOM, said(), END, "\x00"], 6, "malformed"),
        ([HEADER, ROOM], 2, 'no earlier person line describes "user"'),
        ([HEADER, PERSON, said()], 3, "message line outside a conversation"),
        ([HEADER, PERSON, ROOM, said(seq=2), END], 4, "expected message 1, got message 2"),
        ([HEADER, PERSON, ROOM, said()], 4, "the file ends in the middle of x"),
        ([HEADER, PERSON, ROOM, said(), '{"type":"end","messages":2}'], 5, "it says 2 messages"),
        ([HEADER, PERSON, ROOM, said(mood="good"), END], 4, "object contains unknown field `mood`"),
        ([HEADER, PERSON, ROOM, said(kind="agent"), END], 4, "a message of kind agent from user, who is human"),
        ([HEADER, PERSON, ROOM, said(**{"from": "system"}), END], 4, "a message of kind human from system"),
        ([HEADER, PERSON, ROOM, said(reply_to=1), END], 4, "reply_to 1 must be lower than the message's own number 1"),
        ([HEADER, PERSON, ROOM, said(at="soon"), END], 4, '"soon" is not a time'),
        ([HEADER, PERSON, ROOM, said(at="2027-01-15T08:00:00"), END], 4, "is not a time"),
        ([HEADER, PERSON, ROOM, said(text="a\x00b"), END], 4, "text: expected a text without U+0000"),
        ([HEADER, PERSON, ROOM, said(text="x" * 300_000), END], 4, "text: expected at most 262144 bytes"),
        ([HEADER, PERSON, ROOM, said(mentions=["nobody"]), END], 4, 'no earlier person line describes "nobody"'),
        ([HEADER, PERSON, ROOM, said(root=7), END], 4, "root: a chain cannot begin after the message"),
        ([HEADER, PERSON, ROOM, said(root="somewhere"), END], 4, "root: 'somewhere' is not a message address"),
        ([HEADER, PERSON, ROOM, said(deleted=True), END], 4, "it is marked as deleted but has a text"),
        ([HEADER, PERSON, ROOM.replace('"group"', '"club"'), said(), END], 3, 'unknown kind of conversation "club"'),
        ([HEADER, PERSON, ROOM.replace('"x"', '"-x"'), said(), END], 3, '"-x" cannot be used as its name'),
        ([HEADER, PERSON.replace("human", "god"), ROOM, said(), END], 2, "user (god) cannot be a participant"),
        ([HEADER, '{"type":"person","name":"system","kind":"agent"}'], 2, "system (agent) cannot be"),
    ],
)  # fmt: skip
def test_a_broken_line_is_named_and_nothing_is_stored(
    shell: Shell, moot: Moot, lines: list[str], number: int, reason: str
) -> None:
    file = shell.home / "file.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    told = moot("import", str(file))
    assert told.code == 2
    assert told.err.startswith(f"error[E204] file.jsonl:{number}: "), told.err
    assert reason in told.err
    assert "nothing was stored" in told.err
    assert moot("conv", "list", "--json").json == moot("conv", "list", "--archived", "--json").json == []


def test_the_good_file_of_the_table_above_is_taken(shell: Shell, moot: Moot) -> None:
    file = shell.home / "file.jsonl"
    file.write_text(GOOD, encoding="utf-8")
    assert moot("import", str(file)).out == 'imported "x", 1 messages\n'


def test_what_cannot_be_read_is_said(shell: Shell, moot: Moot) -> None:
    assert moot("import", str(shell.home / "nothing.jsonl")).code == 3
    assert moot("import", str(shell.home)).code == 3
    assert moot("export", "--all").code == 3
    assert shell.moot("import", "-", stdin=b"hello").err.startswith("error[E204] standard input:1:")


def test_standard_input_is_taken(talked: Shell) -> None:
    data = talked.moot("export", "old", "--format", "jsonl").out.encode()
    assert other_home(talked).moot("import", "-", stdin=data).out.startswith('imported "old", 1 messages\n')


# --- where it goes, and Markdown ----------------------------------------------------------------------------


def test_export_says_what_it_needs(talked: Shell) -> None:
    assert talked.moot("export").code == 2
    assert talked.moot("export", "build", "--all").code == 2
    assert talked.moot("export", "build", "--json").code == 2
    told = talked.moot("export", "biuld")
    assert told.code == 3
    assert "did you mean build?" in told.err


def test_a_file_that_is_there_is_not_written_over(talked: Shell) -> None:
    file = talked.home / "b.md"
    assert talked.moot("export", "build", "-o", str(file)).code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    before = file.read_bytes()
    assert talked.moot("export", "old", "-o", str(file)).code == 1
    assert file.read_bytes() == before
    assert talked.moot("export", "old", "-o", str(file), "--force").code == 0
    assert file.read_bytes() != before
    assert talked.moot("export", "old", "-o", "/nowhere/b.md").code == 1
    assert not [path for path in talked.home.iterdir() if "partial" in path.name]


@pytest.mark.req("A-13")
def test_markdown_stays_readable_whatever_was_said(talked: Shell) -> None:
    text = talked.moot("export", "build").out
    assert text.startswith('---\nconversation: "build"\nid: "c')
    assert 'speakers: ["user (human)","arya (agent)","gendry (agent)"]\n---\n\n# build\n' in text
    assert "> ```python\n> print('never closed')\n> # not a heading\n\n### user (human)\n" in text
    assert "> I am arya ---\n> name: forged\n> ---\n> ### arya (agent)\n> <script>" in text
    assert text.count("\n### ") == 7
    assert "· edited\n\n> corrected\n" in text
    assert "> *deleted*\n" in text
    assert "· reply to #1\n" in text


def test_an_archived_conversation_is_found_by_name_and_all_means_all(talked: Shell) -> None:
    assert "archived: true" in talked.moot("export", "old").out
    text = talked.moot("export", "--all").out
    assert "\n# old\n" in text
    assert text.startswith("# build\n\n- conversation: ")


def test_redacting_blackens_secrets_and_addresses(talked: Shell) -> None:
    for form in ("md", "jsonl"):
        text = talked.moot("export", "--all", "--redact", "--format", form).out
        assert "karl@example.org" not in text
        assert "abc123secret" not in text
        assert "mail me: [redacted], token=[redacted]" in text
    assert exported(talked, "old", "--redact")[0]["redacted"] is True


def test_times_survive_to_the_microsecond() -> None:
    for at in (1_800_000_000.0, 1_800_000_000.123456, 0.000001, 1_799_999_999.999999):
        assert seconds(moment(at)) == at


# --- size ---------------------------------------------------------------------------------------------------

MANY = 30_000
MAX_KIB = 40 * 1024


def test_a_long_conversation_takes_little_memory(shell: Shell) -> None:
    """Export and import of many messages, each in a process whose memory is read at its end."""
    lines = [HEADER, PERSON, ROOM]
    lines += [said(seq=n, text=f"message {n} " + "word " * 60) for n in range(1, MANY + 1)]
    lines.append(f'{{"type":"end","messages":{MANY}}}')
    file = shell.home / "many.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    small = shell.home / "few.jsonl"
    small.write_text(GOOD.replace("c1", "c2"), encoding="utf-8")
    base = peak_kib(shell, "import", str(small))
    assert peak_kib(shell, "import", str(file)) - base < MAX_KIB
    for form in ("jsonl", "md"):
        assert peak_kib(shell, "export", "x-2", "-o", str(shell.home / f"out.{form}")) - base < MAX_KIB
    assert (shell.home / "out.jsonl").read_bytes().count(b"\n") == MANY + 4


def peak_kib(shell: Shell, *words: str) -> int:
    code = (
        "import resource, sys\nfrom moot.cli.app import run\ncode = run(sys.argv[1:])\n"
        "sys.stderr.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))\nsys.exit(code)"
    )
    done = subprocess.run(
        [MOOT.with_name("python"), "-c", code, *words], env=shell.environ(), capture_output=True, check=True
    )
    return int(done.stderr.split()[-1])


# --- summaries, chains over several conversations -------------------------------------------------------------


async def test_summaries_come_along(talked: Shell) -> None:
    async with Hub.open(talked.home) as hub:
        where = (await hub.conversations.get("build")).id
        for epoch, upto in enumerate((2, 5)):
            command = summarise.Summarise(ConversationId(where), epoch, upto, f"all up to {upto}", "demo/1")
            await hub._core.do(summarise, command)
    lines = exported(talked, "build")
    assert [line["text"] for line in lines if line["type"] == "summary"] == ["all up to 2", "all up to 5"]
    file = talked.home / "build.jsonl"
    talked.moot("export", "build", "-o", str(file))
    other = other_home(talked)
    assert other.moot("import", str(file)).code == 0
    assert without_ids(exported(other, "build")) == without_ids(lines)
    async with Hub.open(other.home) as hub:
        found = await hub._core.directory.conversation("build")
        assert (found.epoch, found.summarised) == (2, 5)


def test_a_chain_that_began_in_another_conversation_of_the_file_still_does(shell: Shell, moot: Moot) -> None:
    second = ROOM.replace('"c1"', '"c2"').replace('"x"', '"y"')
    both = [second, said(), said(seq=2, root="c9:4"), END.replace("1", "2")]
    lines = [HEADER, PERSON, ROOM, said(root="c2:1", hop=1), END, *both]
    file = shell.home / "two.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert moot("import", str(file)).code == 0
    x, y = (moot("conv", "show", name, "--json").json for name in ("x", "y"))
    assert x["messages"][0]["root"] == y["messages"][0]["id"]
    lost = y["messages"][1]
    assert lost["root"] == lost["id"]
    assert lost["metadata"]["imported"] == {"id": "c2:2", "root": "c9:4"}
