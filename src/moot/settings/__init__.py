"""What the owner has decided, in moot.toml and in the environment, read once into one frozen value.

Above: wiring, the hub and the command line. Below: the model's settings, the rules of names, errors.
Not here: what is changed at run time and kept in the store; secrets, which are only referred to.

`home` finds the folder; `load` reads; `values` are the values; `schema/fields` says what each is for.
"""

from moot.model.records.link import Direction, Policy, Relationship
from moot.settings.home import Home, find_home
from moot.settings.load import SettingsFile, load, not_yet, parse, read, terms
from moot.settings.values import (
    AgentSettings,
    BridgeSettings,
    ContextSettings,
    DiscordIdentity,
    DiscordSettings,
    HostSettings,
    HousekeepingSettings,
    HubSettings,
    LinkSettings,
    LogSettings,
    OnBusy,
    OtelSettings,
    RunSettings,
    Settings,
    SpawnSettings,
    StoreSettings,
    TelegramSettings,
    TemplateSettings,
)

__all__ = [
    "AgentSettings",
    "BridgeSettings",
    "ContextSettings",
    "Direction",
    "DiscordIdentity",
    "DiscordSettings",
    "Home",
    "HostSettings",
    "HousekeepingSettings",
    "HubSettings",
    "LinkSettings",
    "LogSettings",
    "OnBusy",
    "OtelSettings",
    "Policy",
    "Relationship",
    "RunSettings",
    "Settings",
    "SettingsFile",
    "SpawnSettings",
    "StoreSettings",
    "TelegramSettings",
    "TemplateSettings",
    "find_home",
    "load",
    "not_yet",
    "parse",
    "read",
    "terms",
]
