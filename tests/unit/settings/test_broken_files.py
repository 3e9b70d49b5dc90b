"""A broken file is refused with the place, what stands there, what was expected, what to do (UX 2.6)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.errors import BadSettings
from moot.model.hint import Act, Hint
from moot.settings import parse

GOOD = b"""\
[hub]
port = 8420                 # 0 = any free port
policy = "auto"
[store]
url = "sqlite:moot.db"
[groups]
reply_strategy = "hybrid"
agent_reply_timeout = 30.0
[limits]
chain_turns = 16
[[agents]]
name = "manager"
role = \"\"\"lead\"\"\"
[[agents]]
name = "support"
tools = ["shell:git,ls", "notes"]
project = "../work"
[[links]]
from = "manager"
to = "support"
relationship = "superior"
[templates.reviewer]
brain = "command:claude"
[bridges.telegram]
default_agent = "support"
bots.support = "${BOT}"
"""
ENVIRON = {"BOT": "1:x"}
RING = (
    '"a" is superior of "b" (links[0]), "b" is superior of "c" (links[1]), "c" is superior of "a" (links[2])'
)


def above(one: str, other: str) -> str:
    return f"[[links]]\nfrom = '{one}'\nto = '{other}'\nrelationship = 'superior'\n"


def refusal(data: bytes | str, environ: dict[str, str] | None = None) -> BadSettings:
    with pytest.raises(BadSettings) as caught:
        parse(data.encode() if isinstance(data, str) else data, ENVIRON if environ is None else environ)
    error = caught.value
    assert set(error.facts) == {"file", "line", "column", "key", "more"}
    return error


def outcome(data: bytes, environ: dict[str, str]) -> BadSettings | None:
    """The refusal, or None for a file that is fine; whatever else is raised goes up."""
    try:
        parse(data, environ)
    except BadSettings as error:
        return error
    return None


def test_the_good_file_is_good() -> None:
    assert len(parse(GOOD, ENVIRON).agents) == 2


def test_an_unknown_relationship_reads_as_the_manual_says() -> None:
    lines = ["# links"] * 10 + ["[[links]]", 'from = "a"', 'to = "b"', '       relationship = "boss"']
    error = refusal("\n".join(lines))
    assert error.code == "E103"
    assert error.title == 'moot.toml:14:8 relationship = "boss" is not one of peer, superior, subordinate'
    assert error.detail == '14 |        relationship = "boss"\n   |        ^^^^^^^^^^^^^^^^^^^^^'
    assert error.fix == (Hint(Act.EDIT_SETTINGS),)
    assert error.facts == {
        "file": "moot.toml",
        "line": 14,
        "column": 8,
        "key": "links[0].relationship",
        "more": 0,
    }


NAME = "a lower-case letter, then up to 62 of a-z 0-9 _ . -, not ending in a dot, such as 'arya'"
BRAINS = (
    "one of demo, code:module:attr, anthropic:MODEL, openai:MODEL, openai:MODEL@URL, command:claude, "
    "command:codex, command:TEMPLATE, acp:COMMAND, a2a:URL, external"
)
SECRET = '"${NAME}" for an environment variable or "${file:PATH}" for the contents of a file'
TITLES = [
    ("[hub]\nprot = 1", "2:1 prot is not a setting of [hub]; did you mean port?"),
    ("[hubb]\nport = 1", "1:1 hubb is not a section; did you mean hub?"),
    ("port = 1", "1:1 port is not a section"),
    ("hub.prt = 1", "1:1 prt is not a setting of [hub]; did you mean port?"),
    ("x=1\n[bridges.telegarm]", "1:1 x is not a section"),
    ("[bridges.telegarm]", "1:1 telegarm is not a bridge; did you mean telegram?"),
    ("hub = { host = 'a', prot = 1 }", "1:21 prot is not a setting of [hub]; did you mean port?"),
    ("[[agents]]\nname = 'a'\nmodel = 'x'", "3:1 model is not a setting of [[agents]]"),
    ("[templates.x]\nname = 'a'", "2:1 name is not a setting of [templates.x]"),
    ("[hub]\nport = 65536", "2:1 port = 65536 is not a whole number from 0 to 65535"),
    ("[hub]\nport = -1", "2:1 port = -1 is not a whole number from 0 to 65535"),
    ("[hub]\nport = '80'", '2:1 port = "80" is not a whole number from 0 to 65535'),
    ("[hub]\nport = 80.0", "2:1 port = 80.0 is not a whole number from 0 to 65535"),
    ("[hub]\nport = true", "2:1 port = true is not a whole number from 0 to 65535"),
    ("[hub]\nport = 2020-01-01", "2:1 port = 2020-01-01 is not a whole number from 0 to 65535"),
    ("[hub]\nport = [1]", "2:1 port = […] is not a whole number from 0 to 65535"),
    ("[hub]\n  port.x = 1", "2:3 port = {…} is not a whole number from 0 to 65535"),
    ("[hub]\nhost = ''", '2:1 host = "" is not a host name or an address, such as 127.0.0.1'),
    ("[hub]\nhost = 1", "2:1 host = 1 is not a host name or an address, such as 127.0.0.1"),
    ("[hub]\npolicy = 'closed'", '2:1 policy = "closed" is not one of auto, open, links'),
    ("[hub]\nuser = 'Ann'", f'2:1 user = "Ann" is not a name; expected {NAME}'),
    ("hub = 3", "1:1 hub = 3 is not a table; write [hub]"),
    ("[[hub]]", "1:1 hub = […] is not a table; write [hub]"),
    ("[agents]\nname = 'a'", "1:1 agents is one table; write [[agents]] above each"),
    ("[agents.arya]\nrole = 'x'", "1:1 agents is one table; write [[agents]] above each"),
    ("agents = 'a'", '1:1 agents = "a" is not a list of tables; write [[agents]] above each'),
    ("agents = [\n 'a']", '2:2 agents[0] = "a" is not a table'),
    ("templates = 1", "1:1 templates = 1 is not a table; write [templates.NAME]"),
    ("templates.x = 1", "1:1 x = 1 is not a table; write [templates.x]"),
    ("[templates.Big]", f'1:1 "Big" cannot be used as a template name; expected {NAME}'),
    ("bridges = 1", "1:1 bridges = 1 is not a table; write [bridges.NAME]"),
    (
        "[store]\nurl = 'mysql:x'",
        '2:1 url = "mysql:x" is not sqlite:FILE or postgresql://USER:PASSWORD@HOST/DATABASE',
    ),
    (
        "[log]\nurl = 'kafka:'",
        '2:1 url = "kafka:" is not embedded: or kafka://HOST:PORT,HOST:PORT, with ?OPTION=VALUE of the connection',
    ),
    (
        "[log]\ntopic_prefix = 'a b'",
        '2:1 topic_prefix = "a b" is not up to 100 of A-Z a-z 0-9 . _ -, or empty',
    ),
    (
        "[groups]\nmax_agent_turns_per_message = 0",
        "2:1 max_agent_turns_per_message = 0 is not a whole number from 1 to 1000",
    ),
    ("[groups]\nreactive_round = 1", "2:1 reactive_round = 1 is not true or false"),
    (
        "[groups]\nreply_strategy = 'all'",
        '2:1 reply_strategy = "all" is not one of hybrid, mention_only, round_robin',
    ),
    (
        "[groups]\nagent_reply_timeout = 0",
        "2:1 agent_reply_timeout = 0 is not a number of seconds, more than 0 and at most a year",
    ),
    (
        "[groups]\nagent_reply_timeout = nan",
        "2:1 agent_reply_timeout = nan is not a number of seconds, more than 0 and at most a year",
    ),
    (
        "[host]\nlease_seconds = inf",
        "2:1 lease_seconds = inf is not a number of seconds, more than 0 and at most a year",
    ),
    (
        "[groups]\ncooldown_seconds = -0.5",
        "2:1 cooldown_seconds = -0.5 is not a number of seconds, 0 or more and at most a year",
    ),
    (
        "[limits]\npair_backoff_seconds = 60",
        "2:1 pair_backoff_max_seconds = 30.0 is less than pair_backoff_seconds = 60; expected ",
    ),
    (
        "[limits]\nrequests_per_second = 0",
        "2:1 requests_per_second = 0 is not a number above 0, at most 1000000000",
    ),
    ("\n[[agents]]\nrole = 'x'", f"2:1 [[agents]] has no name; expected a name: {NAME}"),
    ("agents = [{name = 'a'}, {}]", f"1:25 [[agents]] has no name; expected a name: {NAME}"),
    ("[[agents]]\nname = 'Arya'", f'2:1 name = "Arya" is not a name; expected {NAME}'),
    ("[[agents]]\nname = '../x'", f'2:1 name = "../x" is not a name; expected {NAME}'),
    ("[[agents]]\nname = 3", f"2:1 name = 3 is not a name: {NAME}"),
    ("[[agents]]\nname = 'user'", '2:1 name = "user" is a reserved name; expected '),
    ("[[agents]]\nname = 'hub'", '2:1 name = "hub" is a reserved name; expected '),
    (
        "[[agents]]\nname = 'arya'\n[[agents]]\nname = 'arya'",
        '4:1 name = "arya" is a name that is taken; expected ',
    ),
    (
        "[[agents]]\nname = 'al'\n[[agents]]\nname = 'a1'",
        "4:1 name = \"a1\" is a name that looks like 'al'; expected a name that cannot be mistaken for 'al'",
    ),
    (
        "[hub]\nuser = 'ann'\n[[agents]]\nname = 'ann'",
        '4:1 name = "ann" is a reserved name; expected a name other than the reserved ones: ',
    ),
    ("[[agents]]\nname = 'a'\nbrain = 'gpt-5'", f'3:1 brain = "gpt-5" is not {BRAINS}'),
    ("[[agents]]\nname = 'a'\nbrain = 'code:x'", f'3:1 brain = "code:x" is not {BRAINS}'),
    (
        "[[agents]]\nname = 'a'\nrole = '''x\ny'''",
        '3:1 role = "x\\ny" is not one line of text, at most 500 characters',
    ),
    ("[[agents]]\nname = 'a'\nproject = \"\\u0000\"", '3:1 project = "\\x00" is not a path'),
    (
        "[[agents]]\nname = 'a'\non_busy = 'drop'",
        '3:1 on_busy = "drop" is not one of queue, interrupt, interrupt-by-superior',
    ),
    (
        "[[agents]]\nname = 'a'\ntools = ['a', 3]",
        '3:1 tools = […] is not a list of tools, such as ["shell:git,ls", "notes", "tasks"]',
    ),
    (
        "[[agents]]\nname = 'a'\ntools = ['notes', 'shel:git']",
        (
            '3:19 tools[1] = "shel:git" is not a tool; expected one of shell:PROGRAM,PROGRAM, '
            "shell-unsandboxed:PROGRAM,PROGRAM, text-tools, notes, tasks, messages"
        ),
    ),
    (
        "[[agents]]\nname = 'a'\ntools = ['shell']",
        '3:10 tools[0] = "shell" lists no program; expected shell:git,ls',
    ),
    (
        "[[agents]]\nname = 'a'\ntools = ['shell:git,/bin/ls']",
        (
            "3:10 tools[0] = \"shell:git,/bin/ls\" lists '/bin/ls', which is not a program name; expected bare names, "
            "such as shell:git,ls"
        ),
    ),
    (
        "[[agents]]\nname = 'a'\ntools = [\n  'shell:git',\n  'shell-unsandboxed:ls',\n]",
        (
            '5:3 tools[1] = "shell-unsandboxed:ls" is a second shell, after tools[0]; expected one '
            "shell with all programs"
        ),
    ),
    (
        "[templates.t]\ntools = ['text-tools']",
        '2:10 tools[0] = "text-tools" needs a shell; expected shell:PROGRAM,PROGRAM as well',
    ),
    (
        "[[agents]]\nname = 'a'\ntools = ['notes:x']",
        '3:10 tools[0] = "notes:x" takes no arguments; expected notes',
    ),
    (
        "[[agents]]\nname = 'a'\ntools = ['notes', 'notes']",
        '3:19 tools[1] = "notes" is listed twice, first as tools[0]',
    ),
    ("[[links]]\nfrom = 'a'", f"1:1 [[links]] has no to; expected a name: {NAME}"),
    ("[[links]]\nfrom = 'a'\nto = 'a'", '3:1 to = "a" links "a" with itself; expected another agent'),
    (
        "[[links]]\nfrom = 'a'\nto = 'b'\n[[links]]\nfrom = 'b'\nto = 'a'",
        '4:1 "b" and "a" already have a link, links[0]; expected one for each pair',
    ),
    (
        above("a", "b") + above("b", "c") + above("c", "a"),
        "9:1 superiors may not form a ring; expected one of these to be a peer: " + RING,
    ),
    (
        above("a", "b")
        + "[[links]]\nfrom = 'b'\nto = 'c'\n"
        + above("b", "d")
        + above("a", "d")
        + "[[links]]\nfrom = 'd'\nto = 'e'\nrelationship = 'subordinate'\n"
        + above("d", "e"),
        '20:1 "d" and "e" already have a link, links[4]; expected one for each pair',
    ),
    (
        "[[links]]\nfrom = 'b'\nto = 'a'\nrelationship = 'subordinate'\nenabled = false\n"
        + above("b", "c")
        + "[[links]]\nfrom = 'a'\nto = 'c'\nrelationship = 'subordinate'\n",
        "10:1 superiors may not form a ring; expected one of these to be a peer: " + RING,
    ),
    (
        "[[links]]\nfrom='a'\nto='b'\ndirection = 'both'",
        '4:1 direction = "both" is not one of one_way, two_way',
    ),
    ("[bridges.discord]\nidentity = 'me'", '2:1 identity = "me" is not one of webhook, bots'),
    ("[bridges.discord]\ntoken = 'abc'", f"2:1 token contains a secret in plain text; expected {SECRET}"),
    ("[bridges.telegram.bots]\nx = 'abc'", f"2:1 x contains a secret in plain text; expected {SECRET}"),
    ("[bridges.telegram]\nbots = 'abc'", f"2:1 bots contains a secret in plain text; expected {SECRET}"),
    ("[bridges.telegram]\nbots.x = 3", f"2:1 x = … is not {SECRET}"),
    (
        "[hub]\nhost = '${NOPE}'",
        '2:1 host = "${NOPE}" refers to the environment variable NOPE, which is not set',
    ),
    ("[hub]\nhost = '${A B}'", '2:1 host = "${A B}" refers to "A B", which cannot be a variable\'s name'),
    ("[hub]\nhost = '${BOT'", '2:1 host = "${BOT" refers to "${" without "}"'),
    (
        "[hub]\nhost = '${file:none}'",
        '2:1 host = "${file:none}" refers to the file "none", which cannot be read: ',
    ),
    ("[hub]\nhost = '${file:}'", '2:1 host = "${file:}" refers to the file "", which cannot be read: '),
]


@pytest.mark.parametrize(("text", "title"), TITLES)
def test_a_broken_file_is_told_exactly(text: str, title: str) -> None:
    error = refusal(text)
    assert error.title.startswith(f"moot.toml:{title}")
    if not title.endswith((": ", "; expected ", "name", '"}"')):
        assert error.title == f"moot.toml:{title}"
    line, column = re.match(r"(\d+):(\d+) ", title).groups()  # type: ignore[union-attr]
    assert (error.facts["line"], error.facts["column"]) == (int(line), int(column))


SYNTAX = [
    (b"[hub", 1, 5, b"[hub"),
    (b"a = ", 1, 5, b"a ="),
    (b"[hub]\nport 80", 2, 6, b"port 80"),
    (b"[hub]\nhost = localhost", 2, 8, b"host = localhost"),
    (b'[hub]\nhost = "a\nport = 1', 2, 10, b'host = "a'),
    (b"[hub]\nport = 1\nport = 2", 3, 9, b"port = 2"),
    (b"[hub]\n[hub]", 2, 5, b"[hub]"),
    (b"a = [1,\n\n", 1, 8, b"a = [1,"),
    (b"[hub]\r\nport = \r\n", 2, 8, b"port ="),
    (b"\xef\xbb\xbf[hub]\nport = ", 2, 8, b"port ="),
]


@pytest.mark.parametrize(("data", "line", "column", "shown"), SYNTAX)
def test_a_syntax_error_has_its_place_and_its_line(data: bytes, line: int, column: int, shown: bytes) -> None:
    error = refusal(data)
    assert error.title.startswith(f"moot.toml:{line}:{column} is not TOML: ")
    assert error.detail.startswith(f"{line} | {shown.decode()}")
    assert (error.facts["line"], error.facts["column"]) == (line, column)
    assert "(at " not in error.title


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (b"[hub]\n# caf\xe9", "2:6 byte 0xe9 is not UTF-8; save the file as UTF-8"),
        (b"\xff\xfe[\0h\0", "1:1 byte 0xff is not UTF-8; save the file as UTF-8"),
        ("# é ".encode() + b"\xff", "1:5 byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"[hub]\nhost = 'a\0'", "2:10 there is a NUL byte; expected a text file in UTF-8"),
        (b"x = 1\ny = " + b"9" * 5000, "2:5 is not TOML: "),
        (b"#\nx = " + b"[" * 5000, "2:1 is nested too deeply; expected tables of plain values"),
        (b"x = " + b"{a=" * 5000, "1:1 is nested too deeply; expected tables of plain values"),
        (b"\n" + b".".join([b"bridges"] + [b"a"] * 3000) + b" = 1", "2:1 is nested too deeply"),
    ],
)
def test_what_is_no_text_or_too_much_of_one_is_refused(data: bytes, title: str) -> None:
    assert refusal(data).title.startswith(f"moot.toml:{title}")


def test_a_file_of_more_than_a_megabyte_is_refused() -> None:
    assert "longer than 1048576 bytes" in refusal(b"#" * (1024 * 1024 + 1)).title


def test_the_first_problem_of_the_file_is_told_and_the_others_counted() -> None:
    error = refusal("[groups]\nmax_depth = 0\n[hub]\nport = 'x'\nuser = 'X'\n[[agents]]", {"MOOT_A__B": "1"})
    assert error.title.startswith("moot.toml:2:1 max_depth")
    assert error.facts["more"] == 4
    assert error.detail.endswith("and 4 more problems")


def test_one_place_counts_once_however_much_is_wrong_with_it() -> None:
    error = refusal("[[agents]]\nname = '${NOPE}'")
    assert "refers to the environment variable NOPE" in error.title
    assert error.facts["more"] == 0


def test_a_bots_token_whose_variable_is_not_set_is_empty_and_stops_no_command() -> None:
    text = "[bridges.telegram]\nbots.x = '${NOPE}'\n[bridges.discord]\ntoken = '${NOPE}'\n"
    settings = parse(text.encode(), {})
    assert settings.bridges.telegram is not None
    assert settings.bridges.discord is not None
    assert (settings.bridges.telegram.bots, settings.bridges.discord.token) == ({"x": ""}, "")
    assert (
        "${" in refusal("[bridges.telegram]\nbots.x = '${NOPE'").title
    )  # a reference that is broken is refused


def test_line_ends_of_another_system_do_not_move_the_place() -> None:
    error = refusal("# a\r\n[hub]\r\n  port = 'x'\r\nhost = 'y'\r\n")
    assert error.title.startswith("moot.toml:3:3 port = ")
    assert error.detail == "3 |   port = 'x'\n  |   ^^^^^^^^^^"


def test_an_unknown_key_says_where_it_belongs_and_what_there_is() -> None:
    error = refusal("[hub]\nmax_depth = 3")
    assert error.detail.splitlines()[2:] == [
        "max_depth is a setting of [groups] and [spawn]",
        "expected one of host, port, policy, user, names, certificate, key, audit_key, leads",
    ]
    assert refusal("[hub]\nprot = 1").suggestions == ("port",)


def test_a_near_miss_of_an_allowed_value_is_suggested() -> None:
    assert refusal("[hub]\npolicy = 'opne'").suggestions == ("open",)
    assert refusal("[[agents]]\nname = 'a'\nbrain = 'dmeo'").suggestions == ("demo",)


def test_the_caret_stays_under_its_place_behind_tabs_and_wide_letters() -> None:
    error = refusal("agents = [{\tname = 'a', role = '\u4e2d\u0301',\tprot = 1 }]")
    line, caret = error.detail.splitlines()[:2]
    assert line == "1 | agents = [{\tname = 'a', role = '\u4e2d\u0301',\tprot = 1 }]"
    assert caret == "  | " + " " * 11 + "\t" + " " * 24 + "\t" + "^" * 8


def test_a_long_line_is_cut_around_the_caret() -> None:
    error = refusal("hub = { host = '" + "x" * 5000 + "', port = 'y' }\n[groups]")
    assert len(error.detail.splitlines()[0]) < 120
    assert (
        refusal("hub = { " + "a.b = 1, " * 0 + "host = 'x'," + " " * 5000 + "port = 'y' }").detail.count(
            "port = 'y'"
        )
        == 1
    )


def test_what_a_terminal_would_obey_is_not_repeated() -> None:
    error = refusal(b"[hub]\nhost = '\x1b[2J\xe2\x80\xae'")
    assert "\x1b" not in error.title + error.detail
    assert "\u202e" not in error.title + error.detail
    error = refusal('[hub]\nhost = "\\u001b[2J\\u202e"')
    assert "\x1b" not in error.title + error.detail
    assert "\u202e" not in error.title + error.detail


@pytest.mark.parametrize(
    "text",
    [
        "[bridges.discord]\ntoken = 's3cret'",
        "[bridges.discord]\ntoken = 's3cret",
        "[bridges.telegram.bots]\nx = 's3cret",
        "[bridges.telegram]\nbots.X = 's3cret'",
        "[bridges.telegram]\nbots = ['s3cret']",
        "bridges.telegram.bots = { x = 's3cret', x = 1 }",
        "[store]\nurl = 'mysql://me:s3cret@host/db'",
        "[store]\nurl = 'postgresql://me:s3cret@host/db",
        "[store]\nurl = 'mysql:me:s3cret@host'",
        "[store]\nurl = '${URL}'",
    ],
)
def test_a_secret_is_never_repeated(text: str) -> None:
    error = refusal(text, {"URL": "mysql://me:s3cret@host/db"})
    assert "s3cret" not in str(error.to_dict())


@given(st.data())
def test_a_mutated_file_raises_nothing_but_bad_settings(data: st.DataObject) -> None:
    mutant = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(mutant)))
        match data.draw(st.sampled_from(["put", "drop", "swap", "repeat"])):
            case "put":
                mutant[at:at] = data.draw(
                    st.binary(min_size=1, max_size=3)
                    | st.sampled_from([b"[", b"]", b'"', b"=", b"\n", b".", b"'", b"${", b"{", b"#"])
                )
            case "drop":
                del mutant[at : at + data.draw(st.integers(1, 20))]
            case "swap":
                mutant[at : at + 1] = data.draw(st.binary(min_size=1, max_size=1))
            case _:
                mutant[at:at] = mutant[at : at + data.draw(st.integers(1, 40))]
    error = outcome(bytes(mutant), ENVIRON)
    if error is not None:
        lines = bytes(mutant).decode("utf-8", "replace").split("\n")
        line, column = error.facts["line"], error.facts["column"]
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1
        assert error.title.startswith(f"moot.toml:{line}:{column} ")


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["''", "'a'", "1.5", "nan", "07:00:00", "'${BOT}'"]),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=4,
)


@given(
    st.sampled_from(
        [
            "hub",
            "hub.port",
            "agents",
            "links",
            "templates",
            "templates.x",
            "bridges",
            "bridges.telegram",
            "bridges.telegram.bots",
            "bridges.discord.token",
            "limits",
            "spawn.directories",
            "store.url",
        ]
    ),
    values,
)
def test_any_value_anywhere_raises_nothing_but_bad_settings(key: str, value: object) -> None:
    written = (
        str(value).replace("None", "{}").replace("True", "true").replace("False", "false").replace('"', "")
    )
    environ = {
        **ENVIRON,
        "MOOT_BRIDGES__DISCORD__TOKEN": "x",
        "MOOT_HUB__PORT": "1",
        "MOOT_STORE__URL": "sqlite:x",
    }
    error = outcome(f"{key} = {written}".encode(), environ)
    assert error is None or "is not TOML" not in error.title
