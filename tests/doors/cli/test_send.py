"""send, ask, chat with a text and inbox: one shot each, with exit codes that tell how it ended."""

import asyncio
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot import PASS, Hub
from moot.brains.code import AgentSpec
from moot.cli.frame.exit_codes import PAUSED
from moot.errors import BadValue
from tests.doors.cli.shell import AGENTS, Shell, Told, make_home

Moot = Callable[..., Told]


# --- what it is meant as -----------------------------------------------------------------------------------


@pytest.mark.req("S-10")
def test_a_send_says_what_it_is_meant_as_and_delegating_is_another_command(moot: Moot) -> None:
    receipt = moot("send", "arya", "we ship at noon", "--intent", "inform", "--json").json["receipt"]
    [said, _] = moot("conv", "show", receipt["conversation"], "--json").json["messages"]
    assert said["intent"] == "inform"
    unknown = moot("send", "arya", "hello", "--intent", "greet")
    assert unknown.code == 2
    assert "approve" in unknown.err
    refused = moot("send", "arya", "do it", "--intent", "delegate")
    assert 'moot tasks new arya "…"' in refused.err


@pytest.mark.req("M-05")
def test_a_question_says_what_the_answer_has_to_look_like(moot: Moot, tmp_path: Path) -> None:
    chosen = moot("ask", "arya", "--choice", "arya heard: hm", "--choice", "no", "--json", "--", "hm")
    assert chosen.json["replies"][-1]["metadata"]["answer"] == "arya heard: hm"
    (tmp_path / "shape.json").write_text('{"type": "integer"}')
    failed = moot("ask", "arya", "--shape", f"@{tmp_path / 'shape.json'}", "--", "how many?")
    assert failed.code == 1
    assert "does not fit" in failed.out + failed.err
    for wrong, says in (
        ("nonsense", "not a JSON object"),
        ('{"pattern": "x"}', "pattern"),
        ("@gone", "read"),
    ):
        refused = moot("ask", "arya", "--shape", wrong, "--", "hm")
        assert (refused.code, says in refused.err) == (2, True), refused.err


# --- ephemeral sends -----------------------------------------------------------------------------------------


@pytest.mark.req("A-04")
def test_each_send_is_a_conversation_of_its_own_that_archives_itself(moot: Moot) -> None:
    first = moot("send", "arya", "one", "--json").json
    second = moot("send", "arya", "two", "--json").json
    assert first["receipt"]["conversation"] != second["receipt"]["conversation"]
    assert moot("conv", "list", "--json").json == []
    closed = moot("conv", "list", "--archived", "--json").json
    assert {(c["kind"], c["home"]) for c in closed} == {("ephemeral", "arya")}
    shown = moot("conv", "show", first["receipt"]["conversation"], "--json").json
    assert [m["text"] for m in shown["messages"]] == ["one", "arya heard: one"]


def _visited_by(home: Path, *names: str) -> None:
    """Agents of a program that was here once: nothing in moot.toml could start them."""

    async def visit() -> None:
        async with Hub.open(home, agents=[AgentSpec(name, _silent) for name in names]) as hub:
            await hub.conversations.create("theirs", participants=names)

    asyncio.run(visit())


async def _silent(turn: Any) -> str:
    return PASS


@pytest.mark.parametrize("wait", [(), ("--no-wait",)])
def test_who_polls_only_those_that_are_away_is_told_that_nobody_answers(
    shell: Shell, moot: Moot, wait: tuple[str, ...]
) -> None:
    _visited_by(shell.home, "ann", "bea")
    told = moot("send", "--conv", "theirs", "any thoughts?", *wait)
    assert (told.code, told.out, told.err) == (1, "", "no answer: ann and bea are both away\n")
    asked = moot("send", "--conv", "theirs", "any thoughts?", "--json", *wait)
    assert (asked.code, asked.json["outcome"]) == (1, "failed")
    assert asked.json["causes"] == [
        {"agents": ["ann", "bea"], "rule": "away", "reason": "ann and bea are both away", "fix": ""}
    ]
    owed = moot("send", "--conv", "theirs", "@ann?", *wait)
    assert owed.code == 0
    assert owed.out.startswith("queued as ")


