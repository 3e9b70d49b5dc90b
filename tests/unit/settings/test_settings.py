"""What the file and the environment say becomes one value: INTERFACES "Home and settings"."""

import os
from pathlib import Path

import pytest
from msgspec import structs

from moot.errors import BadSettings
from moot.model.conversation import GroupSettings, ReplyStrategy
from moot.model.limits import Limits, Terms
from moot.settings import (
    AgentSettings,
    DiscordSettings,
    Home,
    OnBusy,
    Policy,
    Relationship,
    Settings,
    TelegramSettings,
    load,
    not_yet,
    parse,
    terms,
)
from moot.settings.schema.fields import BRIDGES, FACTS, LISTS, TABLES
from moot.settings.schema.tools import Toolbox, toolbox, troubles
from moot.settings.values import Section, TemplateSettings

EXAMPLE = """
[hub]
host = "127.0.0.1"
port = 8420                 # 0 = any free port, printed and written to run/hub.json
policy = "auto"             # auto | open | links
user = "user"               # the human's name

[store]
url = "sqlite:moot.db"
[log]
url = "embedded:"
topic_prefix = ""

[groups]
reply_strategy = "hybrid"
turn_order = "sequential"
max_agent_turns_per_message = 3
max_depth = 2
reactive_round = true
agent_reply_timeout = 30.0
turn_limit_seconds = 600
voluntary_timeout = 10.0
cooldown_seconds = 2.0
max_voluntary_responders = 3
max_voluntary_polls = 8
agents_may_invite = false
links_bind = false

[limits]
chain_turns = 16
chain_depth = 8
pair_window_seconds = 5
pair_backoff_seconds = 2
pair_backoff_max_seconds = 30
pair_per_minute = 10
pair_reset_seconds = 30
agent_turns_per_hour = 120
agent_roots_per_hour = 60
message_bytes = 262144
requests_per_second = 10
open_at_once = 32

[host]
lease_seconds = 15
sweep_seconds = 30

[spawn]
max_live = 32
max_children = 8
max_depth = 3
per_hour = 10
directories = []
"""
MORE = """
[[agents]]
name = "arya"
role = "backend engineer"
brain = "demo"
context_messages = 20
context_tokens = 8000
on_busy = "queue"
concurrency = 4
project = "."
tools = []
avatar = ""
autostart = true

[[links]]
from = "manager"
to = "support"
direction = "two_way"
relationship = "superior"
enabled = true

[templates.reviewer]
brain = "command:claude"

[bridges.telegram]
default_agent = "analyst"
bots.analyst = "${TELEGRAM_BOT_TOKEN_ANALYST}"
[bridges.discord]
token = "${DISCORD_TOKEN}"
identity = "webhook"
"""
TOKENS = {"TELEGRAM_BOT_TOKEN_ANALYST": "1:t", "DISCORD_TOKEN": "d"}


def parsed(text: str, **environ: str) -> Settings:
    return parse(text.encode(), environ)


def refused(text: str, **environ: str) -> BadSettings:
    with pytest.raises(BadSettings) as caught:
        parsed(text, **environ)
    return caught.value


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "\ufeff", EXAMPLE, EXAMPLE.replace("\n", "\r\n")])
def test_an_empty_file_and_one_that_spells_out_the_defaults_are_the_same(text: str) -> None:
    assert parsed(text) == Settings()


def test_the_documented_example_is_read() -> None:
    settings = parsed(EXAMPLE + MORE, **TOKENS)
    assert settings.agents == (AgentSettings(name="arya", role="backend engineer"),)
    assert settings.links[0].sender == "manager"
    assert settings.links[0].relationship is Relationship.SUPERIOR
    assert settings.templates["reviewer"].brain == "command:claude"
    assert settings.bridges.telegram == TelegramSettings(default_agent="analyst", bots={"analyst": "1:t"})
    assert settings.bridges.discord == DiscordSettings(token="d")


@pytest.mark.parametrize(
    "brain",
    [
        *(
            "demo",
            "external",
            "code:team:arya",
            "code:pkg.team:crew.arya",
            "anthropic:claude-x",
            "openai:gpt-x",
        ),
        *("openai:llama3:8b@http://127.0.0.1:11434/v1", "command:claude", "command:mycli --ask {prompt}"),
        "a2a:https://example.org/agent",
    ],
)
def test_every_form_of_brain_is_accepted(brain: str) -> None:
    assert parsed(f"[[agents]]\nname = 'a'\nbrain = '{brain}'").agents[0].brain == brain


