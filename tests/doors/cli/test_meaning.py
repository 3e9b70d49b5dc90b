"""What a word may be: a name, an id, or the beginning of one; and which fields of an answer are wanted."""

from collections.abc import Callable

import pytest

from tests.doors.cli.shell import Told

Moot = Callable[..., Told]

pytestmark = pytest.mark.req("P-08")


def new(moot: Moot, name: str) -> str:
    told = moot("conv", "new", name, "--with", "arya", "--json")
    assert told.code == 0
    return str(told.json["id"])


def test_what_comes_near_is_of_the_kind_that_was_asked_for(moot: Moot) -> None:
    for name in ("gendry", "gendrys", "arya-room"):
        new(moot, name)
    suggested = {
        ("send", "gendri", "hi"): ["gendry"],
        ("send", "gendrys", "hi"): [],
        ("send", "--conv", "gendri", "hi"): ["gendry", "gendrys"],
        ("chat", "--conv", "arya", "hi"): [],
        ("conv", "show", "user"): [],
    }
    for words, names in suggested.items():
        assert moot(*words, "--json").error["suggestions"] == names, words
    assert moot("send", "gendrys", "hi", "--json").error["detail"] == "gendrys is a conversation"
    assert moot("chat", "--conv", "arya", "hi", "--json").error["detail"] == "arya is an agent"


def test_the_beginning_of_an_id_is_enough_wherever_an_id_is(moot: Moot) -> None:
    id = new(moot, "build")
    moot("send", "--conv", id, "@arya one")
    begun = id[:-2]
    for words in (
        ("conv", "show", begun),
        ("conv", "config", begun),
        ("conv", "join", begun, "gendry"),
        ("conv", "rename", begun, "built"),
        ("conv", "add", begun, "quiet"),
        ("conv", "stop", begun),
        ("conv", "continue", begun),
        ("conv", "retry", begun),
        ("group", "list", "--conv", begun),
        ("chat", "--conv", begun, "@arya two"),
        ("send", "--conv", begun, "@arya three"),
        ("send", "--reply-to", f"{begun}:1", "@arya four"),
        ("why", f"{begun}:1"),
        ("tail", "--conv", begun),
        ("turns", "--conv", begun, "--agent", "ary"),
        ("context", "ary", begun),
        ("export", begun),
        ("inbox", "--agent", "ary"),
        ("inbox", "--ack", f"{begun}:1"),
        ("replay", "ary"),
        ("agents", "show", "ary"),
        ("agents", "status", "ary"),
        ("ask", "ary", "-m", "ready?"),
        ("conv", "archive", begun),
        ("conv", "unarchive", begun),
        ("conv", "dissolve", begun, "--yes"),
        ("conv", "delete", begun, "--yes"),
    ):
        told = moot(*words)
        assert told.code == 0, (words, told.err)


def test_a_beginning_that_several_share_lists_them(moot: Moot) -> None:
    first, second = new(moot, "build"), new(moot, "other")
    told = moot("conv", "show", first[:3])
    assert told.err == (
        f'error[E201] "{first[:3]}" matches 2 ids\n'
        f"  {first}  #build\n"
        f"  {second}  #other\n"
        "  fix   type more of the id, or the name\n"
        "  more  moot explain E201\n"
    )
    assert told.code == 3
    error = moot("send", "--conv", first[:3], "hello", "--json").error
    assert (error["code"], error["exit"], error["available"]) == ("E201", 3, [first, second])


def test_a_name_wins_over_the_beginning_of_an_id(moot: Moot) -> None:
    first = new(moot, "build")
    named = moot("conv", "new", first[:6], "--json").json["id"]
    assert moot("conv", "show", first[:6], "--json").json["id"] == named


def test_a_beginning_is_not_a_misspelling(moot: Moot) -> None:
    new(moot, "build")
    assert moot("conv", "show", "buidl").err.startswith('error[E201] no conversation is called "buidl"\n')
    assert moot("send", "ayra", "hello").err.startswith('error[E201] no agent is called "ayra"\n')
    assert moot("conv", "show", "").code == 3


