"""What another moot.toml changes: which settings, which agents, and what of it can be taken in while a hub runs.

Above: hub/process/settings_in_force.py takes it in. Below: the values. Not here: links, which are kept in the store.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Final

from msgspec import Struct, structs

from moot.settings.schema.fields import TABLES
from moot.settings.values import AgentSettings, Settings

COUNTED_BY_DOORS: Final = ("message_bytes", "requests_per_second", "open_at_once")
"""Limits that the doors have taken in when they were opened."""
WHOLE_SECTIONS: Final = ("templates", "bridges")
"""Told of as a whole: they may hold secrets."""


class ChangedSetting(Struct, frozen=True):
    key: str
    before: object
    now: object


def in_force(before: Settings, wanted: Settings) -> Settings:
    """Of new settings what a hub can begin to heed at any time, and of the old ones all the rest."""
    kept = {name: getattr(before.limits, name) for name in COUNTED_BY_DOORS}
    return structs.replace(
        before,
        hub=structs.replace(before.hub, policy=wanted.hub.policy),
        limits=structs.replace(wanted.limits, **kept),
        groups=wanted.groups,
        agents=wanted.agents,
        links=wanted.links,
    )


def needs_restart(key: str) -> bool:
    """Whether a running hub heeds a setting, such as `hub.port`, only when it starts again."""
    section, _, name = key.partition(".")
    if section == "limits":
        return name in COUNTED_BY_DOORS
    return key != "hub.policy" and section not in ("groups", "agents", "links")


def changed_settings(before: Settings, now: Settings) -> Iterator[ChangedSetting]:
    """Everything that is set otherwise, but for agents and links."""
    for section, kind in TABLES.items():
        one, other = getattr(before, section), getattr(now, section)
        for field in structs.fields(kind) if one != other else ():
            old, new = getattr(one, field.name), getattr(other, field.name)
            if old != new:
                yield ChangedSetting(f"{section}.{field.encode_name}", _plain(old), _plain(new))
    for section in WHOLE_SECTIONS:
        if getattr(before, section) != getattr(now, section):
            yield ChangedSetting(section, None, None)


def changed_fields(before: AgentSettings, now: AgentSettings) -> list[str]:
    """What is otherwise about an agent, by the names of its settings."""
    fields = structs.fields(AgentSettings)
    return [field.encode_name for field in fields if getattr(before, field.name) != getattr(now, field.name)]


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else list(value) if isinstance(value, tuple) else value
