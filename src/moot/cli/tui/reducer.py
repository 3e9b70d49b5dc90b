"""The next state of the chat, from the state before and one change. Pure, so it can be tested without a screen.

Events can arrive twice, late or out of order: after a lost connection the hub repeats some of them. So a message counts
once, by its seq, and a turn that has ended stays ended.

Above: the chat's screen applies each change and draws. Below: chat_state.py. Not here: widgets, the hub, time.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from msgspec import convert, structs

from moot import shapes
from moot.cli.terminal.phrases import chip
from moot.cli.tui.chat_state import (
    MAX_ENTRIES,
    AgentsRead,
    ChatSnapshot,
    ChatState,
    ConversationRead,
    Doing,
    Entry,
    HubLost,
    OlderRead,
    ReceiptSteps,
    Remark,
)
from moot.model.event import EventType
from moot.model.json import JsonObject

AGENTS: Final = ("agent", "external")
REASONS: Final = {
    "mention": "forced by {sender}",
    "force": "forced by {sender}",
    "direct": "answering {sender}",
    "poll": "of its own accord",
    "react": "reacting to the others",
    "round_robin": "next in the rotation",
    "task": "working on a task",
    "ask": "asked by {sender}",
}
ENDINGS: Final = {"cancelled": "stopped", "expired": "timed out", "failed": "failed, /retry asks again"}
STOPPED_ENDING: Final = "stopped"
LOST_ENDING: Final = "connection lost, retrying"
MAX_ENDED_TURNS: Final = 2_000


def start_state(snapshot: ChatSnapshot, chips: Mapping[str, str] | None = None) -> ChatState:
    """The state with which a chat begins."""
    state = ChatState(
        me=snapshot.me,
        where=snapshot.where,
        agents=_doings(snapshot.agents),
        unread=snapshot.unread,
        asking=snapshot.asking,
        chips=chips or {},
        has_more=snapshot.has_more,
        reasons={turn.id: (turn.reason, turn.cause or "") for turn in snapshot.turns},
        over=frozenset(turn.id for turn in snapshot.turns if turn.ended_at),
        running={turn.id: turn.agent for turn in snapshot.turns if turn.state == "running"},
    )
    state = _with_messages(state, snapshot.messages, snapshot.turns)
    for turn in snapshot.turns:
        state = _with_progress(state, turn)
    return state


def reduce(state: ChatState, change: object) -> ChatState:
    if isinstance(change, shapes.Event):
        if change.type == EventType.MESSAGE_POSTED or change.conversation == state.where.id:
            step = EVENTS.get(change.type)
            return step(state, change) if step is not None else state
        return _on_event_elsewhere(state, change)
    act = ACTIONS.get(type(change))
    if act is None:
        raise TypeError(f"the chat's state does not know {type(change).__name__}")
    return act(state, change)


# --- messages ----------------------------------------------------------------------------------------------


def _on_message_posted(state: ChatState, event: shapes.Event) -> ChatState:
    message = convert(event.body, shapes.Message, strict=False)
    if message.conversation == state.where.id:
        return _with_message(state, message)
    if message.sender == state.me or message.kind in ("system", "tool"):
        return state
    count = state.unread.get(message.conversation, 0) + 1
    return structs.replace(state, unread={**state.unread, message.conversation: count})


def _with_messages(
    state: ChatState, messages: Iterable[shapes.Message], turns: Iterable[shapes.Turn]
) -> ChatState:
    by_message = {turn.message: turn.id for turn in turns if turn.message}
    for message in messages:
        state = _with_message(state, message, by_message.get(message.id, ""))
    return state


def _with_message(state: ChatState, message: shapes.Message, turn: str = "") -> ChatState:
    if message.seq <= state.last:
        return state
    streams = [
        entry for entry in state.entries if entry.turn and not entry.seq and _is_stream_of(entry, message)
    ]
    turn = turn or (streams[0].turn if streams else _running_turn(state, message))
    entry = _entry(state, message, turn)
    state = structs.replace(state, last=message.seq)
    if not streams:
        return _append(state, entry)
    entries = tuple(entry if old is streams[0] else old for old in state.entries)
    return structs.replace(state, entries=entries)


def _is_stream_of(stream: Entry, message: shapes.Message) -> bool:
    """Whether a stream was the beginning of this message."""
    if stream.sender != message.sender or message.kind not in AGENTS:
        return False
    return stream.is_late or message.text.strip().startswith(stream.text.strip())


def _running_turn(state: ChatState, message: shapes.Message) -> str:
    return next((turn for turn, agent in state.running.items() if agent == message.sender), "")


def _entry(state: ChatState, message: shapes.Message, turn: str) -> Entry:
    if message.kind == "system":
        return Entry(
            message.id,
            "notice",
            message.text.strip("[]"),
            at=message.at,
            seq=message.seq,
            id=message.id,
            author="system",
        )
    is_agent = message.kind in AGENTS
    return Entry(
        key=message.id,
        kind="message",
        text=message.text,
        sender=message.sender,
        author=message.kind,
        at=message.at,
        seq=message.seq,
        id=message.id,
        root=message.root,
        turn=turn,
        reason=_reason(state, turn) if is_agent else "",
        number=_number(state, message) if is_agent else "",
        chip=chip(message),
        ending=STOPPED_ENDING if message.metadata.get("partial") else "",
        progress=ReceiptSteps() if message.sender == state.me and not is_agent else None,
    )


def _number(state: ChatState, message: shapes.Message) -> str:
    if not state.is_group:
        return ""
    before = sum(e.root == message.root and e.author in AGENTS and e.kind == "message" for e in state.entries)
    return f"{before + 1}/{state.where.settings['max_agent_turns_per_message']}"


def _reason(state: ChatState, turn: str) -> str:
    rule, cause = state.reasons.get(turn, ("", ""))
    before = next((entry for entry in reversed(state.entries) if entry.id == cause and cause), None)
    sender = "somebody" if before is None else "you" if before.progress is not None else before.sender
    return REASONS.get(rule, rule).format(sender=sender)


def _append(state: ChatState, entry: Entry) -> ChatState:
    """Add an entry at the end, after a day line if a new day begins. Over the limit, the oldest entries go."""
    days = [_day(old.at) for old in reversed(state.entries) if old.at]
    day = _day(entry.at)
    new = (
        (Entry(f"day {day} {entry.key}", "day", day, at=entry.at), entry)
        if day and day not in days[:1]
        else (entry,)
    )
    entries = (*state.entries, *new)
    is_long = len(entries) > MAX_ENTRIES
    return structs.replace(state, entries=entries[-MAX_ENTRIES:], has_more=state.has_more or is_long)


def _day(at: str | None) -> str:
    if not at:
        return ""
    moment = datetime.fromisoformat(at).astimezone()
    return f"{moment:%a} {moment.day} {moment:%b}"


def _on_message_edited(state: ChatState, event: shapes.Event) -> ChatState:
    message = convert(event.body, shapes.Message, strict=False)
    text = "(deleted)" if message.metadata.get("deleted") else message.text
    entries = tuple(
        structs.replace(entry, text=text) if entry.id == message.id else entry for entry in state.entries
    )
    return structs.replace(state, entries=entries)


def _on_older_read(state: ChatState, read: OlderRead) -> ChatState:
    """Put older messages above the entries that are there, which do not change."""
    first = next((entry.seq for entry in state.entries if entry.seq), state.last + 1)
    reasons = {turn.id: (turn.reason, turn.cause or "") for turn in read.turns}
    above = structs.replace(state, entries=(), last=0, reasons={**state.reasons, **reasons})
    above = _with_messages(above, (m for m in read.messages if m.seq < first), read.turns)
    is_same_day = bool(above.entries and state.entries) and _day(above.entries[-1].at) == _day(
        state.entries[0].at
    )
    below = state.entries[1:] if is_same_day and state.entries[0].kind == "day" else state.entries
    return structs.replace(state, entries=(*above.entries, *below), has_more=read.has_more)


# --- turns -------------------------------------------------------------------------------------------------


def _on_turn_started(state: ChatState, event: shapes.Event) -> ChatState:
    turn = _turn(event.body)
    if turn.id in state.over:
        return state
    state = structs.replace(
        state,
        running={**state.running, turn.id: turn.agent},
        reasons={**state.reasons, turn.id: (turn.reason, turn.cause or "")},
    )
    return _with_progress(state, turn)


def _on_turn_delta(state: ChatState, event: shapes.Event) -> ChatState:
    turn, agent, text = (str(event.body[key]) for key in ("turn", "agent", "text"))
    if turn in state.over or any(e.turn == turn and e.seq and text.strip() in e.text for e in state.entries):
        return state  # this text is part of a message that is there already
    stream = next((entry for entry in state.entries if entry.turn == turn and entry.kind == "stream"), None)
    if stream is not None:
        grown = structs.replace(stream, text=stream.text + text, ending="")
        return structs.replace(state, entries=tuple(grown if e is stream else e for e in state.entries))
    is_late = turn not in state.running
    new = Entry(
        key=f"turn {turn}",
        kind="stream",
        text=text,
        sender=agent,
        author="agent",
        at=event.at,
        turn=turn,
        reason=_reason(state, turn),
        chip=state.chips.get(agent, ""),
        is_late=is_late,
    )
    return _append(structs.replace(state, running={**state.running, turn: agent}), new)


def _on_turn_finished(state: ChatState, event: shapes.Event) -> ChatState:
    """End a turn. Its stream has become a message by now, or never will."""
    turn = _turn(event.body)
    is_new = turn.id not in state.over
    over = state.over if len(state.over) < MAX_ENDED_TURNS else frozenset[str]()
    running = {id: agent for id, agent in state.running.items() if id != turn.id}
    state = structs.replace(state, running=running, over=over | {turn.id})
    is_there = any(entry.id == turn.message for entry in state.entries if entry.id)
    entries = tuple(
        _close_stream(entry, turn)
        for entry in state.entries
        if not (is_there and entry.kind == "stream" and entry.turn == turn.id)
    )
    state = _with_progress(structs.replace(state, entries=entries), turn)
    if is_new and turn.state == "passed":
        return _with_tick(state, f"{turn.agent} passed", turn.id, event.at)
    return state


def _close_stream(entry: Entry, turn: shapes.Turn) -> Entry:
    if entry.kind != "stream" or entry.turn != turn.id:
        return entry
    ending = "" if turn.message else ENDINGS.get(turn.state, turn.state)
    return structs.replace(entry, kind="message", ending=ending)


def _on_turn_postponed(state: ChatState, event: shapes.Event) -> ChatState:
    turn = _turn(event.body)
    running = {id: agent for id, agent in state.running.items() if id != turn.id}
    return structs.replace(state, running=running)


def _with_progress(state: ChatState, turn: shapes.Turn) -> ChatState:
    """Advance the receipts of the person's messages that a turn reads."""
    is_begun, is_answered = bool(turn.started_at), bool(turn.message)
    if not is_begun:
        return state

    def advance(entry: Entry) -> Entry:
        if entry.progress is None or not (turn.lo < entry.seq <= turn.hi or entry.id == turn.cause):
            return entry
        now = ReceiptSteps(True, entry.progress.answered or is_answered)
        return entry if now == entry.progress else structs.replace(entry, progress=now)

    return structs.replace(state, entries=tuple(map(advance, state.entries)))


