"""The numbers a decision is made under: `[limits]`, `[spawn]` and `[host]` of moot.toml."""

from msgspec import Struct

from moot.model.conversation import GroupSettings
from moot.model.records.link import Policy


class Limits(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    chain_turns: int = 16
    chain_depth: int = 8
    chain_messages: int = 32
    pair_window_seconds: float = 5.0
    pair_backoff_seconds: float = 2.0
    pair_backoff_max_seconds: float = 30.0
    pair_per_minute: int = 10
    pair_reset_seconds: float = 30.0
    agent_turns_per_hour: int = 120
    agent_roots_per_hour: int = 60
    task_deadline_seconds: float = 3600.0
    message_bytes: int = 262144
    requests_per_second: float = 10.0
    open_at_once: int = 32
    chain_budget_usd: float = 0.0
    chain_budget_tokens: int = 0
    day_budget_usd: float = 0.0
    day_budget_tokens: int = 0


class SpawnLimits(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """How many agents may be started by agents; people are bound by `max_live` alone."""

    max_live: int = 32
    max_children: int = 8
    max_depth: int = 3
    per_hour: int = 10


class Terms(Struct, frozen=True, gc=False):
    """Everything configured that a verb may ask about."""

    groups: GroupSettings = GroupSettings()
    limits: Limits = Limits()
    lease_seconds: float = 15.0
    user: str = "user"
    policy: Policy = Policy.AUTO
    spawn: SpawnLimits = SpawnLimits()
