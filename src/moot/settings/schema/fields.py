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
from moot.model.records.link import Direction, Policy, Relationship
from moot.settings.schema import constraints
from moot.settings.schema.constraints import Takes, amount, flag, one_of, rate, seconds, whole
from moot.settings.values import (
    AgentSettings,
    CliCredential,
    CliPermissions,
    CliSandbox,
    CodingSettings,
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
    Section,
    SpawnSettings,
    StoreSettings,
    TelegramSettings,
    TemplateSettings,
    Worktree,
)


class Fact(Struct, frozen=True):
    meaning: str
    takes: Takes
    secret: bool = False
    """May hold a secret: never shown in an error."""


_RUNS: Final[Mapping[str, Fact]] = {
    "role": Fact("What it does, in one line; `ROLE.md` in its workspace says more", constraints.LINE),
    "brain": Fact("What runs it: a model, the demo, a function or a program", constraints.BRAIN),
    "context_messages": Fact(
        "Maximum number of messages it is given for a turn, the newest ones", whole(1, 10_000)
    ),
    "context_tokens": Fact(
        "Maximum number of tokens of history it is given for a turn", whole(1, 10_000_000)
    ),
    "on_busy": Fact("What a new message does while the agent is in a turn", one_of(OnBusy)),
    "concurrency": Fact(
        "Conversations it can work in at the same time; 1 for command brains unless set", whole(1, 1000)
    ),
    "project": Fact("Working directory of command brains and tools", constraints.FOLDER),
    "tools": Fact(
        (
            "Tools it may use: `shell:git,ls` runs these programs in a sandbox "
            "(`shell-unsandboxed:git,ls` without one), `text-tools` also finds calls written as `# Run "
            "bash …` in its text; `notes` reads and writes the shared notes granted to the agent, "
            "`messages` writes to other agents, `tasks` delegates and reports"
        ),
        constraints.TOOLS,
    ),
    "permissions": Fact(
        (
            "What a coding CLI may do: `read`, change files of its project (`edit`), the same and wait for a person "
            "for the rest (`ask`), or anything (`all`, needs a sandbox)"
        ),
        one_of(CliPermissions),
    ),
    "credential": Fact(
        "How a coding CLI is paid for: its own login, or the key that Moot keeps for its provider",
        one_of(CliCredential),
    ),
    "sandbox": Fact("What a coding CLI is shut into", one_of(CliSandbox)),
    "environment": Fact(
        "Further environment variables that a coding CLI is given; all others are kept from it",
        constraints.VARIABLES,
    ),
    "budget_usd": Fact("Maximum amount in US dollars it may spend per day (UTC); 0: no limit", amount()),
    "budget_tokens": Fact("Maximum number of tokens it may use per day (UTC); 0: no limit", whole(0)),
    "avatar": Fact("Picture or symbol shown for it", constraints.PLAIN),
    "spawns": Fact('Templates from which it may start agents; `["*"]`: all', constraints.TEMPLATES),
}