def _turn(body: JsonObject) -> shapes.Turn:
    return convert(body, shapes.Turn, strict=False)


def _with_tick(state: ChatState, text: str, key: str, at: str | None) -> ChatState:
    """Add something small; consecutive small things share one line."""
    if state.entries and state.entries[-1].kind == "tick":
        last = state.entries[-1]
        joined = structs.replace(last, text=f"{last.text} · {text}")
        return structs.replace(state, entries=(*state.entries[:-1], joined))
    return _append(state, Entry(f"tick {key}", "tick", text, at=at))


# --- everybody else ----------------------------------------------------------------------------------------


def _on_conversation_read(state: ChatState, read: ConversationRead) -> ChatState:
    return structs.replace(state, where=read.where)


def _on_event_elsewhere(state: ChatState, event: shapes.Event) -> ChatState:
    if event.type.startswith("agent.") and "activity" in event.body and event.body.get("name"):
        doing = _doing(event.body)
        before = state.agents.get(str(event.body["name"]))
        if before is not None and not doing.role:
            doing = structs.replace(doing, role=before.role)
        return structs.replace(state, agents={**state.agents, str(event.body["name"]): doing})
    return state


def _doing(body: JsonObject) -> Doing:
    activity = body["activity"]
    return Doing(
        state=str(activity["state"]),
        label=str(activity["label"]),
        since=activity.get("since"),
        reach=str(body.get("reachability", "live")),
        role=str(body.get("role", "")),
        kind=str(body.get("kind", "agent")),
    )


