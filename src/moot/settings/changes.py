"""What a new moot.toml changes: which settings, which agents, and what of that can be applied while a hub runs.

Above: hub/process/settings_in_force.py takes it in. Below: the values. Not here: links, which are kept in the store.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Final

from msgspec import Struct, structs

from moot.settings.schema.fields import TABLES
from moot.settings.values import AgentSettings, Settings

COUNTED_BY_DOORS: Final = ("message_bytes", "requests_per_second", "open_at_once")
"""Limits that the doors read when they are opened."""
WHOLE_SECTIONS: Final = ("templates", "bridges")
"""Reported without details: they may hold secrets."""


class ChangedSetting(Struct, frozen=True):
    key: str
    before: object
    now: object


def in_force(before: Settings, new: Settings) -> Settings:
    """The new settings as far as a running hub can apply them, and the old ones otherwise."""
    limits_of_doors = {name: getattr(before.limits, name) for name in COUNTED_BY_DOORS}
    return structs.replace(
        before,
        hub=structs.replace(before.hub, policy=new.hub.policy),
        limits=structs.replace(new.limits, **limits_of_doors),
        groups=new.groups,
        agents=new.agents,
        links=new.links,
    )


def needs_restart(key: str) -> bool:
    """Whether a setting, such as `hub.port`, takes effect only when the hub starts again."""
    section, _, name = key.partition(".")
    if section == "limits":
        return name in COUNTED_BY_DOORS
    return key != "hub.policy" and section not in ("groups", "agents", "links")


def changed_settings(before: Settings, now: Settings) -> Iterator[ChangedSetting]:
    """All settings that differ, except agents and links."""
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
    """The settings of an agent that differ, by name."""
    fields = structs.fields(AgentSettings)
    return [field.encode_name for field in fields if getattr(before, field.name) != getattr(now, field.name)]


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else list(value) if isinstance(value, tuple) else value