def test_agents_of_moot_toml_that_are_not_started_are_named_with_what_starts_them(moot: Moot) -> None:
    moot("conv", "new", "room", "--with", "arya,quiet")
    told = moot("send", "--conv", "room", "any thoughts?", "--no-wait")
    assert (told.code, told.err) == (
        1,
        "no answer: arya and quiet are both away\n  fix   moot agent start arya quiet\n",
    )


def test_a_message_that_asks_nobody_says_which_setting_it_was(moot: Moot) -> None:
    moot("conv", "new", "room", "--with", "arya,quiet")
    moot("conv", "config", "room", "reply_strategy", "mention_only")
    told = moot("send", "--conv", "room", "a note")
    assert told.code == 0
    assert told.out.startswith("kept as room:")
    assert told.err == (
        "nobody was asked: arya and quiet were not mentioned, and reply_strategy is mention_only\n"
    )


def test_who_failed_is_named_with_what_went_wrong(moot: Moot) -> None:
    told = moot("send", "broken", "hello")
    assert told.code == 1
    assert "no answer: broken failed: RuntimeError: it broke on purpose\n  fix   moot why " in told.err


def test_a_broadcast_that_nobody_read_is_not_called_passed(shell: Shell, moot: Moot) -> None:
    (shell.home / "moot.toml").write_text("")
    _visited_by(shell.home, "ann")
    told = moot("send", "--all", "hello", "--json").json
    assert (told["delivered_to"], told["outcome"]) == (["ann"], "owed")


@pytest.mark.req("A-04")
def test_the_target_answers_first_then_who_else_is_named(moot: Moot) -> None:
    told = moot("send", "gendry", "ask @arya too", "--json").json
    assert [reply["from"] for reply in told["replies"]][:2] == ["gendry", "arya"]
    assert told["outcome"] == "replied"
    assert moot("conv", "list", "--json").json == []


@pytest.mark.req("A-04")
@pytest.mark.parametrize(
    ("words", "outcome", "code", "left_open"),
    [
        (("arya", "hello"), "replied", 0, False),
        (("quiet", "hello"), "passed", 0, False),
        (("broken", "hello"), "failed", 1, False),
        (("slow", "hello", "--timeout", "0.5"), "timed_out", 8, True),
        (("slow", "hello", "--wait=0.5"), "timed_out", 8, True),
        (("arya", "hello", "--no-wait"), "queued", 0, True),
    ],
)
def test_the_exit_code_tells_the_end_and_what_is_open_is_not_archived(
    moot: Moot, words: tuple[str, ...], outcome: str, code: int, left_open: bool
) -> None:
    told = moot("send", *words, "--json")
    assert (told.json["outcome"], told.code) == (outcome, code)
    assert bool(moot("conv", "list", "--json").json) == left_open


@pytest.mark.req("A-04")
def test_an_answer_that_was_not_waited_for_lies_in_the_inbox(moot: Moot) -> None:
    sent = moot("send", "arya", "hello", "--no-wait", "--json").json["receipt"]
    assert moot("inbox", "--json").json == []
    assert [m["text"] for m in moot("inbox", "--agent", "arya", "--unread", "--json").json] == ["hello"]
    moot("chat", "--conv", sent["conversation"], "and?")
    assert {m["from"] for m in moot("inbox", "--json").json} == {"arya"}
    assert moot("inbox", "--unread", "--json").json == []


def test_wait_alone_does_not_eat_the_next_word(moot: Moot) -> None:
    assert moot("send", "--wait", "arya", "hello", "--json").json["outcome"] == "replied"
    told = moot("send", "arya", "--", "--wait", "--json")
    assert "arya heard: --wait --json" in told.out


@pytest.mark.parametrize(
    "words",
    [
        ("arya", "hello", "--no-wait", "--wait"),
        ("arya", "hello", "--no-wait", "--timeout", "3"),
        ("arya", "hello", "--no-wait", "--require", "answered"),
        ("--all", "hello", "--conv", "work"),
        ("--all", "hello", "--interrupt"),
        ("arya", "hello", "-m", "twice"),
        ("arya",),
        ("--all",),
        ("arya", "hello", "--require", "read"),
    ],
)
def test_options_that_exclude_each_other_are_refused(moot: Moot, words: tuple[str, ...]) -> None:
    told = moot("send", *words)
    assert told.code == 2
    assert told.err.startswith("error[E204]")
    assert moot("tail", "--json").json == []


