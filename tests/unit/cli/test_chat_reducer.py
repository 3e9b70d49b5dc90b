"""The full-screen chat's state: pure, over a snapshot and what happens, whichever way that comes."""

from itertools import permutations
from typing import Any

import pytest

from moot import shapes
from moot.cli.tui.chat_state import (
    AgentsRead,
    ChatSnapshot,
    ChatState,
    ConversationRead,
    HubLost,
    OlderRead,
    Remark,
)
from moot.cli.tui.reducer import reduce, start_state
from moot.cli.tui.status_words import agent_rows
from moot.cli.tui.suggestions import suggestions

AT = "2026-11-17T12:34:00.000Z"
LATER = "2026-11-18T09:00:00.000Z"


def place(*names: str, kind: str = "group", id: str = "c1") -> shapes.Conversation:
    seats = [shapes.Seat("user", "human", AT, "●"), *(shapes.Seat(n, "agent", AT, "●") for n in names)]
    return shapes.Conversation(
        id, "work", kind, tuple(seats), {"max_agent_turns_per_message": 3}, None, None, None, AT, AT, False
    )


def message(seq: int, sender: str, text: str, *, conversation: str = "c1", **more: Any) -> shapes.Message:
    kind = more.pop("kind", "human" if sender == "user" else "agent")
    return shapes.Message(
        id=f"{conversation}:{seq}", conversation=conversation, seq=seq, sender=sender, kind=kind, text=text,
        mentions=(), reply_to=None, root=more.pop("root", f"{conversation}:1"), hop=0, intent=None, version=1,
        at=more.pop("at", AT), metadata=more,
    )  # fmt: skip


def turn(id: str, agent: str, state: str, **more: Any) -> shapes.Turn:
    fields: dict[str, Any] = {"lo": 0, "hi": 1, "message": None, "ended_at": None, "cause": "c1:1", **more}
    return shapes.Turn(
        id=id, agent=agent, conversation="c1", duty="must", reason="mention", state=state, until=None, attempt=1,
        started_at=AT, usage=None, error=None, **fields,
    )  # fmt: skip


def event(type: str, body: dict[str, Any], conversation: str | None = "c1") -> shapes.Event:
    return shapes.Event("1", type, AT, conversation, None, body)


def posted(what: shapes.Message) -> shapes.Event:
    return event("message.posted", what.to_dict(), what.conversation)


def delta(id: str, agent: str, text: str) -> shapes.Event:
    return event("turn.delta", {"turn": id, "agent": agent, "text": text})


def told(kind: str, what: shapes.Turn) -> shapes.Event:
    return event(f"turn.{kind}", what.to_dict())


def snapshot(
    *messages: shapes.Message, where: shapes.Conversation | None = None, **more: Any
) -> ChatSnapshot:
    return ChatSnapshot("user", where or place("arya", "gendry"), messages, more.pop("turns", ()), (), **more)


def after(*happened: object, start: ChatState | None = None) -> ChatState:
    state = start or start_state(snapshot(message(1, "user", "hey @arya")))
    for each in happened:
        state = reduce(state, each)
    return state


def texts(state: ChatState) -> list[str]:
    return [entry.text for entry in state.entries if entry.kind != "day"]


STARTED = told("started", turn("7", "arya", "running"))
SAID = turn("7", "arya", "said", message="c1:2", ended_at=AT)


def test_words_grow_in_their_block_and_become_the_message_there() -> None:
    state = after(STARTED, delta("7", "arya", "first "), posted(message(2, "user", "meanwhile")))
    assert state.speakers == ["arya"]
    state = after(delta("7", "arya", "words"), start=state)
    assert texts(state) == ["hey @arya", "first words", "meanwhile"]
    assert state.entries[2].kind == "stream"
    said = message(3, "arya", "first words")
    state = after(
        posted(said), told("finished", turn("7", "arya", "said", message="c1:3", ended_at=AT)), start=state
    )
    assert texts(state) == ["hey @arya", "first words", "meanwhile"]
    said_there = state.entries[2]
    assert (said_there.kind, said_there.reason, said_there.number) == ("message", "forced by you", "1/3")
    assert state.running == {}


def test_two_agents_stream_side_by_side_in_the_order_in_which_they_began() -> None:
    other = told("started", turn("8", "gendry", "running"))
    state = after(
        STARTED, other, delta("8", "gendry", "b"), delta("7", "arya", "a"), delta("8", "gendry", "b")
    )
    assert texts(state)[1:] == ["bb", "a"]


def test_what_comes_twice_or_late_counts_once() -> None:
    happened = [
        STARTED,
        delta("7", "arya", "done"),
        posted(message(2, "arya", "done")),
        told("finished", SAID),
    ]
    once = after(*happened)
    assert after(*happened, *happened) == once
    assert texts(once) == ["hey @arya", "done"]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_end_of_a_turn_leaves_no_block_behind_in_any_order(order: tuple[int, ...]) -> None:
    happened = [delta("7", "arya", "done"), posted(message(2, "arya", "done")), told("finished", SAID)]
    state = after(STARTED, *(happened[at] for at in order))
    assert state.running == {}
    assert texts(state) == ["hey @arya", "done"]
    assert state.entries[-1].ending == ""