@pytest.mark.parametrize(
    "brain",
    [
        "",
        "demo:x",
        "code:",
        "code:a",
        "code:a:",
        "code:1:b",
        "anthropic:",
        "openai:m@",
        "openai:m@ftp://x",
        "command:",
        "a2a:x",
        "a2a:http://",
        "Demo",
        "external:x",
    ],
)
def test_what_is_no_form_of_brain_is_refused(brain: str) -> None:
    assert refused(f"[[agents]]\nname = 'a'\nbrain = '{brain}'").facts["key"] == "agents[0].brain"


def test_a_command_brain_does_one_thing_at_a_time_unless_told_otherwise() -> None:
    text = "[[agents]]\nname = 'a'\nbrain = 'command:claude'\n[templates.t]\nbrain = 'command:codex'"
    assert parsed(text).agents[0].concurrency == 1
    assert parsed(text).templates["t"].concurrency == 1
    assert parsed(text, MOOT_AGENTS__A__CONCURRENCY="3").agents[0].concurrency == 3


@pytest.mark.parametrize(
    ("section", "key", "value", "expected"),
    [
        ("hub", "port", "0", 0),
        ("hub", "policy", "open", Policy.OPEN),
        ("hub", "user", "ann", "ann"),
        ("limits", "chain_turns", "4", 4),
        ("limits", "pair_window_seconds", "0.5", 0.5),
        ("groups", "reactive_round", "off", False),
        ("groups", "links_bind", "TRUE", True),
        ("groups", "reply_strategy", "mention_only", ReplyStrategy.MENTION_ONLY),
        ("host", "lease_seconds", "3", 3.0),
        ("spawn", "directories", "a;b c", ("a", "b c")),
    ],
)
def test_a_variable_wins_over_the_file(section: str, key: str, value: str, expected: object) -> None:
    settings = parsed(EXAMPLE, **{f"MOOT_{section.upper()}__{key.upper()}": value})
    assert getattr(getattr(settings, section), key) == expected
    assert type(getattr(getattr(settings, section), key)) is type(expected)


def test_agents_templates_and_bridges_can_be_set_by_name() -> None:
    settings = parsed(
        "[[agents]]\nname = 'code-x.2'\nproject = '../work'\n[templates.t]",
        MOOT_AGENTS__CODE_X_2__ON_BUSY="interrupt",
        MOOT_AGENTS__CODE_X_2__TOOLS="shell:git,ls; notes",
        MOOT_TEMPLATES__T__ROLE="reviewer",
        MOOT_BRIDGES__TELEGRAM__BOTS__CODE_X_2="1:t",
    )
    assert settings.agents[0].on_busy is OnBusy.INTERRUPT
    assert settings.agents[0].tools == ("shell:git,ls", "notes")
    assert settings.templates["t"] == TemplateSettings(role="reviewer")
    assert settings.bridges.telegram == TelegramSettings(bots={"code-x.2": "1:t"})


def test_names_without_two_underscores_are_left_alone() -> None:
    environ = {"MOOT_HOME": "/x", "MOOT_TIER": "fast", "MOOT_": "", "moot_hub__port": "x", "OTHER__PORT": "x"}
    assert parsed("", **environ) == Settings()


