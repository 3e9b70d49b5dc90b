"""The conversation of a link: made with it, closed when it is cut. What the verbs on links share.

Above: link.py, relink.py, unlink.py, sync_links.py. Below: create.py makes it, put_away.py archives it.
"""

from collections.abc import Collection, Iterable, Sequence

from msgspec import structs

from moot.errors import Conflict, NotFound, NotPermitted
from moot.flow import create
from moot.flow.steps import acts, obligations, task_report
from moot.flow.steps.put_away import put_away
from moot.flow.steps.task_report import TaskEnd
from moot.model.conversation import Conversation, ConversationKind
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId
from moot.model.participant import HUMAN, Participant
from moot.model.records.audit import AuditedAct
from moot.model.records.link import CHANNEL, Link, LinkId, Policy, pair_key
from moot.model.records.task import TASKS, Task, TaskState
from moot.model.turn import UNCLAIMED, RuleName
from moot.ports import Scope
from moot.rules import links
from moot.rules.draft import Draft, Seen
from moot.rules.floor import seats
from moot.rules.graph import Graph
from moot.rules.room import Room


def by_person(draft: Draft, author: ParticipantId) -> Participant:
    """Who may speak to whom is for people to say."""
    participant = draft.participant(author)
    if participant.kind is not HUMAN:
        raise NotPermitted(
            f"{participant.name} may not change links", detail="only people may change links, not agents"
        )
    return participant


def new_id(draft: Draft) -> LinkId:
    return LinkId(f"l{draft.at.conversation_id()[1:]}")


def found(graph: Graph, link: str) -> Link:
    link_found = graph.get(link)
    if link_found is None:
        raise NotFound(f'there is no link "{link}"', what="link", fix=(Hint(Act.LIST_LINKS),), ref=link)
    return link_found


def check(draft: Draft, link: Link) -> None:
    """One link per pair, whichever way round; and nobody is its own superior, over however many others."""
    if link.source == link.target:
        name = draft.name(link.source)
        raise Conflict(f"{name} cannot be linked with itself", fix=("name another agent",))
    before = draft.graph.between(link.source, link.target)
    if before is not None and before.id != link.id:
        names = f"{draft.name(link.source)} and {draft.name(link.target)}"
        raise Conflict(
            f"{names} are already linked",
            detail=f"there is one link per pair: {before.id}, {links.sentence(before, draft.name)}",
            fix=(Hint(Act.CHANGE_LINK, id=before.id), Hint(Act.SHOW_LINK, id=before.id)),
            link=before.id,
        )
    ring = [draft.name(each) for each in draft.graph.ring_with(link)]
    if ring:
        raise Conflict(
            f"{' is superior of '.join(ring)}: nobody can be its own superior",
            detail="superiors may not form a ring",
            fix=("make one of these links a peer link",),
            ring=ring,
        )


def name_between(one: str, other: str) -> str:
    """What the channel of two is called where that is free."""
    return f"link-{'+'.join(sorted((one, other)))}"


def make(
    draft: Draft,
    link: Link,
    author: ParticipantId,
    looked_up: Collection[str] = (),
    former: Sequence[Conversation] = (),
) -> Link:
    """A link with its channel. Where these two were linked before, it goes on under the id that it had, and its channel
    is among the `former` ones: opened again, with what was said there."""
    before = _former(draft, link, former)
    if before is not None:
        link = structs.replace(link, id=LinkId(before.id.removeprefix(CHANNEL)))
    acts.put_link(draft, AuditedAct.LINK_CREATED, link, author)  # by which its ends may be brought together
    if before is None:
        _open(draft, link, author, looked_up)
    else:
        _reopen(draft, before, author)
    emit_link(draft, EventType.LINK_CREATED, link, author)
    return link


def _former(draft: Draft, link: Link, former: Sequence[Conversation]) -> Conversation | None:
    """The newest channel that these two had, if it can be theirs again."""
    seen = [draft.seen.conversation(one.id) for one in former if one.key == pair_key(*link.ends)]
    kept = [one for one in seen if one is not None and one.archived and _can_be_theirs(draft, one, link)]
    return max(kept, key=lambda one: one.updated_at, default=None)


def _can_be_theirs(draft: Draft, old: Conversation, link: Link) -> bool:
    is_taken = draft.graph.get(old.id.removeprefix(CHANNEL)) is not None
    return not is_taken and set(link.ends) == set(draft.room(old).members)


def _reopen(draft: Draft, old: Conversation, author: ParticipantId) -> None:
    room, holder = draft.room(old), draft.seen.find(old.name)
    name = old.name
    if holder is not None and holder.id != old.id:  # nobody chose this name: another does as well
        name = f"{name[: create.MAX_BASE_CHARACTERS]}-{old.id[-8:]}"
    opened = structs.replace(old, name=name, archived=False, updated_at=draft.at.now, stalled=0, blocked=())
    room.put_conversation(opened)
    draft.emit(EventType.CONVERSATION_UNARCHIVED, room, by=author)


def _open(draft: Draft, link: Link, author: ParticipantId, looked_up: Collection[str]) -> None:
    """A new channel. A name that is not among those `looked_up` may be taken: then the link's id is in it."""
    name = name_between(*link.ends)
    if name not in looked_up or len(name) > create.MAX_BASE_CHARACTERS:
        name = f"{name[: create.MAX_BASE_CHARACTERS]}-{link.id[-8:]}"
    wanted = create.Create(
        author=author,
        name=name,
        participants=link.ends,
        kind=ConversationKind.LINK,
        key=pair_key(*link.ends),
        joins=False,
        id=link.channel,
    )
    create.make(draft, wanted)


