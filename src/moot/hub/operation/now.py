"""Where things stand, for one person: what needs them, who works, what was done, which brakes hold.

Above: `hub.operator.now`, which `moot status` and the page show. The owner sees all of it, others what is in their
conversations. Read by a number of queries that does not grow with the conversations.
"""

import asyncio
import os
import shlex
from collections.abc import Iterable, Sequence

from msgspec import Struct

from moot import shapes
from moot.brains.command.repository import quarantine
from moot.hub.agents import all_shaped
from moot.hub.core import Core
from moot.hub.process import worktrees
from moot.hub.process.hub_lock import running_hub
from moot.hub.queries.limits import agent_limits, budgets, pair_limits
from moot.model.hint import Act, Hint, Way, to_data
from moot.model.ids import ConversationId, ParticipantId
from moot.model.message import ConversationGlance, Message
from moot.model.records.decision import DECISIONS
from moot.model.turn import RuleName
from moot.ports import Page
from moot.rules.brain_kinds import runs_here
from moot.wiring import concerns

DONE_SECONDS = 24 * 3600
FAILED = ("failed", "expired")
OPEN = ("running", "ready", "held", "waiting")
LOOKED_BACK = 20
MAX_UNREAD = 1000
WAKEABLE = ("claude", "codex")
"""Clients whose hooks Moot knows."""
BRAKE = "brake"


class SeenPlaces(Struct, frozen=True):
    """Conversations that somebody sees, by id with their names."""

    open: dict[str, str]
    archived: dict[str, str]

    def called(self, id: str) -> str:
        return self.open.get(id) or self.archived.get(id) or id


async def now(core: Core, me: ParticipantId, limit: int) -> shapes.Now:
    places = await _places(core, me)
    people = [participant for participant in await core.parts.store.participants() if participant.listed]
    agents = await all_shaped(core, people)
    agents_by_name = {agent.name: agent for agent in agents}
    turns = [shapes.Turn.of(turn, core.directory.name) for turn in await core.parts.store.turns()]
    seen = {*places.open, *places.archived}
    turns = [turn for turn in turns if turn.agent in agents_by_name and turn.conversation in seen]
    recent = shapes.when(core.parts.clock.now() - DONE_SECONDS) or ""
    ended = [turn for turn in turns if (turn.ended_at or "") >= recent]
    open_turns = [turn for turn in turns if turn.state in OPEN]
    cut_off = [turn for turn in open_turns if _is_cut_off(turn, agents_by_name[turn.agent])]
    glances = [
        one
        for one in await core.parts.store.glances(me, archived=False, limit=MAX_UNREAD)
        if one.conversation in places.open
    ]
    stopped = [one for one in glances if one.last is not None and one.last.metadata.get("notice") == BRAKE]
    owed = [turn for turn in turns if turn.state == "owed"]
    needs = [  # what somebody or something waits for first: what comes last may be cut off
        *await _questions(core, me, places),
        *(await asyncio.to_thread(_quarantined, core) if me == core.user else []),
        *(await _broken(core, agents) if me == core.user else []),
        *[_paused(core, one, places) for one in stopped],
        *_failed(ended, places),
        *[_row("away", turn, places, await _way_back(core, agents_by_name[turn.agent])) for turn in owed],
        *[_row("left", turn, places, (Hint(Act.START_HUB),)) for turn in cut_off],
        *(await asyncio.to_thread(_worktrees, core) if me == core.user else []),
        *await _unread(core, me, places, glances),
    ]
    working = [_row("working", turn, places) for turn in open_turns if turn not in cut_off]
    done = [_row("done", turn, places) for turn in reversed(ended) if turn.state == "said"]
    return shapes.Now(
        agents=tuple(_agent(agent) for agent in agents),
        needs_you=tuple(needs[:limit]),
        working=tuple(working[:limit]),
        done=tuple(done[:limit]),
        brakes=tuple(await _brakes(core, me, stopped, places)),
        budgets=tuple(await budgets(core, core.parts.settings.limits, None if me == core.user else me)),
    )


async def _places(core: Core, me: ParticipantId) -> SeenPlaces:
    store, found = core.parts.store, []
    for archived in (False, True):
        mine = None
        if me != core.user:
            members = await store.members_everywhere(archived=archived)
            mine = {member.conversation for member in members if member.participant == me}
        listed = await store.conversations(archived=archived, kind=None)
        found.append({str(place.id): place.name for place in listed if mine is None or place.id in mine})
    return SeenPlaces(*found)