def test_a_turn_that_failed_or_was_stopped_says_how_its_words_ended() -> None:
    for state_word, ending in (("expired", "timed out"), ("failed", "failed"), ("cancelled", "stopped")):
        ended = told("finished", turn("7", "arya", state_word, ended_at=AT))
        state = after(STARTED, delta("7", "arya", "half"), ended)
        assert state.entries[-1].ending.startswith(ending)
    partial = after(STARTED, delta("7", "arya", "half"), posted(message(2, "arya", "half", partial=True)))
    assert partial.entries[-1].ending == "stopped"


def test_receipts_go_from_queued_to_delivered_to_answered() -> None:
    steps = [start_state(snapshot(message(1, "user", "hey @arya")))]
    steps.append(after(STARTED, start=steps[-1]))
    steps.append(after(told("finished", SAID), start=steps[-1]))
    found = [state.entries[1].progress for state in steps]
    assert [(p.delivered, p.answered) for p in found if p] == [(False, False), (True, False), (True, True)]


def test_silence_and_small_things_share_a_line() -> None:
    passed = told("finished", turn("9", "gendry", "passed", ended_at=AT))
    state = after(passed, passed, Remark("turns 0 of 3", AT, is_small=True))
    assert texts(state)[-1] == "gendry passed · turns 0 of 3"


def test_a_lost_hub_marks_what_was_growing_and_a_new_one_joins_on() -> None:
    state = after(STARTED, delta("7", "arya", "half"), Remark("note", AT), HubLost())
    assert state.is_cut
    assert state.entries[2].ending == "connection lost, retrying"
    seen = snapshot(message(1, "user", "hey @arya"), message(2, "arya", "half and whole"), turns=(SAID,))
    healed = reduce(state, seen)
    assert not healed.is_cut
    assert texts(healed) == ["hey @arya", "note", "half and whole"]
    still = reduce(state, snapshot(message(1, "user", "hey @arya"), turns=(turn("7", "arya", "running"),)))
    assert texts(still) == ["hey @arya", "half", "note"]
    assert texts(after(posted(message(2, "arya", "half and whole")), start=still))[1] == "half and whole"


def test_after_too_long_an_absence_only_what_the_hub_says_is_shown() -> None:
    state = after(HubLost())
    assert texts(reduce(state, snapshot(message(90, "user", "much later")))) == ["much later"]


def test_other_conversations_are_counted_and_not_shown() -> None:
    state = after(
        posted(message(5, "gendry", "over there", conversation="c2")),
        posted(message(6, "gendry", "again", conversation="c2")),
        posted(message(7, "user", "mine", conversation="c2")),
        event("turn.delta", {"turn": "3", "agent": "arya", "text": "x"}, "c2"),
    )
    assert (state.unread, state.elsewhere, texts(state)) == ({"c2": 2}, 2, ["hey @arya"])


def test_going_elsewhere_begins_anew() -> None:
    state = reduce(after(Remark("note", AT)), snapshot(where=place("arya", id="c2")))
    assert (state.where.id, state.entries) == ("c2", ())


def test_days_stand_between_messages_of_different_days() -> None:
    state = after(posted(message(2, "user", "next day", at=LATER)))
    assert [entry.kind for entry in state.entries] == ["day", "message", "day", "message"]


def test_older_messages_stand_above_and_change_nothing_below() -> None:
    state = start_state(snapshot(message(3, "user", "three"), has_more=True))
    state = reduce(
        state, OlderRead((message(1, "user", "one"), message(2, "arya", "two")), (), has_more=False)
    )
    assert texts(state) == ["one", "two", "three"]
    assert (state.last, state.has_more) == (3, False)
    assert [entry.kind for entry in state.entries] == ["day", "message", "message", "message"]


def test_an_edit_and_a_deletion_are_seen() -> None:
    state = after(event("message.edited", message(1, "user", "hey @gendry").to_dict()))
    assert texts(state) == ["hey @gendry"]
    state = after(event("message.deleted", message(1, "user", "", deleted=True).to_dict()), start=state)
    assert texts(state) == ["(deleted)"]


def test_members_and_what_everybody_does_are_taken_over() -> None:
    doing = {"state": "thinking", "label": "thinking", "since": AT}
    told_live = event("agent.activity", {"name": "arya", "activity": doing, "reachability": "live"}, None)
    state = after(told_live, ConversationRead(place("arya", "nymeria")))
    assert [seat.name for seat in state.members] == ["arya", "nymeria"]
    assert [row[1:] for row in agent_rows(state, 1_794_918_846.0)] == [("●", "◔ thinking 6s"), ("✕", "away")]
    assert reduce(state, AgentsRead((), {"c2": 1}, frozenset({"arya"}))).asking == {"arya"}


def test_what_is_unknown_is_refused_and_unknown_events_are_not() -> None:
    assert after(event("conversation.summarised", {})) == after()
    with pytest.raises(TypeError):
        reduce(after(), "something else")


@pytest.mark.parametrize(
    ("typed", "inserts"),
    [
        ("hey @a", ["@arya ", "@all "]),
        ("hey @gd", ["@gendry "]),
        ("mail me@a", None),
        ("`@a", None),
        ("//gr", None),
        ("/sto", ["/stop "]),
        ("/stop ", ["arya ", "gendry "]),
        ("/ask arya ", ["gendry "]),
        ("/group config max", ["max_agent_turns_per_message "]),
        ("/quit", None),
    ],
)
def test_what_the_menus_offer(typed: str, inserts: list[str] | None) -> None:
    found = suggestions(typed, after(), 0.0)
    assert (None if found is None else [row.insert for row in found.rows]) == inserts