_BRIDGE: Final[Mapping[str, Fact]] = {
    "enabled": Fact("Whether the bridge runs", flag()),
    "guest_messages_per_minute": Fact("Messages a minute that one guest may send", whole(0, 10_000)),
    "guest_messages_per_day": Fact("Messages a day that one guest may send", whole(0, 1_000_000)),
    "api_url": Fact("Address of the chat app's API; another one for tests or a proxy", constraints.PLAIN),
}
FACTS: Final[Mapping[Section, Mapping[str, Fact]]] = {
    HubSettings: {
        "host": Fact("Address the hub listens on", constraints.HOST),
        "port": Fact("Port the hub listens on; 0 picks a free one", whole(0, 65535)),
        "policy": Fact(
            (
                "Who is limited to their links: `auto`, agents that have links; `open`, nobody; "
                "`links`, everybody"
            ),
            one_of(Policy),
        ),
        "user": Fact("The human's name", constraints.NAME),
        "names": Fact(
            "Additional names or addresses that clients may use in the Host header", constraints.HOSTS
        ),
        "certificate": Fact("TLS certificate chain (PEM); turns HTTPS on", constraints.PATH_OR_NOTHING),
        "key": Fact("Private key of that certificate (PEM)", constraints.PATH_OR_NOTHING),
        "audit_key": Fact(
            "File with the key that signs `audit/heads.jsonl`; made where it is missing (default: in the home)",
            constraints.PATH_OR_NOTHING,
        ),
        "leads": Fact(
            "Whether this file may say which links there are, where several hubs use one store", flag()
        ),
    },
    StoreSettings: {
        "url": Fact(
            "Database; the path of a SQLite file is relative to the home", constraints.STORE, secret=True
        ),
        "unsafe": Fact(
            "Accept a PostgreSQL server that may lose what it acknowledged (fsync or synchronous_commit off)",
            flag(),
        ),
    },
    LogSettings: {
        "url": Fact("Event log", constraints.LOG, secret=True),
        "topic_prefix": Fact("Prefix of every topic name", constraints.PREFIX),
    },
    OtelSettings: {
        "endpoint": Fact(
            "Collector that traces are sent to (OTLP over HTTP), such as http://127.0.0.1:4318",
            constraints.COLLECTOR,
        ),
        "service": Fact("Name that traces are sent under", constraints.LINE),
    },
    GroupSettings: {
        "reply_strategy": Fact(
            "Who answers: mentioned agents and volunteers, only mentioned agents, or each agent in turn",
            one_of(ReplyStrategy),
        ),
        "turn_order": Fact(
            "Whether mentioned agents speak one after the other or at the same time", one_of(TurnOrder)
        ),
        "max_agent_turns_per_message": Fact(
            "Maximum number of agent turns that one message can cause", whole(1, 1000)
        ),
        "max_depth": Fact(
            "Maximum number of steps from the message that began a round to a reaction", whole(1, 100)
        ),
        "reactive_round": Fact("Whether agents are asked once more after others have spoken", flag()),
        "agent_reply_timeout": Fact(
            "Maximum number of seconds that a turn may go without a sign of life", seconds()
        ),
        "turn_limit_seconds": Fact("Maximum length of a turn in seconds", seconds()),
        "voluntary_timeout": Fact("`agent_reply_timeout` for polls in groups of 5 or more agents", seconds()),
        "cooldown_seconds": Fact(
            "Seconds after an agent has spoken before it is polled again", seconds(zero=True)
        ),
        "max_voluntary_responders": Fact(
            "Maximum number of polled agents that may speak in one round", whole(0, 1000)
        ),
        "max_voluntary_polls": Fact(
            "Maximum number of agents polled in one round, in groups of 5 or more", whole(0, 1000)
        ),
        "agents_may_invite": Fact("Whether agents may add others to the group", flag()),
        "links_bind": Fact("Whether agents are limited to their links inside groups too", flag()),
        "budget_usd": Fact(
            "Maximum amount in US dollars that agents may spend in one conversation; 0: no limit", amount()
        ),
        "budget_tokens": Fact(
            "Maximum number of tokens that agents may use in one conversation; 0: no limit", whole(0)
        ),
    },
    Limits: {
        "chain_turns": Fact("Agent turns in a row without a human before the chain is paused", whole(1)),
        "chain_depth": Fact("Hops from a human's message before the chain is paused", whole(1)),
        "chain_messages": Fact(
            "Maximum number of agent messages per human message, over all conversations", whole(1)
        ),
        "pair_window_seconds": Fact(
            "Messages between two agents that come faster than this are delayed", seconds(zero=True)
        ),
        "pair_backoff_seconds": Fact("First such delay; it doubles with every message", seconds(zero=True)),
        "pair_backoff_max_seconds": Fact("Longest such delay", seconds(zero=True)),
        "pair_per_minute": Fact("Maximum number of messages per minute from one agent to another", whole(1)),
        "pair_reset_seconds": Fact(
            "Seconds of silence after which the delay starts over", seconds(zero=True)
        ),
        "agent_turns_per_hour": Fact("Maximum number of turns an agent may take per hour", whole(1)),
        "task_deadline_seconds": Fact(
            "Seconds after which delegated tasks without a deadline of their own expire", seconds()
        ),
        "agent_roots_per_hour": Fact(
            "Maximum number of chains an agent may start on its own per hour", whole(0)
        ),
        "message_bytes": Fact("Longest message, in bytes of UTF-8", whole(1, 64 * 1024 * 1024)),
        "requests_per_second": Fact(
            (
                "Maximum number of requests per second of one agent or remote token, with bursts of "
                "five times as many; the owner is exempt"
            ),
            rate(),
        ),
        "open_at_once": Fact(
            (
                "Maximum number of streams, sockets and waiting requests that one participant may have "
                "open; the owner is exempt"
            ),
            whole(1),
        ),
        "chain_budget_usd": Fact(
            "Maximum amount in US dollars that agents may spend on one human message; 0: no limit", amount()
        ),
        "chain_budget_tokens": Fact(
            "Maximum number of tokens that agents may use on one human message; 0: no limit", whole(0)
        ),
        "day_budget_usd": Fact(
            "Maximum amount in US dollars that all agents may spend per day (UTC); 0: no limit", amount()
        ),
        "day_budget_tokens": Fact(
            "Maximum number of tokens that all agents may use per day (UTC); 0: no limit", whole(0)
        ),
    },
    CodingSettings: {
        "max_processes": Fact(
            "Maximum number of coding CLIs that run at the same time; 0: as many as there are cores, at least 2",
            whole(0, 1000),
        ),
        "idle_minutes": Fact("Minutes after which a coding CLI with nothing to do is ended", amount()),
        "directories": Fact(
            "Folders in which coding CLIs may work; empty: any but Moot's own home", constraints.FOLDERS
        ),
    },
    HostSettings: {
        "lease_seconds": Fact(
            "Seconds after a host's last sign of life until its agents count as away", seconds()
        ),
        "sweep_seconds": Fact("Seconds between two checks for turns and leases that have expired", seconds()),
    },
    ContextSettings: {
        "summary_brain": Fact(
            "Model that summarises the beginning of long conversations for agents that no longer see it",
            constraints.SUMMING,
        ),
        "summary_messages": Fact(
            "Number of messages that each summary adds to the previous one", whole(2, 10_000)
        ),
        "summary_words": Fact("Maximum length of a summary in words", whole(10, 10_000)),
    },
    HousekeepingSettings: {
        "archive_after_days": Fact(
            "Days without a message after which a settled conversation is archived; 0: never",
            whole(0, 36_500),
        ),
        "ephemeral_archive_minutes": Fact(
            "Minutes after which a settled ephemeral conversation is archived; 0: never", whole(0, 1_000_000)
        ),
        "events_keep_days": Fact(
            "Days for which events are kept; readers that ask for older ones get a `reset`; 0: for ever",
            whole(0, 36_500),
        ),
        "backup_every_hours": Fact("Hours between two automatic backups; 0: none", whole(0, 100_000)),
        "backups_keep": Fact("Number of automatic backups to keep; older ones are deleted", whole(1, 10_000)),
    },
    AgentSettings: {
        "name": Fact("What people type after `@`", constraints.NAME),
        "display": Fact(
            "Name shown to people; free text that cannot be used to address it", constraints.DISPLAY
        ),
        "color": Fact("Colour it is shown in; empty: derived from its name", constraints.COLOUR),
        **_RUNS,
        "autostart": Fact("Whether it starts with the hub", flag()),
        "partitions": Fact(
            "Parts its conversations are shared in among the processes that run it; 1: whoever is first",
            whole(1, 256),
        ),
        "watches": Fact(
            "Makes a supervisor of it, which never speaks: agents whose conversations it is shown; `*`: all",
            constraints.WATCHED_AGENTS,
        ),
    },
    LinkSettings: {
        "from": Fact("The agent that `relationship` describes", constraints.PARTICIPANT),
        "to": Fact("The agent at the other end", constraints.PARTICIPANT),
        "direction": Fact("Who may start: only `from`, or both", one_of(Direction)),
        "relationship": Fact("What `from` is to `to`", one_of(Relationship)),
        "enabled": Fact("Whether the link is in use", flag()),
    },
    TemplateSettings: {
        **_RUNS,
        "max_minutes": Fact(
            "Minutes after which an agent started from it retires at the latest; 0: never", whole(0, 525_600)
        ),
        "idle_minutes": Fact(
            "Minutes without work after which an agent started from it retires; 0: never", whole(0, 525_600)
        ),
        "worktree": Fact(
            "Whether an agent started in a git repository gets a checkout of its own: `auto`, if it can write "
            "and another agent works in that repository; `always`; `never`",
            one_of(Worktree),
        ),
        "worktree_setup": Fact(
            'Program and arguments to run in a new checkout, such as `["make", "venv"]`', constraints.ARGV
        ),
    },
    SpawnSettings: {
        "max_live": Fact("Maximum number of spawned agents alive at the same time", whole(0, 100_000)),
        "max_children": Fact(
            "Maximum number of spawned agents alive at the same time per spawning agent", whole(0, 100_000)
        ),
        "max_depth": Fact("Maximum number of generations: agents spawned by spawned agents", whole(0, 100)),
        "per_hour": Fact(
            "Maximum number of spawns per hour, by one agent and in one chain of messages", whole(0)
        ),
        "directories": Fact(
            "Folders in which spawned agents may work, besides the project of their template or spawner",
            constraints.FOLDERS,
        ),
        "outside_agents": Fact(
            'Templates from which agents outside moot.toml may start agents; `["*"]`: all',
            constraints.TEMPLATES,
        ),
    },
    TelegramSettings: {
        **_BRIDGE,
        "default_agent": Fact(
            "Agent that answers when no bot's agent is addressed", constraints.NAME_OR_NOTHING
        ),
        "bots": Fact("Agent name to bot token, one bot per agent", constraints.SECRET, secret=True),
        "webhook_url": Fact(
            "Public https address that Telegram calls in place of being polled; empty: the bots poll",
            constraints.PLAIN,
        ),
        "webhook_secret": Fact(
            "Secret that Telegram sends with each call, 16 letters or more", constraints.SECRET, secret=True
        ),
        "webhook_listen": Fact(
            "Host and port on which those calls arrive, usually behind a proxy", constraints.PLAIN
        ),
    },
    DiscordSettings: {
        **_BRIDGE,
        "default_agent": Fact("Agent that answers when nobody is mentioned", constraints.NAME_OR_NOTHING),
        "token": Fact("Token of the one bot that serves all agents", constraints.SECRET, secret=True),
        "identity": Fact("How agents appear: by webhook, or each as its own bot", one_of(DiscordIdentity)),
        "bots": Fact('Agent name to bot token, for `identity = "bots"`', constraints.SECRET, secret=True),
        "avatar_url": Fact(
            "Address of the picture of each agent, with `{agent}` for its name; empty: Discord's own, by colour",
            constraints.PLAIN,
        ),
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
    "coding": CodingSettings,
    "otel": OtelSettings,
}
LISTS: Final[Mapping[str, Section]] = {"agents": AgentSettings, "links": LinkSettings}
BRIDGES: Final[Mapping[str, Section]] = {"telegram": TelegramSettings, "discord": DiscordSettings}
SECRET_TABLE: Final = "bots"
"""The one field that is a table: agent name → token."""
