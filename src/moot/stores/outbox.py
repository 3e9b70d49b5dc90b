"""The outbox: what a batch has to publish to an external log, stored beside what it writes, so that both commit
together.

Only where such a log is set. Above: the runners, when all of a batch is decided. Below: model/records/outbox.py has
the table from events to the words of a record. A row is dropped when its record is acknowledged
(flow/mark_published.py).
"""

from collections.abc import Iterator

from moot.model.event import Event
from moot.model.ids import SYSTEM, ConversationId, ParticipantId
from moot.model.records.outbox import (
    BEGINS,
    OUTBOX,
    POINTER,
    TOOL_INVOKE,
    OutboxRow,
    action_of,
    published_of,
    topic_of,
)
from moot.stores.desk import Desk, Dirty


def lay_out(desk: Desk, dirty: Dirty, now: float) -> None:
    """Add what is to be published of a batch to what it writes."""
    by_conversation: dict[ConversationId, list[Event]] = {}
    for event in dirty.events:
        if event.conversation is not None:
            by_conversation.setdefault(event.conversation, []).append(event)
    for where, events in by_conversation.items():
        topic = _topic(desk, where)
        if topic is not None:
            for one in (*_published(desk, topic, events), *_pointers(dirty, topic, where, events)):
                dirty.put_record(OUTBOX, one)
    for call in _calls(desk, dirty, now):
        dirty.put_record(OUTBOX, call)


def _topic(desk: Desk, where: ConversationId) -> ParticipantId | None:
    conversation = desk.conversations.get(where)
    return None if conversation is None else topic_of(conversation, list(desk.members(where).values()))


def _published(desk: Desk, topic: ParticipantId, events: list[Event]) -> Iterator[OutboxRow]:
    for event in published_of(events):
        assert event.conversation is not None
        message = desk.message(event.conversation, event.seq) if event.seq else None
        correlation = message.metadata.get("correlation_id") if message is not None else None
        yield OutboxRow(
            event=event.id,
            topic=topic,
            call="",
            conversation=event.conversation,
            action=action_of(event, None if message is None else message.kind),
            by=event.by or SYSTEM,
            at=event.at,
            seq=event.seq,
            correlation=correlation if isinstance(correlation, str) else "",
        )


def _pointers(
    dirty: Dirty, topic: ParticipantId, where: ConversationId, events: list[Event]
) -> Iterator[OutboxRow]:
    """Whoever has come in hears of it on its own topic: it may not read that of the conversation yet."""
    begun = next((event for event in events if event.type in BEGINS), None)
    if begun is None:
        return
    for (conversation, participant_id), member in dirty.members.items():
        if conversation == where and member.speaks and participant_id != topic:
            yield OutboxRow(begun.id, participant_id, "", where, POINTER, begun.by or SYSTEM, begun.at)


def _calls(desk: Desk, dirty: Dirty, now: float) -> Iterator[OutboxRow]:
    """Tools that were called in this batch. What they are given stays in the store: it may be anything."""
    for turn in dirty.turns.values():
        step = turn.open_step
        topic = _topic(desk, turn.conversation) if step is not None and step.at == now else None
        if step is not None and topic is not None:
            yield OutboxRow(
                event=desk.next_event - 1,
                topic=topic,
                call=step.call,
                conversation=turn.conversation,
                action=TOOL_INVOKE,
                by=turn.agent,
                at=step.at,
                tool=step.tool,
            )
