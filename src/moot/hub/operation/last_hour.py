"""What happened in the last hour, in numbers: for the one line that says how busy a hub is.

Above: `hub.operator.last_hour`, which the page shows below what needs somebody. Counted from what is stored, by four
queries, so that it agrees with the log. The owner sees all of it, others what is in their conversations.
"""

from typing import Final

from moot import shapes
from moot.hub.core import Core
from moot.hub.queries.usage import added_up
from moot.model.ids import ParticipantId
from moot.model.participant import Kind
from moot.model.query import Query
from moot.model.records.audit import AuditedAct, AuditQuery
from moot.model.turn import TurnState

HOUR: Final = 3600.0
PARTS: Final = 12
"""Of the hour: five minutes each."""
MAX_COUNTED: Final = 2000
SPEAKING: Final = (Kind.HUMAN, Kind.AGENT, Kind.EXTERNAL)
LINK: Final = "link:"


async def last_hour(core: Core, me: ParticipantId) -> shapes.LastHour:
    store, now = core.parts.store, core.parts.clock.now()
    whose = None if me == core.user else me
    since = now - HOUR
    hits = await store.search(Query(kinds=SPEAKING, after=since, reader=whose), MAX_COUNTED)
    messages = [message for message, _ in hits]
    parts = [0] * PARTS
    for message in messages:
        parts[min(PARTS - 1, max(0, int((message.at - since) / HOUR * PARTS)))] += 1
    refused = await store.audit_entries(
        AuditQuery(since=since, agent=whose or "", acts=(AuditedAct.REFUSED,), limit=MAX_COUNTED)
    )
    held = await store.turns(agent=whose, states=(TurnState.HELD,))
    turns = [turn for turn in await store.turns(agent=whose) if turn.ended_at and turn.ended_at >= since]
    return shapes.LastHour(
        messages=len(messages),
        between_agents=sum(message.conversation.startswith(LINK) for message in messages),
        refused=sum(entry.count for entry in refused),
        held=len(held),
        cost_usd=added_up(turns)["cost_usd"],
        parts=tuple(parts),
        at_least=len(hits) == MAX_COUNTED,
    )