def _doings(agents: Iterable[shapes.Agent]) -> dict[str, Doing]:
    return {agent.name: _doing(agent.to_dict()) for agent in agents}


def _on_agents_read(state: ChatState, read: AgentsRead) -> ChatState:
    elsewhere = {place: count for place, count in read.unread.items() if place != state.where.id}
    return structs.replace(state, agents=_doings(read.agents), unread=elsewhere, asking=read.asking)


def _on_remark(state: ChatState, remark: Remark) -> ChatState:
    number = sum(entry.kind in ("remark", "tick") for entry in state.entries)
    if remark.is_small:
        return _with_tick(state, remark.text, f"{number} {remark.at}", remark.at)
    return _append(state, Entry(f"remark {number} {remark.at}", "remark", remark.text, at=remark.at))


def _on_hub_lost(state: ChatState, _: HubLost) -> ChatState:
    entries = tuple(
        structs.replace(entry, ending=LOST_ENDING) if entry.kind == "stream" else entry
        for entry in state.entries
    )
    return structs.replace(state, is_cut=True, entries=entries)


def _on_snapshot(state: ChatState, snapshot: ChatSnapshot) -> ChatState:
    """Take the hub's snapshot after a reconnect or a change of conversation. In the same conversation, remarks of this
    screen stay, and so do the streams of turns that still run."""
    fresh = start_state(snapshot, state.chips)
    firsts = [entry.seq for entry in fresh.entries if entry.seq]
    if snapshot.where.id != state.where.id or (firsts and firsts[0] > state.last + 1):
        return fresh
    updated = {entry.key: entry for entry in fresh.entries}
    entries = tuple(
        updated.get(entry.key, structs.replace(entry, ending="", is_late=True) if is_stream else entry)
        for entry in state.entries
        for is_stream in (entry.kind == "stream",)
        if not is_stream or entry.turn in fresh.running
    )
    joined = structs.replace(fresh, entries=entries, has_more=state.has_more)
    for entry in fresh.entries:
        if entry.seq > state.last:
            joined = _append(joined, entry)
    return joined


EVENTS: Final[dict[str, Callable[[ChatState, shapes.Event], ChatState]]] = {
    EventType.MESSAGE_POSTED: _on_message_posted,
    EventType.MESSAGE_EDITED: _on_message_edited,
    EventType.MESSAGE_DELETED: _on_message_edited,
    EventType.TURN_STARTED: _on_turn_started,
    EventType.TURN_DELTA: _on_turn_delta,
    EventType.TURN_FINISHED: _on_turn_finished,
    EventType.TURN_OWED: _on_turn_postponed,
    EventType.TURN_HELD: _on_turn_postponed,
}
ACTIONS: Final[dict[type[Any], Callable[[ChatState, Any], ChatState]]] = {
    AgentsRead: _on_agents_read,
    ChatSnapshot: _on_snapshot,
    HubLost: _on_hub_lost,
    ConversationRead: _on_conversation_read,
    OlderRead: _on_older_read,
    Remark: _on_remark,
}