@pytest.mark.parametrize(
    ("variable", "suggested", "detail"),
    [
        ("MOOT_HUB__PROT", "MOOT_HUB__PORT", "[hub] has host, port, policy, user"),
        ("MOOT_HUBB__PORT", "MOOT_HUB__PORT", "sections are hub, store, "),
        ("MOOT_LIMIT__CHAIN_TURNS", "MOOT_LIMITS__CHAIN_TURNS", "sections are hub, "),
        ("MOOT_AGENTS__AYRA__BRAIN", "MOOT_AGENTS__ARYA__BRAIN", ""),
        ("MOOT_LINKS__X__FROM", None, "links are set in moot.toml"),
        ("MOOT___X", None, "sections are hub, "),
        ("MOOT_HUB__", None, "[hub] has "),
    ],
)
def test_an_unknown_variable_is_refused_with_near_ones(
    variable: str, suggested: str | None, detail: str
) -> None:
    error = refused("[[agents]]\nname = 'arya'", **{variable: "1"})
    assert error.title.startswith(f"{variable} is not a setting")
    if suggested:
        assert error.suggestions[0] == suggested
        assert error.title.endswith(f"; did you mean {suggested}?")
    assert error.detail.startswith(detail)
    assert error.fix == (f"unset {variable}",)
    assert error.facts["file"] == "environment"


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("MOOT_HUB__PORT", "x", ' = "x" is not a whole number from 0 to 65535'),
        ("MOOT_HUB__PORT", "", ' = "" is not a whole number from 0 to 65535'),
        ("MOOT_HUB__PORT", "65536", ' = "65536" is not a whole number from 0 to 65535'),
        ("MOOT_HUB__POLICY", "AUTO", ' = "AUTO" is not one of auto, open, links'),
        ("MOOT_GROUPS__LINKS_BIND", "maybe", ' = "maybe" is not true or false'),
        (
            "MOOT_HOST__LEASE_SECONDS",
            "nan",
            ' = "nan" is not a number of seconds, more than 0 and at most a year',
        ),
        ("MOOT_HUB__USER", "Ann", ': user = "Ann" is not a name; expected '),
    ],
)
def test_a_variable_with_a_wrong_value_is_refused(variable: str, value: str, words: str) -> None:
    error = refused("", **{variable: value})
    assert error.title.startswith(variable + words)
    assert error.facts["key"] == variable.removeprefix("MOOT_").replace("__", ".").lower()
    assert (error.facts["file"], error.facts["line"]) == ("environment", 0)
    assert error.fix == (f"unset {variable}",)


def test_a_variable_that_fits_two_agents_is_refused() -> None:
    error = refused("[[agents]]\nname = 'a-b'\n[[agents]]\nname = 'a_b'", MOOT_AGENTS__A_B__ROLE="x")
    assert "is ambiguous" in error.title


def test_a_secret_in_a_variable_is_not_repeated() -> None:
    assert "s3cret" not in str(refused("", MOOT_STORE__URL="mysql://me:s3cret@h/d").to_dict())


def test_references_are_filled_in_wherever_they_stand() -> None:
    text = "[[agents]]\nname = '${WHO}'\nproject = '../work'\nrole = 'for ${WHO} at ${PLACE}'\ntools = ['shell:${WHO}']"
    agent = parsed(text, WHO="arya", PLACE="${WHO}").agents[0]
    assert (agent.name, agent.role, agent.tools) == ("arya", "for arya at ${WHO}", ("shell:arya",))


def test_two_dollars_stand_for_a_plain_one() -> None:
    agent = parsed("[[agents]]\nname = 'a'\nbrain = 'command:x $${PROMPT} $5 $$ $'").agents[0]
    assert agent.brain == "command:x ${PROMPT} $5 $$ $"


def test_a_reference_in_a_comment_is_no_reference() -> None:
    assert parsed("# ${NOPE}\n[hub]") == Settings()


def test_a_value_from_a_variable_is_taken_as_it_is() -> None:
    assert parsed("[[agents]]\nname = 'a'", MOOT_AGENTS__A__ROLE="${NOPE}").agents[0].role == "${NOPE}"


def test_a_wrong_value_that_was_filled_in_is_shown_as_it_was_written() -> None:
    error = refused("[hub]\nhost = '${PLACE}'", PLACE="a b s3cret")
    assert (
        error.title == 'moot.toml:2:1 host = "${PLACE}" is not a host name or an address, such as 127.0.0.1'
    )
    assert error.detail.endswith("this is the value after ${…} was filled in")
    assert "s3cret" not in str(error.to_dict())


def test_a_secret_can_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(" 1:t\n", encoding="utf-8")
    (tmp_path / "moot.toml").write_text("[bridges.discord]\ntoken = '${file:token}'", encoding="utf-8")
    discord = load(Home(tmp_path), {}).bridges.discord
    assert discord is not None
    assert discord.token == "1:t"


@pytest.mark.parametrize(("contents", "words"), [(b"\xff", "not UTF-8 text"), (b"x" * 70_000, "longer than")])
def test_a_file_that_cannot_be_a_secret_is_refused(tmp_path: Path, contents: bytes, words: str) -> None:
    (tmp_path / "token").write_bytes(contents)
    with pytest.raises(BadSettings, match=words):
        parse(b"[hub]\nhost = '${file:token}'", {}, folder=tmp_path)


