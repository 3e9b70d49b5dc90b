"""How close every brake is to its limit: the store's own counters, read by the rules that use them."""

from msgspec import to_builtins

from moot import shapes
from moot.hub.commands.spawn import row_behind
from moot.hub.core import Core
from moot.model.chain import Pair, Spending, SpendingKind, day_of
from moot.model.conversation import Conversation, ConversationKind
from moot.model.ids import ParticipantId
from moot.model.limits import Limits
from moot.model.message import Message
from moot.model.participant import Kind
from moot.model.records.spawned import SPAWNED
from moot.ports import Page
from moot.rules.brakes import MINUTE, THIN, chain_pressure, hour_pressure, pair_pressure
from moot.rules.budgets import NO_BUDGET, AgentBudget, allowed, is_used_up, lookups, together

LOOKED_BACK = 20
NOTICES = frozenset({Kind.SYSTEM, Kind.TOOL})
MAX_PLACES = 50
"""Conversations that are looked at, those first in which something happened last."""


async def report(core: Core, me: ParticipantId, conversation: str | None) -> shapes.BrakeReport:
    """All of it for the owner; for others what concerns themselves."""
    limits = core.parts.settings.limits
    whose = None if me == core.user else me
    return shapes.BrakeReport(
        settings=to_builtins(limits),
        pairs=tuple(await pair_limits(core, limits, whose)),
        agents=tuple(await agent_limits(core, limits, whose)),
        chains=tuple(await _chains(core, limits, whose, conversation)),
        budgets=tuple(await budgets(core, limits, whose, conversation)),
    )


async def pair_limits(core: Core, limits: Limits, whose: ParticipantId | None) -> list[shapes.PairLimit]:
    now = core.parts.clock.now()
    pairs = await core.parts.store.pairs(since=now - max(MINUTE, limits.pair_reset_seconds))
    rows = [of_pair(core, pair) for pair in pairs if whose in (None, pair.sender, pair.receiver)]
    return sorted(rows, key=lambda row: (-row.refused_seconds, -row.hold_seconds, -row.sent))


def of_pair(core: Core, pair: Pair) -> shapes.PairLimit:
    limits, name = core.parts.settings.limits, core.directory.name
    at = pair_pressure(pair, core.parts.clock.now(), limits)
    return shapes.PairLimit(
        sender=name(pair.sender),
        to=name(pair.receiver),
        sent=at.sent,
        max_sent=limits.pair_per_minute,
        hold_seconds=round(at.hold_seconds, 3),
        refused_seconds=round(at.refused_seconds, 3),
        reset_seconds=round(at.reset_seconds, 3),
    )


async def agent_limits(core: Core, limits: Limits, whose: ParticipantId | None) -> list[shapes.AgentLimit]:
    now, name = core.parts.clock.now(), core.directory.name
    rows = []
    for quota in await core.parts.store.quotas():
        used = hour_pressure(quota, quota.agent, now)
        if whose in (None, quota.agent) and (used.turns or used.chains):
            rows.append(
                shapes.AgentLimit(
                    agent=name(quota.agent),
                    turns=used.turns,
                    max_turns=limits.agent_turns_per_hour,
                    chains=used.chains,
                    max_chains=limits.agent_roots_per_hour,
                    left_seconds=round(used.left_seconds, 3),
                )
            )
    return sorted(rows, key=lambda row: -row.turns)