@pytest.mark.parametrize(
    ("agent", "required", "code"),
    [
        ("arya", "answered", 0),
        ("quiet", "answered", 0),
        ("broken", "delivered", 1),
        ("hermit", "queued", 0),
        ("hermit", "delivered", 8),
        ("hermit", "answered", 8),
    ],
)
def test_what_is_required_and_not_reached_is_exit_code_8(
    shell: Shell, moot: Moot, agent: str, required: str, code: int
) -> None:
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text() + '\n[[agents]]\nname = "hermit"\nbrain = "external"\n')
    assert moot("send", agent, "hello", "--require", required, "--json").code == code
    told = moot("send", agent, "hello", "--require", required)
    assert told.code == code
    if code == 8:
        assert f"error[E502] not {required}: hermit\n" in told.err


def test_a_text_comes_from_a_file_an_option_or_both(moot: Moot, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("from the file", encoding="utf-8")
    for words, text in (
        (("-m", "by option"), "by option"),
        (("--file", str(letter)), "from the file"),
        (("look:", "--file", str(letter)), "look:\n\nfrom the file"),
    ):
        assert moot("send", "arya", *words, "--json").json["replies"][0]["text"] == f"arya heard: {text}"
    missing = moot("send", "arya", "--file", str(tmp_path / "none"))
    assert (missing.code, missing.err.splitlines()[0]) == (
        3,
        f"error[E201] cannot read {tmp_path / 'none'}: No such file or directory",
    )


def test_a_reply_names_what_it_answers(moot: Moot) -> None:
    moot("conv", "new", "work", "--with", "arya")
    moot("send", "--conv", "work", "@arya one")
    for words in (("--reply-to", "work:2"), ("--reply-to", "2", "--conv", "work")):
        told = moot("send", *words, "@arya and two", "--json").json
        shown = moot("conv", "show", "work", "--json").json
        [said] = [m for m in shown["messages"] if m["id"] == told["receipt"]["id"]]
        assert said["reply_to"] == shown["messages"][1]["id"]
    assert moot("send", "--reply-to", "work:99", "hello").code == 3
    assert moot("send", "--reply-to", "nonsense", "hello").code == 2


def test_a_broadcast_reaches_each_agent_in_its_own_conversation(shell: Shell, moot: Moot) -> None:
    others = {"arya", "gendry", "quiet", "caller", "broken"}
    make_home(shell.home, {name: AGENTS[name] for name in others})
    told = moot("send", "--all", "we ship", "--json")
    done = told.json
    assert set(done["delivered_to"]) == others
    assert (done["failed"], done["outcome"], told.code) == ([], "replied", 0)
    said = {reply["from"]: reply["text"] for reply in done["replies"]}
    assert said["arya"] == "arya heard: we ship"
    make_home(shell.home)
    late = moot("send", "--all", "we ship later", "--timeout", "0.3", "--json")
    assert set(late.json["delivered_to"]) == {*others, "slow"}
    assert (late.json["failed"], late.json["outcome"], late.code) == ([], "timed_out", 8)
    kinds = {c["kind"] for c in moot("conv", "list", "--json").json}
    assert kinds == {"direct"}
    queued = moot("send", "--all", "later", "--no-wait")
    assert (queued.code, queued.out) == (0, "")
    assert "sent to arya, " in queued.err


# --- ask and chat with a text --------------------------------------------------------------------------------


@pytest.mark.req("K-13")
def test_ask_forces_each_and_prints_the_answers_in_order(moot: Moot) -> None:
    told = moot("ask", "gendry", "@arya", "--", "is", "it", "ready?")
    assert told.code == 0
    assert re.findall(r"(\w+) heard: is it ready\?", told.out) == ["gendry", "arya"]
    found = moot("ask", "arya", "-m", "which port?", "--json").json
    assert [reply["text"] for reply in found["replies"]] == ["arya heard: which port?"]
    shown = moot("conv", "show", found["receipt"]["conversation"], "--json").json["messages"]
    assert shown[0]["metadata"]["correlation_id"] == shown[1]["metadata"]["correlation_id"]
    assert moot("ask", "arya", "which port?", "--json").json["outcome"] == "replied"
    assert moot("ask", "slow", "--timeout", "0.4", "--", "well?").code == 8
    assert moot("ask", "broken", "--", "well?").code == 1


@pytest.mark.req("K-13")
def test_send_waits_by_a_correlation_of_its_own(moot: Moot) -> None:
    told = moot("send", "arya", "hello", "--json").json
    shown = moot("conv", "show", told["receipt"]["conversation"], "--json").json["messages"]
    ids = [message["metadata"]["correlation_id"] for message in shown]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("words", [(), ("arya",), ("--", "what?"), ("arya", "--")])
def test_ask_without_its_words_is_refused(moot: Moot, words: tuple[str, ...]) -> None:
    told = moot("ask", *words)
    assert (told.code, told.err[:11]) == (2, "error[E204]")


def test_ask_of_an_unknown_agent_names_the_nearest(moot: Moot) -> None:
    told = moot("ask", "gendri", "--", "what?")
    assert told.code == 3
    fix = "  fix   moot ask gendry -- 'what?'      or create it: moot agents new gendri --role \"…\""
    assert told.err.splitlines()[2] == fix


@pytest.mark.req("A-03")
def test_chat_with_the_same_names_in_any_order_is_the_same_conversation(moot: Moot) -> None:
    first = moot("chat", "gendry", "arya", "-m", "@arya one", "--json").json["receipt"]
    second = moot("chat", "arya", "gendry", "-m", "@gendry two", "--json").json["receipt"]
    assert first["conversation"] == second["conversation"]
    assert second["seq"] > first["seq"]
    pair = moot("chat", "arya", "-m", "hello", "--json").json["receipt"]
    assert pair["conversation"] != first["conversation"]
    assert (
        moot("chat", "@arya", "-m", "again", "--json").json["receipt"]["conversation"] == pair["conversation"]
    )
    kinds = sorted(c["kind"] for c in moot("conv", "list", "--json").json)
    assert kinds == ["direct", "group"]


@pytest.mark.req("A-03")
def test_chat_in_a_named_conversation_never_makes_it(moot: Moot) -> None:
    told = moot("chat", "--conv", "nowhere", "hello")
    assert (told.code, told.err.splitlines()[0]) == (3, 'error[E201] no conversation is called "nowhere"')
    assert moot("conv", "list", "--json").json == []
    moot("conv", "new", "work", "--with", "arya")
    assert "arya heard: hello arya" in moot("chat", "--conv", "work", "hello", "@arya").out
    assert "arya heard: arya again" in moot("chat", "--conv", "#work", "-m", "@arya again").out


@pytest.mark.req("A-03")
def test_lines_typed_once_with_few_turns_and_little_history(shell: Shell) -> None:
    for word in ("one", "two", "three"):
        shell.moot("chat", "arya", "-m", word)
    told = shell.moot("chat", "arya", "--last", "2", "--once", stdin=b"four\nfive\n")
    assert told.code == 0
    assert "arya heard: four" in told.out
    assert "arya heard: five" not in told.out
    assert "arya heard: three" in told.out
    assert "arya heard: two" not in told.out
    limited = shell.moot(
        "chat", "arya", "gendry", "--max-turns", "1", "-m", "@arya @gendry go", "--json"
    ).json
    assert [reply["from"] for reply in limited["replies"]] == ["arya"]


# --- inbox ---------------------------------------------------------------------------------------------------


def test_the_inbox_shows_what_came_in_and_what_is_new(moot: Moot) -> None:
    assert moot("inbox").err == "no messages for you\n"
    moot("send", "--as", "arya", "quiet", "between us")
    assert [m["text"] for m in moot("inbox", "--agent", "quiet", "--json").json] == ["between us"]
    sent = moot("send", "arya", "hello", "--no-wait", "--json").json["receipt"]
    moot("send", "--as", "arya", "--conv", sent["conversation"], "here I am", "--no-wait")
    told = moot("inbox", "--unread")
    assert re.search(r"^new  \d\d:\d\d  send-arya-\w+:2  ▲ arya: here I am$", told.out, re.MULTILINE)
    assert moot("inbox", "--ack", f"{sent['conversation']}:2", "--unread", "--json").json == []
    assert moot("inbox", "--ack", "nonsense").code == 2
    assert moot("inbox", "--agent", "arya", "--ack", "x:1").code == 2
    assert moot("inbox", "--agent", "aria").code == 3


def test_standard_input_is_a_text_for_ask_too(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"by pipe")))
    assert "arya heard: by pipe" in moot("ask", "arya", "-m", "-").out