def test_no_file_means_the_defaults(tmp_path: Path) -> None:
    assert load(Home(tmp_path / "nowhere"), {}) == Settings()


def test_the_error_names_the_whole_path_in_its_facts(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text("x = 1", encoding="utf-8")
    with pytest.raises(BadSettings, match=r"^moot\.toml:1:1 x is not a section") as caught:
        load(Home(tmp_path), {})
    assert caught.value.facts["file"] == str(tmp_path / "moot.toml")


def test_a_directory_a_pipe_and_a_dangling_link_are_refused(tmp_path: Path) -> None:
    toml = tmp_path / "moot.toml"
    toml.mkdir()
    with pytest.raises(BadSettings, match="is a directory"):
        load(Home(tmp_path), {})
    toml.rmdir()
    os.mkfifo(toml)
    with pytest.raises(BadSettings, match="is a pipe"):
        load(Home(tmp_path), {})
    toml.unlink()
    toml.symlink_to(tmp_path / "gone")
    with pytest.raises(BadSettings, match="a link to a file that does not exist"):
        load(Home(tmp_path), {})


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "moot.toml").write_text("", encoding="utf-8")

    def refuse(*_: object) -> None:
        raise PermissionError(
            13, "Permission denied"
        )  # root may read everything, so chmod would prove nothing

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(BadSettings, match="cannot be read by this user") as caught:
        load(Home(tmp_path), {})
    assert str(caught.value.fix[0]).startswith("chmod u+r ")


def test_a_home_inside_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BadSettings, match=r"moot\.toml cannot be read"):
        load(Home(tmp_path / "file"), {})


def test_terms_are_what_the_verbs_need() -> None:
    settings = parsed(
        "[hub]\nuser='ann'\n[host]\nlease_seconds=3\n[limits]\nchain_turns=2\n[groups]\nmax_depth=1"
    )
    assert terms(settings) == Terms(
        groups=GroupSettings(max_depth=1), limits=Limits(chain_turns=2), lease_seconds=3.0, user="ann"
    )
    assert terms(Settings()) == Terms()


def test_what_is_set_but_not_built_is_listed() -> None:
    assert not_yet(Settings()) == []
    assert not_yet(parsed(EXAMPLE)) == []
    more = "[[agents]]\nname = 'b'\nbrain = 'a2a:https://x.example'\ntools = ['tasks']\n[spawn]\nper_hour = 1"
    listed = not_yet(
        parsed(MORE + more, **TOKENS, MOOT_STORE__URL="postgresql://u@h/d", MOOT_LOG__URL="kafka://h:9092")
    )
    assert listed == ["agents.b.brain"]


def test_every_tool_that_can_be_named_is_built() -> None:
    tools = "['shell:git', 'text-tools', 'notes', 'tasks', 'messages']"
    assert not_yet(parsed(f"[[agents]]\nname = 'a'\nproject = '../work'\ntools = {tools}\n")) == []


@pytest.mark.parametrize(
    ("tools", "means"),
    [
        ((), Toolbox()),
        (("shell:git, ls,git",), Toolbox(programs=("git", "ls"))),
        (("shell-unsandboxed:git",), Toolbox(programs=("git",), sandboxed=False)),
        (("text-tools", "shell:git"), Toolbox(programs=("git",), text_form=True)),
        (("notes", "messages", "tasks"), Toolbox(messages=True, tasks=True, notes=True)),
    ],
)
def test_what_a_list_of_tools_allows(tools: tuple[str, ...], means: Toolbox) -> None:
    assert list(troubles(tools)) == []
    assert toolbox(tools) == means


def test_every_field_has_a_meaning_and_takes_its_own_default() -> None:
    kinds: set[Section] = {*TABLES.values(), *LISTS.values(), *BRIDGES.values(), TemplateSettings}
    assert kinds == set(FACTS)
    for kind in kinds:
        fields = {field.encode_name: field for field in structs.fields(kind)}
        assert set(fields) == set(FACTS[kind]), kind
        for name, field in fields.items():
            default = list(field.default) if isinstance(field.default, tuple) else field.default
            if isinstance(default, str | int | float | list):
                assert FACTS[kind][name].takes.fits(default), (kind, name)
                assert FACTS[kind][name].meaning.strip()


def test_every_section_is_a_field_of_the_settings() -> None:
    assert {f.encode_name for f in structs.fields(Settings)} == {*TABLES, *LISTS, "templates", "bridges"}
