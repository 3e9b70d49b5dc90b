"""Configure: another name or other settings for a conversation."""

from msgspec import Struct, structs

from moot.errors import BadName, Conflict
from moot.flow import create, post
from moot.flow.steps import acts, find
from moot.model.change import Decision
from moot.model.conversation import Conversation, GroupOverrides
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.words.names import NameProblem, check_conversation_name

FOR_PEOPLE = frozenset({"links_bind", "agents_may_invite"})
"""Settings that let agents call others: only people change them."""


class Configure(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str
    name: str | None = None
    settings: GroupOverrides | None = None
    """Only what is set in it changes."""


def scope(command: Configure) -> Scope:
    refs = (command.conversation,) if command.name is None else (command.conversation, command.name)
    return Scope(refs=refs, names=(command.author,), records=(acts.HEAD,))


def decide(command: Configure, seen: Seen, at: Moment) -> Decision[Conversation]:
    draft = Draft(seen, at)
    room = find.open_room(draft, command.conversation)
    conversation = room.conversation
    if command.name is not None and command.name != conversation.name:
        _check(command, command.name, seen, at)
        conversation = structs.replace(conversation, name=command.name)
    chosen: dict[str, object] = {}
    if command.settings is not None:
        chosen = {key: value for key, value in structs.asdict(command.settings).items() if value is not None}
        kept = sorted(FOR_PEOPLE & chosen.keys())
        if kept and draft.participant(command.author).speaks_in_turns:
            raise create.for_people(*kept)
        conversation = structs.replace(
            conversation, settings=structs.replace(conversation.settings, **chosen)
        )
    room.put_conversation(structs.replace(conversation, updated_at=at.now, version=conversation.version + 1))
    detail = {"name": conversation.name, "was": room.conversation.name, "settings": chosen}
    acts.enter(draft, AuditedAct.CONVERSATION_CONFIGURED, command.author, f"conversation {room.id}", detail)
    draft.emit(EventType.CONVERSATION_CHANGED, room, by=command.author)
    post.move_on(room)
    return Decision(draft.changes(), room.conversation)


def _check(command: Configure, name: str, seen: Seen, at: Moment) -> None:
    try:
        check_conversation_name(name)
    except NameProblem as problem:
        raise BadName(f'"{name}" cannot be used as a conversation name', detail=problem.expected) from problem
    taken = seen.find(name)
    if taken is not None and not find.knows_of(seen, command.author, taken, at):
        raise find.name_taken(name)
    if taken is not None:
        raise Conflict(f'a conversation called "{name}" already exists', conversation=taken.id)
