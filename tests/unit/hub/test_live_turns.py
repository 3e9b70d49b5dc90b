"""What a running turn has said so far, put together from pieces of which some may be lost."""

from hypothesis import given
from hypothesis import strategies as st

from moot.host.agent_turn import units
from moot.hub.live_turns import LiveText, LiveTurns
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId, ParticipantId


def piece(offset: int, text: str, turn: str = "7") -> Event:
    body = {"turn": turn, "agent": "arya", "text": text, "offset": offset}
    arya = ParticipantId("arya")
    return Event(EventType.TURN_DELTA, 0.0, conversation=ConversationId("c1"), by=arya, body=body)


@given(st.lists(st.text(max_size=5), max_size=20))
def test_pieces_make_the_text(pieces: list[str]) -> None:
    turns, offset = LiveTurns(), 0
    for text in pieces:
        turns.on_live(piece(offset, text))
        offset += units(text)
    found = turns.text_of("7")
    assert ("" if found is None else found.text) == "".join(pieces)


def test_a_text_is_counted_as_browsers_count_it() -> None:
    assert [units(text) for text in ("", "abc", "\u00e9", "\U0001f600a")] == [0, 3, 1, 3]


def test_an_answer_that_begins_anew_replaces_what_was_said() -> None:
    text = LiveText(0, [], 0)
    for offset, said in ((0, "let me "), (7, "look"), (0, "it is "), (6, "done")):
        text.add(offset, said)
    assert (text.offset, text.text) == (0, "it is done")


def test_a_piece_in_the_middle_replaces_what_stood_from_there_on() -> None:
    text = LiveText(0, [], 0)
    text.add(0, "\U0001f600 good")
    text.add(3, "bad")
    assert text.text == "\U0001f600 bad"


def test_where_a_piece_was_lost_the_text_begins_behind_it() -> None:
    text = LiveText(0, [], 0)
    text.add(0, "first")
    text.add(9, "third")
    assert (text.offset, text.text) == (9, "third")
    text.add(14, "!")
    assert (text.offset, text.text) == (9, "third!")


def test_a_host_of_another_version_is_not_listened_to() -> None:
    turns = LiveTurns()
    body = {"turn": "7", "agent": "arya", "text": "hello"}
    turns.on_live(Event(EventType.TURN_DELTA, 0.0, by=ParticipantId("arya"), body=body))
    assert turns.text_of("7") is None
