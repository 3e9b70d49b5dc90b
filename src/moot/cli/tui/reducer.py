"""The next state of the chat, from the one before and what happened: pure, so that it is tested without a screen.

What happened comes twice, late or out of order: after a lost connection the hub tells again what it told. So a message
counts once, by its seq, and a turn that has ended stays so.

Above: the chat's screen applies each event and draws. Below: chat_state.py. Not here: widgets, the hub, time.
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
    "mention": "forced by {who}",
    "force": "forced by {who}",
    "direct": "answering {who}",
    "poll": "of its own accord",
    "react": "reacting to the others",
    "round_robin": "next in the rotation",
    "task": "working on a task",
    "ask": "asked by {who}",
}
ENDINGS: Final = {"cancelled": "stopped", "expired": "timed out", "failed": "failed, /retry asks again"}
STOPPED: Final = "stopped"
LOST: Final = "connection lost, retrying"
MAX_OVER: Final = 2_000


def begun(seen: ChatSnapshot, chips: Mapping[str, str] | None = None) -> ChatState:
    """The state that a snapshot is."""
    state = ChatState(
        me=seen.me,
        where=seen.where,
        agents=_doings(seen.agents),
        unread=seen.unread,
        asking=seen.asking,
        chips=chips or {},
        has_more=seen.has_more,
        reasons={turn.id: (turn.reason, turn.cause or "") for turn in seen.turns},
        over=frozenset(turn.id for turn in seen.turns if turn.ended_at),
        running={turn.id: turn.agent for turn in seen.turns if turn.state == "running"},
    )
    state = _with_messages(state, seen.messages, seen.turns)
    for turn in seen.turns:
        state = _progressed(state, turn)
    return state


def reduce(state: ChatState, happened: object) -> ChatState:
    if isinstance(happened, shapes.Event):
        if happened.type == EventType.MESSAGE_POSTED or happened.conversation == state.where.id:
            step = EVENTS.get(happened.type)
            return step(state, happened) if step is not None else state
        return _elsewhere(state, happened)
    act = ACTIONS.get(type(happened))
    if act is None:
        raise TypeError(f"the chat's state does not know {type(happened).__name__}")
    return act(state, happened)


# --- messages ----------------------------------------------------------------------------------------------


def _posted(state: ChatState, event: shapes.Event) -> ChatState:
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
    streams = [entry for entry in state.entries if entry.turn and not entry.seq and _is_said(entry, message)]
    turn = turn or (streams[0].turn if streams else _running_turn(state, message))
    entry = _entry(state, message, turn)
    state = structs.replace(state, last=message.seq)
    if not streams:
        return _appended(state, entry)
    kept = tuple(entry if old is streams[0] else old for old in state.entries)
    return structs.replace(state, entries=kept)


def _is_said(stream: Entry, message: shapes.Message) -> bool:
    """Whether these are the words that were heard before they were a message."""
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
        ending=STOPPED if message.metadata.get("partial") else "",
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
    who = "somebody" if before is None else "you" if before.progress is not None else before.sender
    return REASONS.get(rule, rule).format(who=who)


def _appended(state: ChatState, entry: Entry) -> ChatState:
    """At the end, behind the day where a new one begins; of too many the oldest goes."""
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


def _edited(state: ChatState, event: shapes.Event) -> ChatState:
    message = convert(event.body, shapes.Message, strict=False)
    text = "(deleted)" if message.metadata.get("deleted") else message.text
    entries = tuple(
        structs.replace(entry, text=text) if entry.id == message.id else entry for entry in state.entries
    )
    return structs.replace(state, entries=entries)


def _older(state: ChatState, read: OlderRead) -> ChatState:
    """What was said before, above the rest; the rest stands as it stood."""
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


def _started(state: ChatState, event: shapes.Event) -> ChatState:
    turn = _turn(event.body)
    if turn.id in state.over:
        return state
    state = structs.replace(
        state,
        running={**state.running, turn.id: turn.agent},
        reasons={**state.reasons, turn.id: (turn.reason, turn.cause or "")},
    )
    return _progressed(state, turn)


def _delta(state: ChatState, event: shapes.Event) -> ChatState:
    turn, agent, text = (str(event.body[key]) for key in ("turn", "agent", "text"))
    if turn in state.over or any(e.turn == turn and e.seq and text.strip() in e.text for e in state.entries):
        return state  # words of a message that is there already
    held = next((entry for entry in state.entries if entry.turn == turn and entry.kind == "stream"), None)
    if held is not None:
        grown = structs.replace(held, text=held.text + text, ending="")
        return structs.replace(state, entries=tuple(grown if e is held else e for e in state.entries))
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
    return _appended(structs.replace(state, running={**state.running, turn: agent}), new)


def _finished(state: ChatState, event: shapes.Event) -> ChatState:
    """A turn is over. What was heard of it is a message by now, or did not become one."""
    turn = _turn(event.body)
    is_new = turn.id not in state.over
    over = state.over if len(state.over) < MAX_OVER else frozenset[str]()
    running = {id: agent for id, agent in state.running.items() if id != turn.id}
    state = structs.replace(state, running=running, over=over | {turn.id})
    is_there = any(entry.id == turn.message for entry in state.entries if entry.id)
    entries = tuple(
        _closed(entry, turn)
        for entry in state.entries
        if not (is_there and entry.kind == "stream" and entry.turn == turn.id)
    )
    state = _progressed(structs.replace(state, entries=entries), turn)
    if is_new and turn.state == "passed":
        return _with_tick(state, f"{turn.agent} passed", turn.id, event.at)
    return state


def _closed(entry: Entry, turn: shapes.Turn) -> Entry:
    if entry.kind != "stream" or entry.turn != turn.id:
        return entry
    ending = "" if turn.message else ENDINGS.get(turn.state, turn.state)
    return structs.replace(entry, kind="message", ending=ending)


def _postponed(state: ChatState, event: shapes.Event) -> ChatState:
    turn = _turn(event.body)
    running = {id: agent for id, agent in state.running.items() if id != turn.id}
    return structs.replace(state, running=running)


def _progressed(state: ChatState, turn: shapes.Turn) -> ChatState:
    """What a turn means for one's own messages that it reads."""
    is_begun, is_answered = bool(turn.started_at), bool(turn.message)
    if not is_begun:
        return state

    def moved(entry: Entry) -> Entry:
        if entry.progress is None or not (turn.lo < entry.seq <= turn.hi or entry.id == turn.cause):
            return entry
        now = ReceiptSteps(True, entry.progress.answered or is_answered)
        return entry if now == entry.progress else structs.replace(entry, progress=now)

    return structs.replace(state, entries=tuple(map(moved, state.entries)))