class BranchesMoved(Exception):
    """Tasks will end whose conversations the caller did not bring along: ask again, with these."""

    def __init__(self, branches: tuple[ConversationId, ...]) -> None:
        super().__init__()
        self.branches = branches


def pairs_of(author: ParticipantId, ends: Sequence[ParticipantId]) -> tuple[str, ...]:
    """By which the conversations are found in which somebody tells the ends of a link that it was cut."""
    pairs = [create.among(author, (end,)) for end in ends if end != author]
    return tuple(ref for pair in pairs for ref in (pair.key, pair.name))


def cutting(
    author: ParticipantId,
    link: str,
    ends: Sequence[ParticipantId],
    branches: Sequence[ConversationId],
) -> Scope:
    """What a decision must see that may cut a link: its channel, what was delegated over it, and where its ends are
    told."""
    return Scope(
        conversations=(ConversationId(f"{CHANNEL}{link}"), *branches),
        refs=pairs_of(author, ends),
        names=(author,),
        records=(acts.HEAD, TASKS.where(open_over=link)),
        everyone=True,
    )


def open_tasks(seen: Seen, link: Link, branches: Collection[ConversationId]) -> list[Task]:
    """What was delegated over a link and is not done, with its conversations at hand."""
    tasks = [task for task in seen.records(TASKS.where(open_over=link.id)) if task.is_open]
    if not all(task.conversation in branches for task in tasks):
        raise BranchesMoved(tuple(task.conversation for task in tasks))
    return tasks


def call_off_tasks(draft: Draft, link: Link, author: ParticipantId) -> None:
    """What was delegated over a link that is cut comes home as called off. Over the link nobody can answer that any
    more, so who would hear of it there hears of it from whoever cut the link."""
    reason = "its link was removed or disabled"
    for task in draft.records(TASKS.where(open_over=link.id)):
        if task.is_open:
            ending = TaskEnd(TaskState.CANCELLED, reason, reason=reason)
            obligations.end(draft, task, ending, _beside_the_link(draft, task, author))


def _beside_the_link(draft: Draft, task: Task, author: ParticipantId) -> Room | None:
    if author == task.by or not task_report.needs_the_channel(draft, task):
        return None
    if not draft.participant(task.by).speaks_in_turns:
        return None
    pair = create.among(author, (task.by,))
    conversation = create.found_by_key(draft.seen, pair.key)
    return draft.room(conversation) if conversation is not None else create.make(draft, pair)


def change(draft: Draft, before: Link, after: Link, author: ParticipantId) -> Link:
    """Store the link as it is from now on, and end the turns that it no longer allows."""
    after = structs.replace(after, updated_at=draft.at.now)
    acts.put_link(draft, AuditedAct.LINK_CHANGED, after, author)
    emit_link(draft, EventType.LINK_CHANGED, after, author)
    room = _room(draft, after)
    if before.enabled and not after.enabled:
        if room is not None and draft.at.terms.policy is not Policy.OPEN:  # under which no link binds anybody
            cut(room)
        call_off_tasks(draft, after, author)
    return after


def remove(draft: Draft, link: Link, author: ParticipantId) -> None:
    """The link is gone; its channel is archived, and stays readable."""
    acts.drop_link(draft, link, author)
    emit_link(draft, EventType.LINK_DELETED, link, author)
    room = _room(draft, link)
    if room is not None:
        cut(room)
    call_off_tasks(draft, link, author)
    if room is not None:
        put_away(room, room.conversation, by=author)


def cut(room: Room) -> None:
    """Nobody has a turn here because of the other one any more. What people said is still to be answered, and how
    a task has ended is still to be heard."""
    for turn in [*room.turns.values(), *room.asks.all()]:
        if turn.state in UNCLAIMED and not links.needs_no_link(turn):
            seats.cancel(room, turn, RuleName.LINK)
    obligations.move_on(room)


def _room(draft: Draft, link: Link) -> Room | None:
    found = draft.seen.conversation(link.channel)
    return None if found is None or found.archived else draft.room(found)


def emit_link(draft: Draft, kind: EventType, link: Link, author: ParticipantId) -> None:
    body = structs.asdict(link) | {"enabled": link.enabled, "channel": link.channel}
    draft.emit(kind, by=author, body=body)


def cut_off(draft: Draft, before: Graph, changed: Iterable[Link]) -> dict[str, list[str]]:
    """Whom links cut off from whom: those that their ends could write to before, and no longer can. What a link says of
    its own two ends is not repeated."""
    neighbours: dict[ParticipantId, set[ParticipantId]] = {}
    for link in changed:
        for end in link.ends:
            neighbours.setdefault(end, {end}).add(link.other(end))
    everyone = [participant for participant in draft.seen.everyone() if participant.listed]
    lost: dict[str, list[str]] = {}
    for end, known in neighbours.items():
        if draft.participant(end).speaks_in_turns:
            names = [
                participant.name
                for participant in everyone
                if participant.id not in known and _loses(draft, before, end, participant.id)
            ]
            lost |= {draft.name(end): names} if names else {}
    return lost


def _loses(draft: Draft, before: Graph, sender: ParticipantId, receiver: ParticipantId) -> bool:
    policy = draft.at.terms.policy
    if links.verdict(draft.graph, policy, sender, receiver).bar is None:
        return False
    return links.verdict(before, policy, sender, receiver).bar is None


def keeps_its_channel(draft: Draft, conversation: Conversation) -> None:
    """A channel is open as long as its link stands, and has the two ends of it as members."""
    link = draft.graph.of_channel(conversation.id)
    if link is not None:
        raise Conflict(
            f"{conversation.name} is the channel of a link and stays open as long as the link exists",
            fix=(Hint(Act.SHOW_LINK, id=link.id),),
            link=link.id,
        )
