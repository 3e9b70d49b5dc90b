"""What can be set: one frozen value per section of moot.toml, with the defaults.

Above: everything that is configured takes these. Below: the model's own settings (groups, limits).
Not here: what a field means and which values it takes (schema/fields.py), how the file is read (load.py).
"""

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from moot.model.conversation import GroupSettings
from moot.model.limits import Limits, SpawnLimits
from moot.model.records.link import Direction, Policy, Relationship


class OnBusy(StrEnum):
    QUEUE = "queue"
    INTERRUPT = "interrupt"
    INTERRUPT_BY_SUPERIOR = "interrupt-by-superior"


class CliPermissions(StrEnum):
    READ = "read"
    EDIT = "edit"
    ASK = "ask"
    ALL = "all"


class CliCredential(StrEnum):
    LOGIN = "login"
    API_KEY = "api-key"


class CliSandbox(StrEnum):
    NONE = "none"
    BWRAP = "bwrap"


class Worktree(StrEnum):
    """Whether a started agent gets a checkout of its own."""

    AUTO = "auto"
    """If it can write, and another agent works in the same repository."""
    ALWAYS = "always"
    NEVER = "never"


class DiscordIdentity(StrEnum):
    WEBHOOK = "webhook"
    BOTS = "bots"


class HubSettings(Struct, frozen=True, forbid_unknown_fields=True):
    host: str = "127.0.0.1"
    port: int = 8420
    policy: Policy = Policy.AUTO
    user: str = "user"
    names: tuple[str, ...] = ()
    certificate: str = ""
    key: str = ""
    audit_key: str = ""
    leads: bool = True


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    url: str = "sqlite:moot.db"
    unsafe: bool = False


class LogSettings(Struct, frozen=True, forbid_unknown_fields=True):
    url: str = "embedded:"
    topic_prefix: str = ""


class HostSettings(Struct, frozen=True, forbid_unknown_fields=True):
    lease_seconds: float = 15.0
    sweep_seconds: float = 30.0


class ContextSettings(Struct, frozen=True, forbid_unknown_fields=True):
    summary_brain: str = ""
    summary_messages: int = 40
    summary_words: int = 200


class HousekeepingSettings(Struct, frozen=True, forbid_unknown_fields=True):
    archive_after_days: int = 0
    ephemeral_archive_minutes: int = 60
    events_keep_days: int = 0
    backup_every_hours: int = 0
    backups_keep: int = 7


class RunSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How an agent runs: what `[[agents]]` and `[templates.NAME]` have in common."""

    role: str = ""
    brain: str = "demo"
    context_messages: int = 20
    context_tokens: int = 8000
    on_busy: OnBusy = OnBusy.QUEUE
    concurrency: int = 4
    project: str = "."
    tools: tuple[str, ...] = ()
    permissions: CliPermissions = CliPermissions.EDIT
    credential: CliCredential = CliCredential.LOGIN
    sandbox: CliSandbox = CliSandbox.NONE
    environment: tuple[str, ...] = ()
    budget_usd: float = 0.0
    budget_tokens: int = 0
    avatar: str = ""
    spawns: tuple[str, ...] = ()


class AgentSettings(RunSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    display: str = ""
    color: str = ""
    autostart: bool = True
    partitions: int = 1
    watches: tuple[str, ...] = ()


class LinkSettings(Struct, frozen=True, forbid_unknown_fields=True, rename={"sender": "from"}):
    sender: str
    to: str
    direction: Direction = Direction.TWO_WAY
    relationship: Relationship = Relationship.PEER
    enabled: bool = True


class TemplateSettings(RunSettings, frozen=True, forbid_unknown_fields=True):
    """An agent that `spawn_agent` may start; the spawner gives the name."""

    max_minutes: int = 240
    idle_minutes: int = 30
    worktree: Worktree = Worktree.AUTO
    worktree_setup: tuple[str, ...] = ()


class SpawnSettings(SpawnLimits, frozen=True, forbid_unknown_fields=True):
    directories: tuple[str, ...] = ()
    outside_agents: tuple[str, ...] = ()


class CodingSettings(Struct, frozen=True, forbid_unknown_fields=True):
    max_processes: int = 0
    idle_minutes: float = 10.0
    directories: tuple[str, ...] = ()


class TelegramSettings(Struct, frozen=True, forbid_unknown_fields=True):
    enabled: bool = True
    default_agent: str = ""
    bots: dict[str, str] = {}
    guest_messages_per_minute: int = 6
    guest_messages_per_day: int = 100
    api_url: str = "https://api.telegram.org"
    webhook_url: str = ""
    webhook_secret: str = ""
    webhook_listen: str = "127.0.0.1:8443"


class DiscordSettings(Struct, frozen=True, forbid_unknown_fields=True):
    enabled: bool = True
    default_agent: str = ""
    token: str = ""
    identity: DiscordIdentity = DiscordIdentity.WEBHOOK
    bots: dict[str, str] = {}
    guest_messages_per_minute: int = 6
    guest_messages_per_day: int = 100
    api_url: str = "https://discord.com/api/v10"
    avatar_url: str = ""


class BridgeSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """None: the bridge is not set up."""

    telegram: TelegramSettings | None = None
    discord: DiscordSettings | None = None


class OtelSettings(Struct, frozen=True, forbid_unknown_fields=True):
    endpoint: str = ""
    service: str = "moot"


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything configured, read once; what the owner changes at run time is in the store."""

    hub: HubSettings = HubSettings()
    store: StoreSettings = StoreSettings()
    log: LogSettings = LogSettings()
    groups: GroupSettings = GroupSettings()
    limits: Limits = Limits()
    host: HostSettings = HostSettings()
    context: ContextSettings = ContextSettings()
    housekeeping: HousekeepingSettings = HousekeepingSettings()
    agents: tuple[AgentSettings, ...] = ()
    links: tuple[LinkSettings, ...] = ()
    templates: dict[str, TemplateSettings] = {}
    spawn: SpawnSettings = SpawnSettings()
    coding: CodingSettings = CodingSettings()
    bridges: BridgeSettings = BridgeSettings()
    otel: OtelSettings = OtelSettings()


Section: TypeAlias = type[Struct]
