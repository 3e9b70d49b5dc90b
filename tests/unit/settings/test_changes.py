"""What another moot.toml changes, what of it can be in force at once, and where a row of it stands."""

from pathlib import Path

import pytest
from msgspec import structs

from moot.errors import BadSettings
from moot.model.conversation import GroupSettings
from moot.model.limits import Limits
from moot.settings import AgentSettings, HostSettings, HubSettings, Policy, Settings
from moot.settings.changes import ChangedSetting, changed_fields, changed_settings, in_force
from moot.settings.load import parse_file
from moot.settings.problems import SettingProblem
from moot.settings.schema.fields import TABLES
from moot.settings.values import TelegramSettings


def test_what_is_heeded_at_once_is_taken_and_the_rest_waits() -> None:
    before = Settings(agents=(AgentSettings(name="a"),))
    wanted = Settings(
        hub=HubSettings(policy=Policy.OPEN, port=1, user="karl"),
        groups=GroupSettings(max_depth=9),
        limits=Limits(chain_turns=1, message_bytes=7),
        host=HostSettings(lease_seconds=3.0),
        agents=(AgentSettings(name="b"),),
    )
    now = in_force(before, wanted)
    assert (now.hub, now.host) == (HubSettings(policy=Policy.OPEN), before.host)
    assert (now.groups, now.limits, now.agents) == (wanted.groups, Limits(chain_turns=1), wanted.agents)
    assert [change.key for change in changed_settings(now, wanted)] == [
        "hub.port",
        "hub.user",
        "limits.message_bytes",
        "host.lease_seconds",
    ]
    assert in_force(now, wanted) == now


def test_every_section_is_compared() -> None:
    """One that is added to the settings is told of too."""
    told = {*TABLES, "templates", "bridges"}
    assert {field.name for field in structs.fields(Settings)} - told == {"agents", "links"}


def test_values_are_told_plainly_and_secrets_not_at_all() -> None:
    before, now = Settings(), Settings(hub=HubSettings(policy=Policy.LINKS, names=("x",)))
    assert list(changed_settings(before, now)) == [
        ChangedSetting("hub.policy", "auto", "links"),
        ChangedSetting("hub.names", [], ["x"]),
    ]
    bots = structs.replace(
        before, bridges=structs.replace(before.bridges, telegram=TelegramSettings(bots={"a": "secret"}))
    )
    assert list(changed_settings(before, bots)) == [ChangedSetting("bridges", None, None)]


def test_what_is_otherwise_about_an_agent_is_named() -> None:
    before = AgentSettings(name="a", brain="demo")
    assert changed_fields(before, before) == []
    assert changed_fields(before, structs.replace(before, brain="code:x:y", tools=("notes",))) == [
        "brain",
        "tools",
    ]


TEXT = b"""\
# who may write to whom
[[links]]
from = "a"
to = "b"

[[links]]
to = "d"
from = "c"
"""


def test_a_row_is_found_by_its_line_and_refused_with_it() -> None:
    file = parse_file(TEXT, {}, file="/home/karl/.moot/moot.toml", folder=Path())
    assert [file.place(("links", number)) for number in (0, 1)] == ["moot.toml:2", "moot.toml:6"]
    assert file.place(("groups",)) == "moot.toml"
    refused = file.refusal(SettingProblem(("links", 1, "from"), 'from = "c" names nobody'))
    assert isinstance(refused, BadSettings)
    assert refused.title == 'moot.toml:8:1 from = "c" names nobody'
    assert refused.detail == '8 | from = "c"\n  | ^^^^^^^^^^'


@pytest.mark.parametrize("data", [TEXT.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + TEXT])
def test_a_file_is_another_when_a_byte_of_it_is(data: bytes) -> None:
    one, other = (parse_file(text, {}, file="moot.toml", folder=Path()) for text in (TEXT, data))
    assert one.settings == other.settings
    assert one.digest != other.digest
    assert one.place(("links", 1)) == other.place(("links", 1))
