"""The exact words of each error people are likely to meet (UX 2.6), as far as it can occur so far.

`HOME` stands for the home's path, `PID` for a process, `ID` for a conversation's id.
"""

import re
from collections.abc import Callable, Iterator

import apsw
import pytest

from tests.doors.cli.shell import Shell, Told

Moot = Callable[..., Told]


def words(told: Told, shell: Shell) -> str:
    text = told.err.replace(str(shell.home), "HOME")
    text = re.sub(r"\bc1[a-z0-9]{12,14}\b", "ID", text)
    return re.sub(r"pid \d+", "pid PID", text)


def with_model(shell: Shell) -> None:
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text() + '\n[[agents]]\nname = "opus"\nbrain = "anthropic:claude-opus"\n')


def with_hermit(shell: Shell) -> None:
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text() + '\n[[agents]]\nname = "hermit"\nbrain = "external"\n')


def with_a_bad_value(shell: Shell) -> None:
    (shell.home / "moot.toml").write_text('[[links]]\nfrom = "a"\nto = "b"\nrelationship = "boss"\n')


def from_the_future(shell: Shell) -> None:
    shell.moot("conv", "new", "build")
    connection = apsw.Connection(str(shell.home / "moot.db"))
    connection.execute(
        "INSERT INTO schema_version SELECT 999, 999, '9.9.9', applied_at FROM schema_version LIMIT 1"
    )
    connection.close()


def damaged(shell: Shell) -> None:
    (shell.home / "moot.db").write_bytes(b"not a database at all" * 400)


def build(shell: Shell) -> None:
    shell.moot("conv", "new", "build", "--with", "arya,gendry")


def archived(shell: Shell) -> None:
    build(shell)
    shell.moot("conv", "archive", "build")
    shell.moot("conv", "new", "other")


Set = Callable[[Shell], None]
TEXTS: list[tuple[str, Set | None, tuple[str, ...], int, str]] = [
    (
        "E101 no key",
        with_model,
        ("send", "opus", "hello"),
        4,
        (
            "error[E101] agent opus uses anthropic, but no key is set\n"
            "  looked at ANTHROPIC_API_KEY in the environment and in HOME/keys.json\n"
            "  fix   moot keys set anthropic      or: moot agents set opus --model demo\n"
            "  more  moot explain E101\n"
        ),
    ),
    (
        "E502 queued for somebody who is away",
        with_hermit,
        ("send", "hermit", "hello"),
        0,
        "queued[E502] hermit is away (never seen). 1 message waits for it.\n",
    ),
    (
        "E103 broken config",
        with_a_bad_value,
        ("agents", "list"),
        2,
        (
            'error[E103] moot.toml:4:1 relationship = "boss" is not one of peer, superior, subordinate\n'
            '  4 | relationship = "boss"\n'
            "    | ^^^^^^^^^^^^^^^^^^^^^\n"
            "  fix   moot config edit\n"
            "  more  moot explain E103\n"
        ),
    ),
    (
        "E201 unknown agent",
        None,
        ("chat", "gendri"),
        3,
        (
            'error[E201] no agent is called "gendri"\n'
            "  did you mean gendry?          agents here: arya, broken, caller, gendry, quiet, slow\n"
            '  fix   moot chat gendry      or create it: moot agents new gendri --role "…"\n'
            "  more  moot explain E201\n"
        ),
    ),
    (
        "E201 unknown conversation",
        build,
        ("chat", "--conv", "biuld", "hello"),
        3,
        (
            'error[E201] no conversation is called "biuld"\n'
            "  did you mean build?          conversations: build\n"
            "  fix   moot chat --conv build hello      or: moot conv list\n"
            "  more  moot explain E201\n"
        ),
    ),
    (
        "E201 a conversation where an agent is asked for",
        build,
        ("send", "build", "hello"),
        3,
        (
            'error[E201] no agent is called "build"\n'
            "  build is a conversation\n"
            "  fix   moot send --conv build hello      or: moot conv show build\n"
            "  more  moot explain E201\n"
        ),
    ),
    (
        "E201 nearly a conversation where an agent is asked for",
        build,
        ("agents", "show", "#build"),
        3,
        (
            'error[E201] no agent is called "#build"\n'
            "  build is a conversation\n"
            "  fix   moot conv show build      or: moot agents list\n"
            "  more  moot explain E201\n"
        ),
    ),
    (
        "E201 an agent where a conversation is asked for",
        build,
        ("send", "--conv", "aria", "hello"),
        3,
        (
            'error[E201] no conversation is called "aria"\n'
            "  arya is an agent\n"
            "  fix   moot send arya hello      or: moot agents show arya\n"
            "  more  moot explain E201\n"
        ),
    ),
    (
        "E202 a name that cannot be given",
        None,
        ("conv", "new", "a:b"),
        2,
        (
            'error[E202] "a:b" cannot be used as a conversation name\n'
            "  did you mean a-b?          a conversation name without ':' or '/', not beginning with '-', '@' or '#',"
            " not '.' or '..'\n"
            "  more  moot explain E202\n"
        ),
    ),
    (
        "E203 a text that cannot be stored",
        None,
        ("send", "arya", "   "),
        2,
        "error[E203] the text cannot be stored: it is empty\n",
    ),
    (
        "E204 unknown command",
        None,
        ("snd", "arya", "hi"),
        2,
        'error[E204] moot has no command "snd"\n  did you mean send?          commands: demo, ',
    ),
    (
        "E204 missing words",
        None,
        ("send", "arya"),
        2,
        (
            "error[E204] no text given (- reads it from standard input)\n"
            "  fix   moot send -h\n"
            "  more  moot explain E204\n"
        ),
    ),
    (
        "E204 would have to ask",
        build,
        ("conv", "dissolve", "build"),
        2,
        (
            "error[E204] dissolving needs confirmation, and there is no terminal to ask on: add --yes\n"
            "  fix   moot conv dissolve -h\n"
            "  more  moot explain E204\n"
        ),
    ),
    (
        "E205 a name that is taken",
        build,
        ("conv", "new", "build"),
        1,
        (
            'error[E205] a conversation called "build" already exists\n'
            "  its id is ID\n"
            "  fix   moot chat --conv build      or: choose another name\n"
            "  more  moot explain E205\n"
        ),
    ),
    (
        "E301 not a member",
        build,
        ("send", "--as", "quiet", "--conv", "build", "hello"),
        5,
        (
            "error[E301] quiet is not in build\n"
            "  only members may speak here\n"
            "  fix   moot conv join build quiet\n"
            "  more  moot explain E301\n"
        ),
    ),
    (
        "E502 not delivered as far as required",
        with_hermit,
        ("send", "hermit", "hello", "--require", "delivered"),
        8,
        (
            "queued[E502] hermit is away (never seen). 1 message waits for it.\n"
            "error[E502] not delivered: hermit\n"
            "  the message is kept and waits for them\n"
            "  fix   moot agents show hermit\n"
            "  more  moot explain E502\n"
        ),
    ),
    (
        "E601 a newer database",
        from_the_future,
        ("conv", "new", "other"),
        1,
        (
            "error[E601] HOME/moot.db was written by moot 9.9.9, this is 0.1.0\n"
            "  its schema is 999, the newest known here is "
        ),
    ),
    ("E602 a damaged database", damaged, ("conv", "new", "other"), 1, "error[E602] HOME/moot.db "),
    ("E602 a damaged database, only read", damaged, ("conv", "list"), 1, "error[E602] HOME/moot.db "),
]


