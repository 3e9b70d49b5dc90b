"""What every setting means and which values it takes, field by field.

Above: checks.py judges by it, environment.py reads by it, tools/reference.py prints it. Below: constraints.py.
Not here: defaults; they stand in the values themselves. The model's settings are described here too, so that
the model stays free of prose.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from moot.model.conversation import GroupSettings, ReplyStrategy, TurnOrder
from moot.model.limits import Limits
from moot.settings.schema import constraints
from moot.settings.schema.constraints import Takes, flag, one_of, rate, seconds, whole
from moot.settings.values import (
    AgentSettings,
    ContextSettings,
    Direction,
    DiscordIdentity,
    DiscordSettings,
    HostSettings,
    HousekeepingSettings,
    HubSettings,
    LinkSettings,
    LogSettings,
    OnBusy,
    Policy,
    Relationship,
    Section,
    SpawnSettings,
    StoreSettings,
    TelegramSettings,
    TemplateSettings,
)


class Fact(Struct, frozen=True):
    meaning: str
    takes: Takes
    secret: bool = False
    """May hold a secret: never shown in an error."""


_RUNS: Final = {
    "role": Fact("What it does, in one line; `ROLE.md` in its workspace says more", constraints.LINE),
    "brain": Fact("What thinks for it", constraints.BRAIN),
    "context_messages": Fact("Newest messages it is given for a turn", whole(1, 10_000)),
    "context_tokens": Fact("Tokens of history it is given for a turn", whole(1, 10_000_000)),
    "on_busy": Fact("What a message does while it is in a turn", one_of(OnBusy)),
    "concurrency": Fact(
        "Conversations it works in at once; command brains have 1 unless this is set", whole(1, 1000)
    ),
    "project": Fact("Working directory of command brains and tools", constraints.FOLDER),
    "tools": Fact(
        "Tools it may use: `shell:git,ls` runs these programs in a sandbox (`shell-unsandboxed:git,ls` without "
        "one), `text-tools` also reads `# Run bash …` in its text; `notes`, `tasks`, `messages`",
        constraints.TOOLS,
    ),
    "avatar": Fact("Picture or sign that stands for it", constraints.PLAIN),
}

FACTS: Final[Mapping[Section, Mapping[str, Fact]]] = {
    HubSettings: {
        "host": Fact("Address the hub listens on", constraints.HOST),
        "port": Fact("Port the hub listens on; 0 takes any free one", whole(0, 65535)),
        "policy": Fact(
            "Who may address whom: `auto` binds agents that have links, `open` nobody, `links` everybody",
            one_of(Policy),
        ),
        "user": Fact("The human's name", constraints.NAME),
        "names": Fact(
            "Further names or addresses that clients may use in the Host header", constraints.HOSTS
        ),
        "certificate": Fact(
            "TLS certificate chain (PEM); with it the hub speaks HTTPS", constraints.PATH_OR_NOTHING
        ),
        "key": Fact("Private key of that certificate (PEM)", constraints.PATH_OR_NOTHING),
    },
    StoreSettings: {
        "url": Fact("Database; a SQLite file is looked up from the home", constraints.STORE, secret=True),
    },
    LogSettings: {
        "url": Fact("Event log", constraints.LOG, secret=True),
        "topic_prefix": Fact("What every topic name begins with", constraints.PREFIX),
    },
    GroupSettings: {
        "reply_strategy": Fact(
            "Who answers: the mentioned and whoever wants to, only the mentioned, or each in turn",
            one_of(ReplyStrategy),
        ),
        "turn_order": Fact(
            "Whether mentioned agents speak one after the other or at once", one_of(TurnOrder)
        ),
        "max_agent_turns_per_message": Fact("Turns that one message can cause", whole(1, 1000)),
        "max_depth": Fact("How far a reaction may be from the message that began the round", whole(1, 100)),
        "reactive_round": Fact("Whether agents are asked once more after others spoke", flag()),
        "agent_reply_timeout": Fact("Seconds a turn may last without a sign of life", seconds()),
        "turn_limit_seconds": Fact("Seconds a turn may last at all", seconds()),
        "voluntary_timeout": Fact("`agent_reply_timeout` of polls in groups of 5 agents and more", seconds()),
        "cooldown_seconds": Fact(
            "Seconds an agent rests after speaking before it is polled", seconds(zero=True)
        ),
        "max_voluntary_responders": Fact("Polled agents that may speak in one round", whole(0, 1000)),
        "max_voluntary_polls": Fact("Agents polled in one round, in groups of 5 and more", whole(0, 1000)),
        "agents_may_invite": Fact("Whether agents may bring others into the group", flag()),
        "links_bind": Fact("Whether the link graph binds agents inside the group too", flag()),
    },
    Limits: {
        "chain_turns": Fact("Agent turns in a row without a human before the chain is paused", whole(1)),
        "chain_depth": Fact("Hops from a human's message before the chain is paused", whole(1)),
        "pair_window_seconds": Fact(
            "Messages between two agents closer together than this are slowed down", seconds(zero=True)
        ),
        "pair_backoff_seconds": Fact("First delay of such a message; it doubles", seconds(zero=True)),
        "pair_backoff_max_seconds": Fact("Longest such delay", seconds(zero=True)),
        "pair_per_minute": Fact("Messages a minute from one agent to another", whole(1)),
        "pair_reset_seconds": Fact("Silence after which the delay begins anew", seconds(zero=True)),
        "agent_turns_per_hour": Fact("Turns an agent may take in an hour", whole(1)),
        "agent_roots_per_hour": Fact("Chains an agent may begin of itself in an hour", whole(0)),
        "message_bytes": Fact("Longest message, in bytes of UTF-8", whole(1, 64 * 1024 * 1024)),
        "requests_per_second": Fact(
            "Requests of one agent or remote token, with bursts of five times as many; the owner is exempt",
            rate(),
        ),
        "open_at_once": Fact(
            "Streams, sockets and waiting requests that one participant may have open; the owner is exempt",
            whole(1),
        ),
    },
    HostSettings: {
        "lease_seconds": Fact("How long the agents of a host that fell silent count as present", seconds()),
        "sweep_seconds": Fact("How often what ran out of time is looked for", seconds()),
    },
    ContextSettings: {
        "summary_brain": Fact(
            "What sums up the beginning of long conversations for agents that no longer see it",
            constraints.SUMMING,
        ),
        "summary_messages": Fact("Messages that one summary adds to the last", whole(2, 10_000)),
        "summary_words": Fact("How long a summary may be", whole(10, 10_000)),
    },
    HousekeepingSettings: {
        "archive_after_days": Fact(
            "Days without a word after which a settled conversation is archived; 0: never", whole(0, 36_500)
        ),
        "ephemeral_archive_minutes": Fact(
            "Minutes after which a settled ephemeral conversation is archived; 0: never", whole(0, 1_000_000)
        ),
        "events_keep_days": Fact(
            "Days that the event log reaches back; who reads from further back gets a `reset`; 0: for ever",
            whole(0, 36_500),
        ),
        "backup_every_hours": Fact("Hours between two automatic backups; 0: none", whole(0, 100_000)),
        "backups_keep": Fact("Automatic backups that are kept; older ones go", whole(1, 10_000)),
    },
    AgentSettings: {
        "name": Fact("What people type after `@`", constraints.NAME),
        "display": Fact("Name for the eye, free text; addresses nobody", constraints.DISPLAY),
        "color": Fact(
            "Colour it is shown in, where the one of its name clashes; empty: that one", constraints.COLOUR
        ),
        **_RUNS,
        "autostart": Fact("Whether it starts with the hub", flag()),
    },
    LinkSettings: {
        "from": Fact("The agent that `relationship` is said of", constraints.PARTICIPANT),
        "to": Fact("The agent at the other end", constraints.PARTICIPANT),
        "direction": Fact("Who may start: only `from`, or both", one_of(Direction)),
        "relationship": Fact("What `from` is of `to`", one_of(Relationship)),
        "enabled": Fact("Whether anything may pass", flag()),
    },
    TemplateSettings: _RUNS,
    SpawnSettings: {
        "max_live": Fact("Spawned agents alive at once", whole(0, 100_000)),
        "max_children": Fact("Spawned agents alive at once that one agent started", whole(0, 100_000)),
        "max_depth": Fact("Generations: a spawned agent that spawns is one deeper", whole(0, 100)),
        "per_hour": Fact("Spawns of one agent in an hour", whole(0)),
        "directories": Fact("Folders in which spawned agents may work", constraints.FOLDERS),
    },
    TelegramSettings: {
        "default_agent": Fact("Who answers where no bot's agent is meant", constraints.NAME_OR_NOTHING),
        "bots": Fact("Agent name to bot token, one bot per agent", constraints.SECRET, secret=True),
    },
    DiscordSettings: {
        "default_agent": Fact("Who answers where nobody is mentioned", constraints.NAME_OR_NOTHING),
        "token": Fact("Token of the one bot that serves all agents", constraints.SECRET, secret=True),
        "identity": Fact(
            "How agents show themselves: by webhook, or each as its own bot", one_of(DiscordIdentity)
        ),
        "bots": Fact('Agent name to bot token, for `identity = "bots"`', constraints.SECRET, secret=True),
    },
}

TABLES: Final[Mapping[str, Section]] = {
    "hub": HubSettings,
    "store": StoreSettings,
    "log": LogSettings,
    "groups": GroupSettings,
    "limits": Limits,
    "host": HostSettings,
    "context": ContextSettings,
    "housekeeping": HousekeepingSettings,
    "spawn": SpawnSettings,
}
LISTS: Final[Mapping[str, Section]] = {"agents": AgentSettings, "links": LinkSettings}
BRIDGES: Final[Mapping[str, Section]] = {"telegram": TelegramSettings, "discord": DiscordSettings}
SECRET_TABLE: Final = "bots"
"""The one field that is a table: agent name → token."""