def _row(what: str, turn: shapes.Turn, places: SeenPlaces, fix: Iterable[Way] = ()) -> shapes.NowRow:
    return shapes.NowRow(
        what,
        agent=turn.agent,
        conversation=places.called(turn.conversation),
        conversation_id=turn.conversation,
        state=turn.state,
        turn=turn.id,
        since=turn.started_at,
        at=turn.ended_at,
        error=turn.error if what == "failed" else None,
        fix=tuple(to_data(fix)),
    )


def _agent(agent: shapes.Agent) -> shapes.NowAgent:
    state = str(agent.activity["label"])
    if agent.kind == "external" and agent.reachability == "on-demand" and agent.queue:
        state = f"reads on demand ({agent.queue} waiting)"
    return shapes.NowAgent(agent.name, state, agent.queue)


# --- what needs somebody ------------------------------------------------------------------------------------------


async def _questions(core: Core, me: ParticipantId, places: SeenPlaces) -> list[shapes.NowRow]:
    """Decisions that wait for this person."""
    at = core.parts.clock.now()
    decisions = await core.parts.store.records(DECISIONS.where(to=me))
    shaped = [
        (one.conversation, shapes.PersonsDecision.of(one, core.directory.name, at)) for one in decisions
    ]
    return [
        shapes.NowRow(
            "question",
            agent=one.by,
            conversation=places.called(where),
            conversation_id=where,
            since=one.created_at,
            decision=one,
            fix=tuple(to_data([Hint(Act.LIST_DECISIONS)])),
        )
        for where, one in shaped
        if one.state == "open"
    ]


async def _broken(core: Core, agents: Sequence[shapes.Agent]) -> list[shapes.NowRow]:
    """Agents that cannot answer as they are set up. Only the code of one that a hub should host, and does not, is run
    to tell what is wrong with it, and never inside the hub itself."""
    settings, home = core.parts.settings, core.parts.home
    away = {name for agent in agents if agent.status == "offline" for name in (agent.name, *agent.aliases)}
    missed = {row.name for row in settings.agents if row.autostart and row.name in away}
    hub = running_hub(home)
    loads = missed if hub is not None and hub.get("pid") != os.getpid() else set()
    problems = await asyncio.to_thread(concerns, settings, home, loads=loads)
    return [
        shapes.NowRow("broken", agent=one.agent, error=one.text, fix=tuple(to_data(one.fix)))
        for one in problems
        if one.silent
    ]


async def _unread(
    core: Core, me: ParticipantId, places: SeenPlaces, glances: Sequence[ConversationGlance]
) -> list[shapes.NowRow]:
    """Per conversation, how much was not read and what came last."""
    rows = []
    for one in glances:
        if one.unread:
            name = places.called(one.conversation)
            rows.append(
                shapes.NowRow(
                    "unread",
                    conversation=name,
                    conversation_id=one.conversation,
                    count=one.unread,
                    message=shapes.Message.of(await _last_for(core, me, one), core.directory.name),
                    fix=tuple(to_data([Hint(Act.OPEN_CONVERSATION, conversation=name)])),
                )
            )
    return sorted(rows, key=lambda row: (row.message.at or "") if row.message else "")


async def _last_for(core: Core, me: ParticipantId, glance: ConversationGlance) -> Message:
    assert glance.last is not None
    if glance.last.is_for(me):
        return glance.last
    page = Page(newest=True, limit=LOOKED_BACK)
    newest = await core.parts.store.messages(ConversationId(glance.conversation), page)
    return next((message for message in reversed(newest) if message.is_for(me)), glance.last)


def _failed(turns: Sequence[shapes.Turn], places: SeenPlaces) -> list[shapes.NowRow]:
    """Turns that failed and were not followed by a good one: in the same conversation, or anywhere for an archived
    question (a conversation made for one question archives itself)."""
    in_order = sorted(turns, key=lambda turn: turn.ended_at or "")
    newest = {(turn.agent, turn.conversation): turn for turn in in_order}
    last = {turn.agent: turn for turn in in_order}
    candidates = [turn for (_, where), turn in newest.items() if where in places.open]
    candidates += [turn for turn in last.values() if turn.conversation in places.archived]
    return [
        _row("failed", turn, places, [_again(turn, places)]) for turn in candidates if turn.state in FAILED
    ]