def _turn(body: JsonObject) -> shapes.Turn:
    return convert(body, shapes.Turn, strict=False)


def _with_tick(state: ChatState, text: str, key: str, at: str | None) -> ChatState:
    """Small things that happened, in one line while nothing else happens between them."""
    if state.entries and state.entries[-1].kind == "tick":
        last = state.entries[-1]
        joined = structs.replace(last, text=f"{last.text} · {text}")
        return structs.replace(state, entries=(*state.entries[:-1], joined))
    return _appended(state, Entry(f"tick {key}", "tick", text, at=at))


# --- everybody else ----------------------------------------------------------------------------------------


def _moved(state: ChatState, moved: ConversationRead) -> ChatState:
    return structs.replace(state, where=moved.where)


def _elsewhere(state: ChatState, event: shapes.Event) -> ChatState:
    if event.type.startswith("agent.") and "activity" in event.body and event.body.get("name"):
        doing = _doing(event.body)
        known = state.agents.get(str(event.body["name"]))
        if known is not None and not doing.role:
            doing = structs.replace(doing, role=known.role)
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


def _read(state: ChatState, read: AgentsRead) -> ChatState:
    elsewhere = {place: count for place, count in read.unread.items() if place != state.where.id}
    return structs.replace(state, agents=_doings(read.agents), unread=elsewhere, asking=read.asking)


def _remarked(state: ChatState, remark: Remark) -> ChatState:
    number = sum(entry.kind in ("remark", "tick") for entry in state.entries)
    if remark.is_small:
        return _with_tick(state, remark.text, f"{number} {remark.at}", remark.at)
    return _appended(state, Entry(f"remark {number} {remark.at}", "remark", remark.text, at=remark.at))


def _lost(state: ChatState, _: HubLost) -> ChatState:
    entries = tuple(
        structs.replace(entry, ending=LOST) if entry.kind == "stream" else entry for entry in state.entries
    )
    return structs.replace(state, is_cut=True, entries=entries)


def _anew(state: ChatState, seen: ChatSnapshot) -> ChatState:
    """Connected again, or in another conversation: what the hub says now. On the same conversation, remarks of this
    screen stay, and so do texts of turns that still run."""
    fresh = begun(seen, state.chips)
    firsts = [entry.seq for entry in fresh.entries if entry.seq]
    if seen.where.id != state.where.id or (firsts and firsts[0] > state.last + 1):
        return fresh
    updated = {entry.key: entry for entry in fresh.entries}
    kept = tuple(
        updated.get(entry.key, structs.replace(entry, ending="", is_late=True) if is_stream else entry)
        for entry in state.entries
        for is_stream in (entry.kind == "stream",)
        if not is_stream or entry.turn in fresh.running
    )
    joined = structs.replace(fresh, entries=kept, has_more=state.has_more)
    for entry in fresh.entries:
        if entry.seq > state.last:
            joined = _appended(joined, entry)
    return joined


EVENTS: Final[dict[str, Callable[[ChatState, shapes.Event], ChatState]]] = {
    EventType.MESSAGE_POSTED: _posted,
    EventType.MESSAGE_EDITED: _edited,
    EventType.MESSAGE_DELETED: _edited,
    EventType.TURN_STARTED: _started,
    EventType.TURN_DELTA: _delta,
    EventType.TURN_FINISHED: _finished,
    EventType.TURN_OWED: _postponed,
    EventType.TURN_HELD: _postponed,
}
ACTIONS: Final[dict[type[Any], Callable[[ChatState, Any], ChatState]]] = {
    AgentsRead: _read,
    ChatSnapshot: _anew,
    HubLost: _lost,
    ConversationRead: _moved,
    OlderRead: _older,
    Remark: _remarked,
}
