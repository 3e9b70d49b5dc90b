"""Create a conversation: named, or implicit and found again by the set of who is in it.

An agent puts together only whom it may write to, and what it puts together is bound by links for good: nobody gains the
right to call somebody because an agent made a group. A task's branch is made by delegate.py, which asks for itself.
"""

from collections.abc import Sequence

from msgspec import Struct, structs

from moot.errors import BadName, BadValue, Conflict, NotPermitted
from moot.flow import join, post
from moot.flow.steps import find, membership
from moot.flow.steps.lines import check_lines
from moot.model.change import Decision
from moot.model.conversation import Conversation, ConversationKind, GroupOverrides
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.model.records.link import pair_key
from moot.ports import Scope
from moot.rules import links
from moot.rules.draft import Draft, Seen
from moot.rules.room import Room
from moot.rules.words.names import NameProblem, check_conversation_name

PAIR = 2
MAX_BASE_CHARACTERS = 80
COMPOSED = frozenset({ConversationKind.GROUP, ConversationKind.EPHEMERAL})
"""Kinds of conversations in which membership is the permission, if a person made them."""


class Create(Struct, frozen=True, gc=False):
    author: ParticipantId
    name: str
    participants: tuple[str, ...] = ()
    kind: ConversationKind = ConversationKind.GROUP
    settings: GroupOverrides = GroupOverrides()
    key: str = ""
    """With a key, an existing conversation of that key is the answer."""
    joins: bool = True
    """The creator becomes a member."""
    channel_type: str = ""
    channel_group_id: str = ""
    id: ConversationId | None = None
    """The one it gets, where that is settled; else a new one."""
    exist_ok: bool = False
    """Where the author is in a conversation of this name and kind, that one is the answer."""


def among(author: ParticipantId, others: Sequence[ParticipantId]) -> Create:
    """The one conversation of an author and others, found again by the set of them."""
    ids = sorted({author, *others})
    if len(ids) == 1:
        raise NotPermitted("a conversation needs somebody besides yourself", fix=("add another participant",))
    direct = len(ids) <= PAIR
    key = f"{'direct' if direct else 'group'}:{'+'.join(ids)}"
    return Create(
        author=author,
        name=key.replace(":", "-"),
        participants=tuple(others),
        kind=ConversationKind.DIRECT if direct else ConversationKind.GROUP,
        key=key,
    )


def keys(command: Create) -> tuple[str, ...]:
    """By which a conversation that stands is the answer, the first that is there: two who are linked talk over their
    link."""
    if not command.key:
        return ()
    ends = command.author, *map(ParticipantId, command.participants)
    is_pair = command.kind is ConversationKind.DIRECT and len(ends) == PAIR
    return (pair_key(*ends), command.key) if is_pair else (command.key,)


def scope(command: Create) -> Scope:
    return Scope(refs=(command.name, *keys(command)), names=(command.author, *command.participants))


def decide(command: Create, seen: Seen, at: Moment) -> Decision[Conversation]:
    for key in keys(command):
        existing = found_by_key(seen, key)
        if existing is not None:
            return Decision([], existing)
    draft = Draft(seen, at)
    standing = _standing(command, seen) if command.exist_ok else None
    if standing is not None:
        return _joined(command, draft.room(standing))
    room = make(draft, command)
    return Decision(draft.changes(), room.conversation)


def found_by_key(seen: Seen, key: str) -> Conversation | None:
    """The conversation of a key; a name or an id spelled like it is no key."""
    conversation = seen.find(key) if key else None
    return conversation if conversation is not None and conversation.key == key else None


def make(draft: Draft, command: Create) -> Room:
    """A new conversation with its members."""
    seen, at = draft.seen, draft.at
    made = command.id or at.conversation_id()
    if command.key and seen.find(command.name) is not None:  # nobody chose this name: another does as well
        command = structs.replace(command, name=f"{command.name[:MAX_BASE_CHARACTERS]}-{made[-8:]}")
    author = find.participant(seen, command.author)
    _check(command, seen, at)
    members = [draft.newcomer(name) or find.addressee(seen, name) for name in command.participants]
    if command.joins and author not in members:
        members.insert(0, author)
    members = members_by_id(members)
    if command.kind is ConversationKind.DIRECT and len(members) != PAIR:
        raise BadValue(
            f"a direct conversation has two participants, not {len(members)}",
            fix=("leave kind out to make a group",),
        )
    composed_by_agent = author.speaks_in_turns and command.kind is not ConversationKind.TASK
    speakers = [participant for participant in members if participant.speaks_in_turns]
    conversation = Conversation(
        id=made,
        name=command.name,
        kind=command.kind,
        created_at=at.now,
        updated_at=at.now,
        settings=_bound(command.settings)
        if composed_by_agent and command.kind in COMPOSED
        else command.settings,
        home=speakers[0].id if speakers else None,
        key=command.key,
        channel_type=command.channel_type,
        channel_group_id=command.channel_group_id,
    )
    room = draft.room(conversation)
    room.put_conversation(conversation)
    if composed_by_agent:
        links.may_bring_together(room, author, members)
    for member in members:
        membership.add(room, member, cursor=0)
    draft.emit(EventType.CONVERSATION_CREATED, room, by=command.author)
    return room


def _bound(settings: GroupOverrides) -> GroupOverrides:
    if settings.links_bind is False:
        raise for_people("links_bind")
    return structs.replace(settings, links_bind=True)


def for_people(*settings: str) -> NotPermitted:
    """What only people may say of a conversation, since agents call each other by it."""
    return NotPermitted(
        f"only people may set {' and '.join(settings)} of a conversation",
        detail="it decides whom agents may call in a group",
        fix=("ask a person to change it",),
        rule="link",
    )


def _standing(command: Create, seen: Seen) -> Conversation | None:
    found = seen.find(command.name)
    is_meant = found is not None and found.name == command.name and found.kind is command.kind
    return found if found is not None and is_meant and command.author in seen.members(found.id) else None


def _joined(command: Create, room: Room) -> Decision[Conversation]:
    """The conversation that stands, with whoever was missing; its settings stay as they are."""
    named = members_by_id([find.participant(room.draft.seen, name) for name in command.participants])
    missing = [participant for participant in named if participant.id not in room.members]
    links.may_bring_together(room, room.draft.participant(command.author), missing)
    for participant in missing:
        join.bring_in(room, find.not_removed(participant))
    if missing:
        post.move_on(room)
    return Decision(room.draft.changes(), room.conversation)


def members_by_id(members: list[Participant]) -> list[Participant]:
    """Each participant once, in the order first named."""
    return list({participant.id: participant for participant in members}.values())


def _check(command: Create, seen: Seen, at: Moment) -> None:
    check_lines(channel_type=command.channel_type, channel_group_id=command.channel_group_id)
    try:
        check_conversation_name(command.name)
    except NameProblem as problem:
        raise BadName(
            f'"{command.name}" cannot be used as a conversation name',
            detail=problem.expected,
            suggestions=problem.suggestions,
        ) from problem
    taken = seen.find(command.name)
    if taken is not None and not find.knows_of(seen, command.author, taken, at):
        raise find.name_taken(command.name)
    if taken is not None:
        raise Conflict(
            f'a conversation called "{command.name}" already exists',
            detail=f"its id is {taken.id}",
            fix=(Hint(Act.OPEN_CONVERSATION, conversation=command.name), "choose another name"),
            conversation=taken.id,
        )