def _again(turn: shapes.Turn, places: SeenPlaces) -> Hint:
    if turn.conversation not in places.open:
        return Hint(Act.SHOW_TURN, turn=turn.id)
    return Hint(Act.RETRY, conversation=places.called(turn.conversation), id=turn.id)


def _paused(core: Core, glance: ConversationGlance, places: SeenPlaces) -> shapes.NowRow:
    """Where agents were stopped by a limit of theirs and nobody has said anything since."""
    assert glance.last is not None
    name = places.called(glance.conversation)
    return shapes.NowRow(
        "paused",
        conversation=name,
        conversation_id=glance.conversation,
        message=shapes.Message.of(glance.last, core.directory.name),
        fix=tuple(to_data([Hint(Act.CONTINUE_CHAIN, conversation=name)])),
    )


def _quarantined(core: Core) -> list[shapes.NowRow]:
    """What agents put where a person's git would have followed it."""
    return [
        shapes.NowRow(
            "quarantine",
            agent=note.agent,
            since=shapes.when(note.since),
            error=note.sentence,
            fix=(f"ls -lA {shlex.quote(note.folder)}", f"rm -r {shlex.quote(note.folder)}"),
        )
        for note in quarantine.notes(core.parts.home)
    ]


def _worktrees(core: Core) -> list[shapes.NowRow]:
    """Checkouts of agents that are gone, with work in them that nobody has taken yet."""
    return [
        shapes.NowRow(
            "worktree",
            agent=left.agent,
            since=shapes.when(left.since),
            error=f"the worktree of {left.agent} stays, {left.path}: {left.why}",
            fix=(f"git -C {shlex.quote(left.path)} status",),
        )
        for left in worktrees.leftovers(core.parts.home)
    ]


async def _way_back(core: Core, agent: shapes.Agent) -> list[Way]:
    """What brings somebody back who is away, as far as anything does: Moot starts the agents of moot.toml, a coding
    CLI is woken by its hooks; a program that speaks for an agent is somebody else's to start."""
    rows = {row.name for row in core.parts.settings.agents if runs_here(row.brain)}
    if not rows.isdisjoint((agent.name, *agent.aliases)):
        return [Hint(Act.START_AGENT, agent=agent.name)]
    participant = await core.parts.store.participant(agent.id)
    client = (participant.config.client or "") if participant is not None else ""
    return [Hint(Act.WAKE_CLIENT, provider=client)] if client in WAKEABLE else []


def _is_cut_off(turn: shapes.Turn, agent: shapes.Agent) -> bool:
    """Whether nobody works on it any more: the process that did is gone."""
    return turn.state in ("running", "ready") and agent.kind == "agent" and agent.status == "offline"


# --- brakes -------------------------------------------------------------------------------------------------------


async def _brakes(
    core: Core, me: ParticipantId, stopped: Sequence[ConversationGlance], places: SeenPlaces
) -> list[shapes.BrakeInForce]:
    limits, whose = core.parts.settings.limits, None if me == core.user else me
    brakes = [
        shapes.BrakeInForce(
            str(one.last.metadata.get("rule", "")),
            places.called(one.conversation),
            one.conversation,
            (),
            one.last.text.strip("[]"),
            0.0,
        )
        for one in stopped
        if one.last is not None
    ]
    for pair in await pair_limits(core, limits, whose):
        seconds = pair.refused_seconds or pair.hold_seconds
        if seconds:
            how = "refused" if pair.refused_seconds else "held"
            detail = f"a message of {pair.sender} to {pair.to} is {how} for {seconds:.0f} s"
            brakes.append(
                shapes.BrakeInForce(
                    RuleName.PAIR_LIMIT.value, "", "", (pair.sender, pair.to), detail, seconds
                )
            )
    for agent in await agent_limits(core, limits, whose):
        if agent.turns >= agent.max_turns:
            detail = f"{agent.agent} has had its {agent.max_turns} turns of this hour"
            brakes.append(
                shapes.BrakeInForce(RuleName.BUDGET.value, "", "", (agent.agent,), detail, agent.left_seconds)
            )
    return brakes
