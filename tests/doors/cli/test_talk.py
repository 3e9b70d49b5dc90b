"""send, chat, why, conv, tail: what people do all day, without a hub running."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from moot import Hub
from tests.doors.cli.shell import Shell, Terminal, Told, make_home
from tests.support.waiting import PATIENCE

Moot = Callable[..., Told]
TIME = r"\d\d:\d\d"


def test_send_hosts_the_agent_itself_when_no_hub_runs(shell: Shell) -> None:
    told = shell.moot("send", "arya", "hello")
    assert told.code == 0
    assert re.fullmatch(rf"▲ arya, {TIME}, answering you:\narya heard: hello\n", told.out)
    assert told.err == ""


def test_the_json_of_send(moot: Moot) -> None:
    told = moot("send", "arya", "hello", "--json").json
    assert set(told) == {"receipt", "replies", "outcome"}
    assert told["outcome"] == "replied"
    [reply] = told["replies"]
    assert (reply["from"], reply["text"]) == ("arya", "arya heard: hello")
    [part] = told["receipt"]["deliveries"]
    assert (part["agent"], part["duty"], part["rule"]) == ("arya", "must", "direct")


@pytest.mark.parametrize(
    ("words", "outcome", "code"),
    [
        (("arya", "hello"), "replied", 0),
        (("quiet", "hello"), "passed", 0),
        (("broken", "hello"), "failed", 1),
        (("slow", "hello", "--timeout", "0.5"), "timed_out", 8),
        (("slow", "hello", "--no-wait"), "queued", 0),
    ],
)
def test_the_exit_code_tells_the_end(moot: Moot, words: tuple[str, ...], outcome: str, code: int) -> None:
    told = moot("send", *words, "--json")
    assert (told.json["outcome"], told.code) == (outcome, code)
    told = moot("send", *words)
    assert told.code == code


def test_the_same_key_stores_nothing_twice(moot: Moot) -> None:
    first = moot("send", "arya", "hello", "--idempotency-key", "k1", "--json").json
    again = moot("send", "arya", "hello", "--idempotency-key", "k1", "--json").json
    assert again["receipt"]["replayed"] is True
    assert again["receipt"]["id"] == first["receipt"]["id"]
    assert again["replies"] == first["replies"]
    other = moot("send", "arya", "something else", "--idempotency-key", "k1")
    assert (other.code, other.err[:11]) == (1, "error[E205]")


def test_an_agent_speaks_when_told_to(moot: Moot) -> None:
    told = moot("send", "--as", "arya", "quiet", "hello", "--json").json
    assert told["receipt"]["from"] == "arya"
    assert told["outcome"] == "passed"


def test_a_text_is_read_from_standard_input(shell: Shell) -> None:
    told = shell.moot("send", "arya", "-", "--json", stdin="grüße\nund mehr".encode())
    assert told.json["replies"][0]["text"] == "arya heard: grüße\nund mehr"


def test_words_after_conv_are_the_message(moot: Moot) -> None:
    moot("conv", "new", "work", "--with", "arya,quiet")
    told = moot("chat", "--conv", "work", "hey", "@arya")
    assert told.code == 0
    assert re.search(rf"arya, {TIME}, mentioned by you:\narya heard: hey arya\n", told.out)
    assert "status: quiet passed" in moot("chat", "--conv", "work", "@quiet?", "--plain").err


def test_chat_opens_the_one_conversation_of_a_set_of_names(moot: Moot) -> None:
    first = moot("chat", "arya", "quiet", "-m", "@arya hello", "--json").json
    again = moot("chat", "quiet", "arya", "-m", "@arya hello", "--json").json
    assert first["receipt"]["conversation"] == again["receipt"]["conversation"]


def test_lines_typed_into_a_chat(shell: Shell) -> None:
    shell.moot("conv", "new", "work", "--with", "arya,quiet")
    lines = "@arya one\n/nonsense\n//literal @arya\n/why 1\n/continue\n/help\n\n/quit\nnever read\n"
    told = shell.moot("chat", "--conv", "work", stdin=lines.encode())
    assert told.code == 0
    assert "will answer: nobody forced · arya, quiet may join · cap 3" in told.out
    assert "arya heard: arya one" in told.out
    assert "unknown command /nonsense; nothing was sent" in told.err
    assert "to send it as text: //nonsense" in told.err
    assert "arya heard: /literal arya" in told.out
    assert re.search(r"arya +had to +answered +mention +was mentioned", told.out)
    assert "nothing was stopped here" in told.out
    texts = [message["text"] for message in shell.moot("tail", "--conv", "work", "--json").json]
    assert [text for text in texts if not text.startswith("arya heard")] == ["@arya one", "/literal @arya"]


def test_what_takes_a_command_back_and_what_a_warning_advises_is_said_in_commands(
    shell: Shell, moot: Moot
) -> None:
    pair = moot("chat", "arya", "-m", "hi", "--json").json["receipt"]["conversation"]
    warned = moot("send", "--conv", pair, "@quiet?")
    assert "warning[E304] quiet is not in this conversation\n  fix   moot chat arya quiet\n" in warned.err
    told = moot("send", "--conv", pair, "@quiet?", "--json")
    assert [w["fix"] for w in told.json["receipt"]["warnings"]] == [["moot chat arya quiet"]]
    where = moot("conv", "new", "work", "--with", "arya", "--json").json["id"]
    terminal = Terminal(shell, "chat", "--conv", "work", "--plain")
    try:
        terminal.read_until("you ▸ ")
        terminal.type("/archive")
        terminal.read_until("[y/N] ")
        terminal.type("y")
        terminal.read_until(f"work is archived; to undo: moot conv unarchive {where}")
        assert terminal.process.wait(timeout=PATIENCE) == 0
    finally:
        terminal.close()
    assert moot("conv", "unarchive", where).code == 0


@pytest.mark.parametrize("plain", [False, True])
def test_a_chat_on_a_terminal_is_drawn_as_the_demo_is_unless_it_is_to_be_plain(
    shell: Shell, plain: bool
) -> None:
    shell.moot("conv", "new", "work", "--with", "arya,quiet")
    terminal = Terminal(shell, "chat", "--conv", "work", *(["--plain"] if plain else []))
    try:
        terminal.read_until("you ▸ ")
        terminal.type("@arya one")
        terminal.read_until("arya heard: arya one")
        terminal.read_until("turns 1 of 3")
        terminal.read_until("you ▸ ")
        terminal.type("/quit")
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert ("│ arya heard: arya one" in terminal.seen) != plain
        assert ("status: quiet passed" in terminal.seen) == plain
    finally:
        terminal.close()


@pytest.mark.req("M-02")
def test_why_explains_each_part_in_a_group_of_five(tmp_path: Path) -> None:
    team = {"arya": "echo", "caller": "caller", "gendry": "echo", "quiet": "quiet", "still": "quiet"}
    shell = make_home(tmp_path / "home", team)
    shell.moot("conv", "new", "five", "--with", "caller,arya,gendry,quiet,still")
    assert shell.moot("send", "--conv", "five", "@caller and @arya, please").code == 0
    told = shell.moot("why", "five:1")
    assert told.code == 0
    rows = {line.split()[1]: line for line in told.out.splitlines()[2:]}
    assert re.search(r"had to +answered +mention +was mentioned", rows["caller"])
    assert re.search(r"had to +answered +mention +was mentioned", rows["arya"])
    assert re.search(r"not asked +- +seen +read it in its turn for another message", rows["gendry"])
    assert re.search(r"could +(passed|queued) |blocked +blocked +cap", rows["quiet"])
    assert re.search(r"could +(passed|queued) |blocked +blocked +cap", rows["still"])
    found = shell.moot("why", "1", "--conv", "five", "--json").json
    assert [row["agent"] for row in found["agents"]] == ["caller", "arya", "gendry", "quiet", "still"]
    called = next(m for m in shell.moot("tail", "--json").json if m["from"] == "gendry")
    because = shell.moot("why", called["id"])
    assert "mentioned by caller; answers five:2" in because.out


@pytest.mark.req("M-02")
def test_silence_has_its_rule(moot: Moot) -> None:
    moot("conv", "new", "calm", "--with", "arya,gendry", "--strategy", "mention_only")
    moot("send", "--conv", "calm", "hello everybody")
    parts = moot("why", "calm:1", "--json").json["agents"]
    assert {(part["duty"], part["rule"]) for part in parts} == {("observes", "strategy")}
    shown = moot("why", "calm:1").out
    assert "not asked  -      strategy  was not mentioned, and reply_strategy is mention_only" in shown


@pytest.mark.req("M-02")
def test_why_tells_what_went_wrong_in_a_turn_that_failed(moot: Moot) -> None:
    receipt = moot("send", "broken", "hello", "--json").json["receipt"]
    [row] = moot("why", receipt["id"], "--json").json["agents"]
    assert (row["state"], row["error"]) == ("failed", "RuntimeError: it broke on purpose")
    assert "; it failed: RuntimeError: it broke on purpose" in moot("why", receipt["id"]).out


@pytest.mark.req("M-02")
def test_why_says_of_somebody_who_is_away_that_the_message_waits_and_what_starts_it(moot: Moot) -> None:
    moot("conv", "new", "room", "--with", "arya,quiet")
    moot("send", "--conv", "room", "@arya are you there?", "--no-wait")
    told = moot("why", "room:1").out
    assert "was mentioned; it is away, and the message waits for it" in told
    assert told.endswith("  fix   moot agent start arya\n")


@pytest.mark.req("M-02")
def test_who_was_not_asked_is_never_said_to_have_passed(moot: Moot) -> None:
    moot("conv", "new", "calm", "--with", "arya,quiet", "--strategy", "mention_only")
    moot("send", "--conv", "calm", "a note for later")
    moot("send", "--conv", "calm", "@quiet and now?")
    [unread, read] = moot("why", "calm:1", "--json").json["agents"]
    assert (unread["agent"], unread["duty"], unread["state"]) == ("arya", "observes", "queued")
    assert (read["agent"], read["duty"], read["state"]) == ("quiet", "observes", "seen")
    assert "passed" not in moot("why", "calm:1").out
    assert moot("why", "calm:2", "--json").json["agents"][1]["state"] == "passed"


@pytest.mark.req("M-02")
def test_a_notice_is_said_to_be_one(moot: Moot) -> None:
    moot("conv", "new", "calm", "--with", "arya,broken")
    moot("send", "--conv", "calm", "@broken?")
    shown = moot("why", "calm:2").out
    assert "  a notice from Moot: it asks nobody, so no agent answers it\n  it is about turn 1: " in shown
    reasons = {row["reason"] for row in moot("why", "calm:2", "--json").json["agents"]}
    assert reasons == {f"{name} was not asked: a notice asks nobody" for name in ("arya", "broken")}


@pytest.mark.req("M-02")
def test_without_an_address_the_last_message_is_explained_and_what_a_person_said_before_it(
    moot: Moot,
) -> None:
    assert moot("why").code == 3
    moot("conv", "new", "calm", "--with", "arya,quiet")
    moot("send", "--conv", "calm", "@quiet?")
    answer = moot("why", "--conv", "calm").out
    assert answer.startswith("calm:2  arya, ")
    assert "  said in turn 2, of its own accord; answers calm:1\n" in answer
    assert "\n\ncalm:1  you, " in answer
    assert moot("why", "--conv", "calm", "--json").json["message"].endswith(":2")
    moot("send", "--conv", "calm", "@quiet later", "--no-wait")  # a person's own message needs no second one
    assert moot("why").out.count("you, ") == 1
    moot("send", "broken", "hello")  # in a conversation of its own, which is archived; a notice comes last
    notice, question = moot("why").out.split("\n\n")
    assert "  a notice from Moot: it asks nobody, so no agent answers it\n  it is about turn " in notice
    assert question.splitlines()[0].endswith("hello")
    assert "it failed: RuntimeError: it broke on purpose" in question


def test_a_deleted_message_can_be_explained(shell: Shell, moot: Moot) -> None:
    moot("conv", "new", "calm", "--with", "quiet")
    moot("send", "--conv", "calm", "@quiet?")

    async def take_back() -> None:
        async with Hub.open(shell.home) as hub:
            [message] = await hub.messages("calm")
            await hub.delete(message.id, version=1)

    asyncio.run(take_back())
    assert "(deleted)" in moot("why", "calm:1").out


@pytest.mark.req("A-09")
def test_a_reply_lands_in_the_conversation_and_its_mentions_wake_others(moot: Moot) -> None:
    moot("conv", "new", "work", "--with", "caller,gendry,quiet")
    moot("send", "--conv", "work", "@caller, go")
    shown = moot("conv", "show", "work", "--json").json
    assert [(m["from"], m["text"]) for m in shown["messages"]] == [
        ("user", "@caller, go"),
        ("caller", "@gendry, your part"),
        ("gendry", "gendry heard: gendry, your part"),
    ]
    assert shown["messages"][2]["root"] == shown["messages"][0]["id"]


def test_a_chat_with_nobody_says_with_whom_it_could_be(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = moot("chat")
    assert nobody.code == 2
    assert nobody.err.startswith("error[E204] no agent given\n  agents here: ")
    assert "  fix   moot chat arya      or: moot chat --conv NAME\n" in nobody.err
    monkeypatch.setenv("MOOT_HOME", "/nonexistent/home")
    assert "  fix   moot init      or: moot demo\n" in moot("chat").err


def test_names_may_stand_with_commas_between_them(moot: Moot) -> None:
    together = moot("chat", "arya,quiet", "-m", "@arya hello", "--json").json
    assert [reply["from"] for reply in together["replies"]] == ["arya"]
    assert moot("conv", "new", "work", "--with", "arya").out == "created #work; members: user, arya\n"
    added = moot("conv", "add", "work", "@quiet, gendry")
    assert added.out == "added to #work; members: user, arya, quiet, gendry\n"
    assert moot("conv", "leave", "work", "quiet").out == "left #work; members: user, arya, gendry\n"


def test_a_turn_that_is_not_there_leads_to_those_that_are(moot: Moot) -> None:
    missing = moot("turn", "show", "12")
    assert missing.code == 3
    assert missing.err.startswith("error[E201] there is no turn 12\n  fix   moot turns\n")


def test_a_message_address_that_is_none(moot: Moot) -> None:
    moot("conv", "new", "work", "--with", "arya")
    assert moot("why", "7").code == 2
    assert moot("why", "work:x").code == 2
    assert moot("why", "work:99").code == 3
    assert moot("why", "nowhere:1").code == 3


def test_the_life_of_a_conversation(moot: Moot) -> None:
    assert moot("conv", "new", "work", "--with", "arya").code == 0
    assert "E205" in moot("conv", "new", "work").err
    assert moot("conv", "join", "work", "gendry").code == 0
    assert moot("conv", "leave", "work", "arya").code == 0
    assert moot("conv", "rename", "work", "toil").code == 0
    assert moot("conv", "config", "toil", "max_depth", "4", "--json").json == {"max_depth": 4}
    assert moot("conv", "config", "toil", "max_depth", "deep").code == 2
    assert moot("conv", "config", "toil", "colour").code == 2
    shown = moot("conv", "show", "toil", "--json").json
    assert [seat["name"] for seat in shown["participants"]] == ["user", "gendry"]
    assert shown["settings"]["max_depth"] == 4
    assert moot("conv", "archive", "toil").code == 0
    assert moot("send", "--conv", shown["id"], "hello").err.startswith("error[E305]")
    assert [c["name"] for c in moot("conv", "list", "--archived", "--json").json] == ["toil"]
    assert moot("conv", "unarchive", "toil").code == 0
    assert moot("conv", "delete", "toil").code == 2  # nobody there to ask
    assert moot("conv", "delete", "toil", "--yes").code == 0
    assert moot("conv", "list", "--json").json == []


def test_tail_and_search_show_what_was_said(moot: Moot) -> None:
    moot("send", "arya", "the harvest is good")
    assert "user: the harvest is good" in moot("tail").out
    lines = moot("tail", "--since", "10m", "--jsonl", "--agent", "arya").out.splitlines()
    assert len(lines) == 1
    assert moot("tail", "--since", "soon").code == 2
    assert len(moot("search", "harvest", "--json").json) == 2
    assert moot("search", "nothing-like-it").code == 0
    assert [turn["state"] for turn in moot("turns", "--agent", "arya", "--json").json] == ["said"]
    assert moot("turns", "--state", "dancing").code == 2


@pytest.mark.req("A-02")
def test_your_own_conversations_among_all(moot: Moot) -> None:
    moot("conv", "new", "ours", "--with", "arya")
    moot("conv", "new", "theirs", "--with", "arya,gendry")
    moot("conv", "leave", "theirs")
    assert [c["name"] for c in moot("conv", "list", "--json").json] == ["ours", "theirs"]
    assert [c["name"] for c in moot("conv", "list", "--mine", "--json").json] == ["ours"]
