"""Events in the shapes of the outside: as they happen, and past ones page by page."""

from collections.abc import AsyncIterator, Sequence
from typing import TypedDict, Unpack

from msgspec import Struct, ValidationError, convert

from moot import shapes
from moot.hub.agents import at_work, shaped
from moot.hub.core import Core
from moot.hub.queries.turns import without_model
from moot.model.event import Event, EventType
from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.model.message import MODEL
from moot.model.records.decision import PersonsDecision
from moot.model.records.link import Link
from moot.model.records.note import NOTE_VERSIONS
from moot.model.records.task import Task
from moot.ports import RESET
from moot.rules.activity import Activity

MAX_PAGE = 500
MICROS = 1e6


class Past(Struct, frozen=True):
    """A piece of what happened, and up to which event that is all there is."""

    events: list[shapes.Event]
    reached: int


OF_RECORDS = ("link.", "task.", "decision.", "note.")
"""Types of events whose body is a record."""


class Filters(TypedDict):
    """Of one conversation, by one agent, of some types, from an event on; None or none for all."""

    conversation: str | None
    agent: str | None
    types: Sequence[str]
    after: int | None


async def follow(core: Core, **filters: Unpack[Filters]) -> AsyncIterator[shapes.Event]:
    """`occurrences`, in the shapes of the outside."""
    async for event in occurrences(core, **filters):
        yield await to_shape(core, event)


async def occurrences(
    core: Core,
    *,
    conversation: str | None,
    agent: str | None,
    types: Sequence[str],
    after: int | None,
) -> AsyncIterator[Event]:
    """What happens from an event on, or from now on: of one conversation, by one agent, of some types."""
    chosen = frozenset(types)  # what is no list of types is refused now, not when something happens
    where = (await core.directory.conversation(conversation)).id if conversation else None
    participant_id = (await core.directory.participant(agent)).id if agent else None
    await core.watch()
    subscription = core.parts.log.subscribe(after, where)
    try:
        async for event in subscription:
            concerns = (participant_id is None or event.by == participant_id) and (
                not chosen or event.type in chosen
            )
            if not concerns and event.type != RESET:
                continue
            yield event
    finally:
        subscription.close()


async def past(core: Core, after: int, types: Sequence[str] = (), limit: int = MAX_PAGE) -> Past:
    events, reached = await page(core, after, types, limit)
    return Past([await to_shape(core, event) for event in events], reached)


async def page(
    core: Core, after: int, types: Sequence[str] = (), limit: int = MAX_PAGE
) -> tuple[list[Event], int]:
    """The events after one, and up to which event these are all there are."""
    limit = max(1, min(limit, MAX_PAGE))
    last = await core.parts.store.last_event()
    events = await core.parts.store.events(after=after, types=types, limit=limit)
    events = [event for event in events if event.id <= last]  # a smaller one may still become visible
    if events and events[-1].id > core.parts.log.last:
        await core.parts.log.catch_up()  # who comes back with what was just committed is not ahead of us
    reached = events[-1].id if len(events) == limit else max([last, after, *(event.id for event in events)])
    return events, reached


async def to_shape(core: Core, event: Event) -> shapes.Event:
    return shapes.Event.of(event, core.directory.name, await _body(core, event))


async def _body(core: Core, event: Event) -> JsonObject:
    store = core.parts.store
    if event.seq and event.conversation:
        message = await store.message(event.conversation, event.seq)
        return shapes.Message.of(message, core.directory.name).to_dict() if message is not None else {}
    if event.turn is not None:
        return without_model(
            shapes.Turn.of(event.turn, core.directory.name)
        ).to_dict()  # everybody gets the same event
    if event.type.startswith("conversation.") and event.conversation and event.body is None:
        conversation = await store.conversation(event.conversation)
        return (await core.directory.shape(conversation)).to_dict() if conversation is not None else {}
    return await _kept_body(core, event, event.body or {})


async def _kept_body(core: Core, event: Event, body: JsonObject) -> JsonObject:
    """What was written down with the event, as everybody may read it now."""
    if event.type == EventType.CONVERSATION_SUMMARISED and ":" in str(body.get("by", "")):
        return {**body, "by": MODEL, "context": f"summary:agent:{MODEL}"}  # version 0.1 told which, and where
    if event.type.startswith("agent_message."):
        return {**body, "from": core.directory.name(body["from"]), "to": core.directory.name(body["to"])}
    if event.type == EventType.AGENT_ACTIVITY and event.by is not None:
        return await _at_work(core, event.by, body)
    if event.type.startswith(OF_RECORDS):
        return await _record(core, event, body)
    if event.type.startswith("agent.") and event.by is not None:
        return {**await _agent(core, event.by), **body}
    return (
        {**body, "agent": core.directory.name(body["agent"])} if event.type == EventType.TURN_DELTA else body
    )


async def _record(core: Core, event: Event, body: JsonObject) -> JsonObject:
    """A link, a task, a decision or a note as it stood at the time of the event, in the shape it has everywhere."""
    names = core.directory.name
    match event.type.partition(".")[0]:
        case "link":  # what is made from the rest of it is left out
            return shapes.Link.of(convert(body, Link, str_keys=True), names).to_dict()
        case "task":
            return shapes.Task.of(convert(body, Task, str_keys=True), names).to_dict()
        case "decision":
            decision = convert(body, PersonsDecision, str_keys=True)
            return shapes.PersonsDecision.of(decision, names, event.at).to_dict()
        case _:
            return await _note(core, body)


async def _at_work(core: Core, id: ParticipantId, body: JsonObject) -> JsonObject:
    """What an agent is doing, as its host reported it. Why its last turn failed may quote a conversation, so it is
    left out."""
    agent = await core.parts.store.participant(id)
    if agent is None:
        return {}
    try:
        doing = convert(body["activity"], Activity) if "activity" in body else None
    except ValidationError:  # a host of another version: then what the store says
        doing = None
    fields = without_brain(await at_work(core, agent, doing))
    if fields["activity"]["state"] == "error":
        fields["activity"]["label"] = "error"
    return fields


async def _note(core: Core, body: JsonObject) -> JsonObject:
    """A note as it stood, with its text as long as that is kept; where it was shared, with whom and how."""
    names = core.directory.name
    versions = await core.parts.store.records(NOTE_VERSIONS.one(body["name"], body["version"]))
    stood = [version.text for version in versions if version.hash == body["hash"]]  # or another of that name
    note = shapes.Note(
        name=body["name"],
        text=stood[0] if stood else "",
        version=body["version"],
        updated_by=names(body["updated_by"]),
        updated_at=shapes.when(body["updated_us"] / MICROS),
        created_by=names(body["created_by"]),
        created_at=shapes.when(body["created_us"] / MICROS),
    )
    shared = {"agent": names(body["agent"]), "access": body["access"]} if "agent" in body else {}
    return {**note.to_dict(), **shared}


async def _agent(core: Core, id: ParticipantId) -> JsonObject:
    """An agent without its brain: everybody gets the same event, and that is the owner's to know."""
    agent = await core.parts.store.participant(id)
    return without_brain(await shaped(core, agent)) if agent is not None else {}


def without_brain(agent: shapes.Agent) -> JsonObject:
    return {name: value for name, value in agent.to_dict().items() if name != "brain"}