# --- between agents, and what is refused ---------------------------------------------------------------------


def _places(moot: Moot) -> list[str]:
    return [place["name"] for place in moot("conv", "list", "--json").json]


@pytest.mark.parametrize(
    "words",
    [
        ("send", "arya", ""),
        ("send", "arya", "", "--no-wait"),
        ("send", "gendry", "", "--as", "arya"),
        ("send", "arya", "hi", "--intent", "approve"),
        ("ask", "arya", "--", ""),
        ("chat", "arya", "gendry", "-m", ""),
        ("send", "gendry", "hi", "--as", "arya", "--max-turns", "2"),
    ],
)
def test_a_message_that_is_refused_leaves_no_conversation_behind(moot: Moot, words: tuple[str, ...]) -> None:
    assert moot(*words).code == (1 if "approve" in words else 2)
    assert _places(moot) == []


@pytest.mark.req("S-02")
def test_a_send_that_links_do_not_allow_leaves_no_conversation_behind(moot: Moot) -> None:
    moot("links", "new", "arya", "gendry")
    told = moot("send", "quiet", "hi", "--as", "arya")
    assert told.err.startswith("error[E301]")
    assert [name for name in _places(moot) if "quiet" in name] == []


@pytest.mark.req("S-03")
def test_what_is_sent_as_an_agent_goes_into_the_channel_of_the_link(moot: Moot) -> None:
    moot("config", "set", "limits.pair_backoff_seconds", "0")  # nobody is to wait for it here
    made = moot("links", "new", "arya", "gendry", "--json").json
    for words in (
        ("send", "gendry", "hello", "--as", "arya", "--no-wait"),
        ("chat", "gendry", "-m", "hello again", "--as", "arya"),
    ):
        assert moot(*words).code in (0, PAUSED)  # the two answer each other as long as they may
    said = moot("conv", "show", made["channel"], "--json").json["messages"]
    of_arya = [m["text"] for m in said if m["from"] == "arya"]
    assert of_arya[0] == "hello"
    assert "hello again" in of_arya


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("send.open_hub", "stopped before the message was sent"),
        ("follow.FollowedConversation.post", "whether it was stored"),
    ],
)
def test_who_interrupts_before_a_message_is_stored_is_told(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, where: str, words: str
) -> None:
    def interrupted(*words: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"moot.cli.talk.{where}", interrupted)
    stopped = moot("send", "arya", "hello")
    assert (stopped.code, stopped.out) == (130, "")
    assert words in stopped.err


def test_a_cap_on_turns_between_two_agents_is_refused_on_every_way_in(shell: Shell) -> None:
    async def post() -> None:
        async with Hub.open(shell.home) as hub:
            arya = hub.acting_as("arya")
            pair = await arya.conversations.implicit(["gendry"])
            with pytest.raises(BadValue, match="cannot have a cap on turns"):
                await arya.post(pair.id, "hi", max_turns=2)

    asyncio.run(post())


def test_an_agent_in_whose_name_somebody_sends_is_called_by_its_name(moot: Moot) -> None:
    told = moot("send", "quiet", "hello", "--as", "arya")
    assert "you" not in told.out
    answered = moot("send", "gendry", "hello", "--as", "caller")
    assert "gendry, " in answered.out
    assert "answering caller:" in answered.out