@pytest.mark.parametrize(("name", "given", "typed", "code", "text"), TEXTS, ids=[row[0] for row in TEXTS])
def test_the_words_of_an_error(
    shell: Shell,
    moot: Moot,
    monkeypatch: pytest.MonkeyPatch,
    *,
    name: str,
    given: Set | None,
    typed: tuple[str, ...],
    code: int,
    text: str,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    if given is not None:
        given(shell)
    told = moot(*typed)
    found = words(told, shell)
    assert found.startswith(text) if not text.endswith("\n") or name.startswith("E203") else found == text, (
        found
    )
    assert told.code == code
    assert "Traceback" not in told.err


def test_a_missing_key_is_told_where_the_answer_would_stand(
    shell: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with_model(shell)
    told = moot("send", "opus", "hello")
    assert told.out == "notice: opus could not answer: opus uses anthropic, but no key is set\n"


def test_a_closed_conversation_says_how_to_open_it(shell: Shell, moot: Moot) -> None:
    archived(shell)
    closed = moot("conv", "list", "--archived", "--json").json[0]["id"]
    assert words(moot("send", "--conv", closed, "hello"), shell) == (
        "error[E305] build is archived: it can be read, but not written to\n"
        "  fix   moot conv unarchive build\n"
        "  more  moot explain E305\n"
    )


# --- the brakes ----------------------------------------------------------------------------------------------


@pytest.fixture
def quiet_runs(shell: Shell) -> Iterator[None]:
    """With a window that a busy machine does not outlast."""
    shell.moot("config", "set", "limits.pair_window_seconds", "20")
    assert shell.moot("agent", "start", "quiet").code == 0
    yield
    shell.moot("agent", "stop", "quiet")


@pytest.mark.req("J-04")
@pytest.mark.usefixtures("quiet_runs")
def test_quick_messages_between_two_agents_are_held_and_then_refused(moot: Moot) -> None:
    def say(*more: str) -> Told:
        return moot("send", "--as", "arya", "quiet", "hello", "--no-wait", *more)

    assert moot("send", "--as", "arya", "quiet", "hello", "--json").json["outcome"] == "passed"
    assert re.fullmatch(
        r"held 2\.0 s: second message from arya to quiet within 20 s\."
        r" It will be delivered at \d\d:\d\d:\d\d\.\n",
        say().err,
    )
    third = say()
    assert re.match(r"held \d\.\d s: third message from arya to quiet within 20 s\. ", third.err)
    assert third.code == 0
    for _ in range(7):
        more = say("--json")
        assert (more.code, more.err) == (0, "")
        assert more.json["receipt"]["deliveries"][0]["delayed_ms"] > 0
    refused = say()
    assert re.fullmatch(
        r"error\[E302\] 10 messages in this minute from arya to quiet\n"
        r"  at most 10 a minute are allowed from one agent to another\n"
        r"  fix   wait \d+ s\n"
        r"  more  moot explain E302\n",
        refused.err,
    )
    assert refused.code == 6
    told = say("--json").error
    assert (told["exit"], told["retryable"]) == (6, True)
    assert 0 < told["retry_after_ms"] <= 60_000


THANKS = """
async def ann(turn):
    return "@bob thank you!"


async def bob(turn):
    return "@ann no, thank you!"
"""


@pytest.mark.req("M-03")
def test_a_chain_that_was_stopped_is_told_with_its_end_and_the_way_out(shell: Shell, moot: Moot) -> None:
    (shell.home / "polite_team.py").write_text(THANKS)
    toml = shell.home / "moot.toml"
    rows = [f'\n[[agents]]\nname = "{n}"\nbrain = "code:polite_team:{n}"\n' for n in ("ann", "bob")]
    toml.write_text(toml.read_text() + "".join(rows))
    moot("conv", "new", "thanks", "--with", "ann,bob")
    for key in ("max_agent_turns_per_message", "max_depth"):
        moot("conv", "config", "thanks", key, "12")
    told = moot("send", "--conv", "thanks", "@ann please")
    assert told.err == (
        "paused[E303] #thanks stopped after 6 agent turns without a human\n"
        "  bob: @ann no, thank you!\n"
        "  ann: @bob thank you!\n"
        "  bob: @ann no, thank you!\n"
        "  fix   moot conv continue thanks      or: /continue\n"
        "  more  moot explain E303\n"
    )
    assert told.code == 7
    again = moot("chat", "--conv", "thanks", "@ann once more", "--json")
    assert (again.code, again.json["outcome"], again.err) == (7, "replied", "")
    assert (again.json["paused"]["code"], again.json["paused"]["rule"]) == ("E303", "no_progress")
    assert moot("conv", "continue", "thanks", "--json").json == {"continued": True}


@pytest.mark.req("G-02")
def test_more_mentions_than_turns_is_a_warning_with_two_ways_out(moot: Moot) -> None:
    moot("conv", "new", "crowd", "--with", "arya,gendry,quiet,caller")
    everybody = "@arya @gendry @quiet @caller all of you"
    told = moot("send", "--conv", "crowd", everybody, "--no-wait")
    assert told.err == (
        "warning[E304] 4 agents mentioned, cap is 3: caller will not answer\n"
        "  fix   --max-turns 4 for this message      or: moot conv config crowd max_agent_turns_per_message 4\n"
        "arya, gendry and quiet are away; the message waits for them\n"
        "  fix   moot agent start arya gendry quiet\n"
    )
    assert told.code == 0
    parts = moot("why", "crowd:1", "--json").json["agents"]
    assert [part["rule"] for part in parts if part["duty"] == "blocked"] == ["cap"]
    enough = moot("send", "--conv", "crowd", everybody, "--no-wait", "--max-turns", "4", "--json")
    assert enough.json["receipt"]["warnings"] == []
    assert moot("conv", "config", "crowd", "max_agent_turns_per_message", "4").code == 0
    assert "warning" not in moot("send", "--conv", "crowd", everybody, "--no-wait").err


def test_the_same_warning_in_a_chat_names_what_can_be_typed_there(shell: Shell) -> None:
    shell.moot("conv", "new", "crowd", "--with", "arya,gendry,quiet,caller")
    told = shell.moot("chat", "--conv", "crowd", stdin=b"@arya @gendry @quiet @caller all of you\n/quit\n")
    assert (
        "warning[E304] 4 agents mentioned, cap is 3: caller will not answer\n"
        "  fix   /group config max_agent_turns_per_message 4\n"
    ) in told.err


@pytest.mark.req("P-08")
@pytest.mark.parametrize(
    "words", [("send", "opus", "hello"), ("ask", "opus", "hello"), ("chat", "opus", "-m", "hi")]
)
def test_a_missing_key_is_an_error_for_programs_too(shell: Shell, words: tuple[str, ...]) -> None:
    with_model(shell)
    told = shell.moot(*words, "--json")
    assert (told.code, told.json["outcome"]) == (4, "failed")
    assert (told.error["code"], told.error["name"], told.error["exit"]) == ("E101", "no_key", 4)
    assert told.error["title"] == "agent opus uses anthropic, but no key is set"
    assert told.error["fix"] == ["moot keys set anthropic", "moot agents set opus --model demo"]