# --- fields --------------------------------------------------------------------------------------------------


def test_only_the_fields_that_are_asked_for_in_that_order(moot: Moot) -> None:
    new(moot, "build")
    [told] = moot("conv", "list", "--json", "--fields", "kind,name").json
    assert list(told.items()) == [("kind", "group"), ("name", "build")]
    assert moot("--fields", "name", "conv", "show", "build", "--json").json == {"name": "build"}
    sent = moot("send", "--conv", "build", "@arya hi", "--json", "--fields", "outcome").json
    assert sent == {"outcome": "replied"}
    lines = moot("tail", "--jsonl", "--fields", "text").out.splitlines()
    assert lines == ['{"text": "@arya hi"}', '{"text": "arya heard: arya hi"}']
    assert moot("conv", "list", "--archived", "--json", "--fields", "nonsense").json == []


def test_a_field_that_is_not_there_is_refused_and_the_answer_is_not_lost(moot: Moot) -> None:
    new(moot, "build")
    told = moot("send", "--conv", "build", "@arya hi", "--json", "--fields", "outcom,receipt")
    assert told.code == 2
    assert told.json["receipt"]["seq"] == 1
    assert told.error["title"] == 'unknown field "outcom"'
    assert told.error["suggestions"] == ["outcome"]


@pytest.mark.parametrize(
    ("words", "title"),
    [
        (("agents", "list", "--fields", "name"), "--fields works only with --json"),
        (("agents", "list", "--json", "--fields", ","), "--fields is empty"),
    ],
)
def test_fields_that_make_no_sense(moot: Moot, words: tuple[str, ...], title: str) -> None:
    told = moot(*words)
    assert told.code == 2
    assert title in told.err


# --- fixes that fit --------------------------------------------------------------------------------------------


def test_a_question_without_quotes_is_told_so(moot: Moot) -> None:
    told = moot("ask", "arya", "is", "it", "ready")
    assert told.code == 3
    assert "  fix   moot ask arya -- is it ready" in told.err
    assert "agents new" not in told.err


def test_a_conversation_that_is_not_there_is_not_offered_to_be_made_by_who_looks_for_it(moot: Moot) -> None:
    new(moot, "build")
    for words in (
        ("why", "nowhere:1"),
        ("conv", "delete", "nowhere", "--yes"),
        ("tail", "--conv", "nowhere"),
    ):
        told = moot(*words)
        assert told.code == 3
        assert "conversations: build" in told.err
        assert "conv new" not in told.err
    assert "conv new nowhere" in moot("send", "--conv", "nowhere", "hi").err


def test_a_message_that_is_not_there_is_called_as_it_was_typed(moot: Moot) -> None:
    new(moot, "build")
    assert moot("why", "build:99").err.startswith(
        "error[E201] there is no message build:99\n  nothing was said in build"
    )


def test_who_is_talked_to_by_the_beginning_of_a_name_is_said(moot: Moot) -> None:
    assert '"ary" is taken for arya\n' in moot("send", "ary", "hello").err
    assert moot("send", "arya", "hello").err == ""


def test_an_empty_search_and_one_for_nobody_are_refused(moot: Moot) -> None:
    assert moot("search", "").err.startswith("error[E204] the search is empty\n")
    assert "agents new" not in moot("search", "from:nobody").err


def test_what_waits_for_an_agent_that_nobody_runs_is_said(moot: Moot) -> None:
    told = moot("send", "arya", "hello", "--no-wait")
    assert "arya is away" in told.err
    assert "fix   moot agent start arya" in told.err
    assert "no hub is running" in moot("agents", "list").err


def test_two_that_are_linked_are_offered_their_link_to_change(moot: Moot) -> None:
    id = moot("links", "new", "arya", "gendry", "--json").json["id"]
    assert f"fix   moot links set {id} -h" in moot("links", "new", "gendry", "arya").err