async def budgets(
    core: Core, limits: Limits, whose: ParticipantId | None, conversation: str | None = None
) -> list[shapes.Budget]:
    """Those that are set, with what was spent of them: everybody's and each agent's today, and a conversation's."""
    store, settings = core.parts.store, core.parts.settings
    if conversation is not None:
        return await _budget_of_conversation(core, conversation)
    records = await store.records(SPAWNED.all())
    shared = AgentBudget(limits.day_budget_usd, limits.day_budget_tokens)
    day = day_of(core.parts.clock.now())
    reports = []
    if whose is None and shared != NO_BUDGET:
        reports.append(_budget(await _spent(core, (Spending(SpendingKind.DAY, "", day),)), shared))
    for participant in await store.participants():
        row = (
            row_behind(settings, participant, records)
            if participant.listed and whose in (None, participant.id)
            else None
        )
        own = AgentBudget(row.budget_usd, row.budget_tokens) if row is not None else NO_BUDGET
        if own != NO_BUDGET:
            kinds = (SpendingKind.AGENT, SpendingKind.STARTED)
            rows = await _spent(core, tuple(Spending(kind, participant.id, day) for kind in kinds))
            reports.append(_budget(rows, own, agent=core.directory.name(participant.id)))
    return reports


async def _budget_of_conversation(core: Core, conversation: str) -> list[shapes.Budget]:
    place = await core.directory.conversation(conversation)
    settings = place.settings.over(core.directory.groups)
    budget = AgentBudget(settings.budget_usd, settings.budget_tokens)
    if budget == NO_BUDGET:
        return []
    rows = await _spent(core, (Spending(SpendingKind.CONVERSATION, place.id),))
    return [_budget(rows, budget, conversation=place.name)]


async def _spent(core: Core, empty: tuple[Spending, ...]) -> list[Spending]:
    return [
        next(iter(await core.parts.store.records(lookup)), row)
        for row, lookup in zip(empty, lookups(empty), strict=True)
    ]


def _budget(
    rows: list[Spending], budget: AgentBudget, *, agent: str = "", conversation: str = ""
) -> shapes.Budget:
    """By the function that stops a turn."""
    spent = together(rows[0].subject, rows) if agent else rows[0]
    usd, tokens = allowed(spent, budget)
    return shapes.Budget(
        agent=agent,
        cost_usd=spent.cost_usd,
        budget_usd=usd,
        tokens=spent.tokens,
        budget_tokens=tokens,
        turns=spent.turns,
        unpriced=sum(row.unpriced for row in rows),
        is_used_up=is_used_up(spent, budget),
        conversation=conversation,
    )


async def _chains(
    core: Core, limits: Limits, whose: ParticipantId | None, conversation: str | None
) -> list[shapes.ChainLimit]:
    store = core.parts.store
    if conversation is not None:
        places = [await core.directory.conversation(conversation)]
    else:
        conversations = await store.conversations(archived=False, kind=None)
        places = sorted(conversations, key=lambda place: -place.updated_at)[:MAX_PLACES]
    rows = []
    for place in places:
        members = {member.participant for member in await store.members(place.id)}
        if whose is not None and whose not in members:
            continue
        newest = await store.messages(place.id, Page(newest=True, limit=LOOKED_BACK))
        messages = [
            message for message in newest if message.kind not in NOTICES
        ]  # which begin chains of their own
        if messages:
            rows += await _chain(core, limits, place, messages[-1])
    return rows


async def _chain(core: Core, limits: Limits, place: Conversation, newest: Message) -> list[shapes.ChainLimit]:
    store = core.parts.store
    root = await store.root(newest.root)
    if root is None:
        return []  # nobody was asked
    at = chain_pressure(root, place.id, newest.hop, limits)
    opened = await store.round(place.id, newest.round) if newest.round else None
    settings = place.settings.over(core.directory.groups)
    return [
        shapes.ChainLimit(
            conversation=place.name if place.kind is not ConversationKind.LINK else place.id,
            id=place.id,
            root=root.id,
            turns=at.turns,
            max_turns=limits.chain_turns,
            depth=at.depth,
            max_depth=limits.chain_depth,
            messages=at.messages,
            max_messages=limits.chain_messages,
            alike=at.alike,
            max_alike=THIN,
            round=opened.used if opened is not None else 0,
            max_round=(opened.cap if opened is not None else settings.max_agent_turns_per_message)
            if place.takes_rounds
            else 0,
            stopped=at.stopped.value if at.stopped is not None else None,
        )
    ]
