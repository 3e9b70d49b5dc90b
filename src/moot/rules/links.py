"""Who may speak to whom. The only place that makes a `Permit`.

People may always, and may always be written to. Between agents the policy decides (`hub.policy`): `open` binds nobody,
`links` everybody, `auto` whoever has a link, on whichever side. A link that is off lets nobody through; of a one-way
link only `from` may start, and `to` may answer. In a group that a person put together, membership is the permission;
with `links_bind` an agent there calls only those it may also write to. What an agent puts together is no permission: it
brings in only whom it may write to, and links bind there.

Above: flow/post.py for every message, flow/claim.py before a turn begins, flow/steps/address.py for calls and
invitations. Below: graph.py. Not here: who may read what, or change links (access.py).
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from moot.errors import NotPermitted
from moot.model.conversation import ConversationKind
from moot.model.hint import Act, Hint, Way
from moot.model.ids import SYSTEM, ParticipantId
from moot.model.message import Permit
from moot.model.participant import HUMAN, TAKES_TURNS, Participant
from moot.model.records.link import Direction, Link, Policy
from moot.model.turn import NOBODY, Call, RuleName, Turn
from moot.rules.graph import Graph
from moot.rules.room import Room

OF_SYSTEM = Permit(author=SYSTEM, by="system")
PAIRED: Final = frozenset({ConversationKind.DIRECT, ConversationKind.LINK})
"""Conversations of two: whatever one says is addressed to the other."""
MAX_LISTED_NAMES: Final = 8
"""Names that a refusal lists."""


class Bar(StrEnum):
    """Why an agent may not write to another."""

    SENDER_BOUND = "sender_bound"
    RECEIVER_BOUND = "receiver_bound"
    NO_LINK = "no_link"
    OFF = "off"
    ONE_WAY = "one_way"


class Verdict(Struct, frozen=True, gc=False):
    """Whether an agent may write to another, and what says so."""

    bar: Bar | None = None
    link: Link | None = None

    @property
    def by(self) -> str:
        """What allowed it."""
        return "open" if self.link is None else self.link.channel


FREE: Final = Verdict()


def verdict(
    graph: Graph, policy: Policy, sender: ParticipantId, receiver: ParticipantId, *, answers: bool = False
) -> Verdict:
    """Whether one agent may write to another; `answers`: the other one wrote first, and this is the answer."""
    if not graph and policy is not Policy.LINKS:
        return FREE
    link = graph.between(sender, receiver)
    if policy is Policy.OPEN:
        return Verdict(None, link)
    if link is not None:
        return Verdict(_bar_on(link, sender, answers), link)
    if policy is Policy.LINKS:
        return Verdict(Bar.NO_LINK)
    if graph.binds(sender):
        return Verdict(Bar.SENDER_BOUND)
    return Verdict(Bar.RECEIVER_BOUND if graph.binds(receiver) else None)


def _bar_on(link: Link, sender: ParticipantId, answers: bool) -> Bar | None:
    if not link.enabled:
        return Bar.OFF
    return None if answers or link.may_start(sender) else Bar.ONE_WAY


def permit(
    room: Room, author: Participant, turn: Turn | None = None, answered: ParticipantId | None = None
) -> Permit:
    """The right of an author to say something here, or the refusal. `turn` is the one it is said in, if that runs here;
    `answered` wrote what it replies to."""
    if author.kind is HUMAN:
        return Permit(author=author.id, by="human")
    if author.only_watches:
        raise NotPermitted(
            f"{author.name} only watches, and says nothing",
            detail="its settings have `watches`, which makes a supervisor of it",
        )
    if room.conversation.kind not in PAIRED or author.kind not in TAKES_TURNS:
        return Permit(author=author.id, by="member")
    by = "open"
    for member in room.agents():
        other = member.participant
        if other != author.id:
            found = between(room, author.id, other, answers=answered == other or _was_called(turn))
            if found.bar is not None:
                raise refusal(room, author, room.draft.participant(other), found)
            by = found.by
    return Permit(author=author.id, by=by)


def beside(author: Participant) -> Permit:
    """For what is said in a turn without being its reply, and wakes nobody: a partial, what a tool answered."""
    return Permit(author=author.id, by="member")


def imported(author: ParticipantId) -> Permit:
    """For what was said elsewhere, long ago: it wakes nobody."""
    return Permit(author=author, by="import")


def between(room: Room, sender: ParticipantId, receiver: ParticipantId, *, answers: bool = False) -> Verdict:
    draft = room.draft
    return verdict(draft.graph, draft.at.terms.policy, sender, receiver, answers=answers)


def may_call(room: Room, author: Participant, agent: ParticipantId) -> bool:
    """Whether a message in a group may give somebody a turn: membership is enough, unless links bind here too."""
    if author.kind not in TAKES_TURNS or not room.settings.links_bind:
        return True
    return between(room, author.id, agent).bar is None


def may_hand_down(room: Room, author: Participant, worker: Participant, turn: Turn | None) -> None:
    """Refuse work that would begin what only the other end of a one-way link may begin. In its turn over that link a
    superior may answer with work."""
    link = room.draft.graph.between(author.id, worker.id)
    answers = (
        turn is not None and link is not None and turn.conversation == link.channel and _was_called(turn)
    )
    found = between(room, author.id, worker.id, answers=answers)
    if author.speaks_in_turns and found.bar is not None:
        raise refusal(room, author, worker, found)


def may_bring_together(room: Room, author: Participant, newcomers: Sequence[Participant]) -> None:
    """Refuse an agent that puts agents whom the graph keeps apart into one conversation, itself too. People may."""
    if author.kind not in TAKES_TURNS:
        return
    here = [room.draft.participant(member.participant) for member in room.agents()]
    for newcomer in (each for each in newcomers if each.speaks_in_turns):
        _check_may_write(room, author, newcomer)
        for other in () if room.settings.links_bind else here:
            _check_may_write(room, newcomer, other)
            _check_may_write(room, other, newcomer)


def _check_may_write(room: Room, sender: Participant, receiver: Participant) -> None:
    found = FREE if sender.id == receiver.id else between(room, sender.id, receiver.id)
    if found.bar is not None:
        raise refusal(room, sender, receiver, found)


def standing_calls(room: Room, turn: Turn) -> tuple[Call, ...]:
    """Of the messages that call a turn, those that still may: links may have been cut while it waited. In a group
    where links bind, each of them for itself."""
    if room.conversation.kind not in PAIRED:
        if not room.settings.links_bind:
            return turn.calls
        return tuple(call for call in turn.calls if _still_links(room, call))
    if needs_no_link(turn):
        return turn.calls
    others = [member.participant for member in room.agents() if member.participant != turn.agent]
    stands = all(between(room, other, turn.agent, answers=True).bar is None for other in others)
    return turn.calls if stands else ()


def needs_no_link(turn: Turn) -> bool:
    """Whether a turn between two agents has a call that no link carries: a person's, how a task has ended, or that a
    question got no answer."""
    return any(
        call.human or call.reason is RuleName.TASK or (call.by == SYSTEM and not call.asks_again)
        for call in turn.calls
    )


def _still_links(room: Room, call: Call) -> bool:
    if call.by in (NOBODY, SYSTEM) or call.reason is RuleName.TASK:
        return True
    return between(room, call.by, call.agent).bar is None


def is_above(graph: Graph, author: Participant, agent: Participant) -> bool:
    """Whether the author is the agent's superior: people are everybody's, among agents the graph says."""
    if author.id == agent.id:
        return False
    return author.kind is HUMAN or graph.is_superior(author.id, agent.id)


def _was_called(turn: Turn | None) -> bool:
    """Whether another agent's message is among those that a turn answers."""
    return turn is not None and any(not call.human for call in turn.calls)


# --- in words -----------------------------------------------------------------------------------------------


def sentence(link: Link, name: Callable[[ParticipantId], str]) -> str:
    """A link as people read it everywhere: who stands above whom, and who may start."""
    source, target = name(link.source), name(link.target)
    match link.superior:
        case None:
            related = f"{source} and {target} are peers."
        case link.source:
            related = f"{source} is superior of {target}."
        case _:
            related = f"{target} is superior of {source}."
    if not link.enabled:
        return f"{related} The link is off."
    starts = "Both may start." if link.direction is Direction.TWO_WAY else f"Only {source} may start."
    return f"{related} {starts}"


# --- refusals ------------------------------------------------------------------------------------------------


def refusal(room: Room, sender: Participant, receiver: Participant, found: Verdict) -> NotPermitted:
    """Which rule refused, what would be allowed, and what can be done."""
    titles = {
        Bar.OFF: f"the link between {sender.name} and {receiver.name} is off",
        Bar.ONE_WAY: f"only {receiver.name} may start on its link with {sender.name}",
        Bar.NO_LINK: f"{sender.name} and {receiver.name} are not linked",
        Bar.SENDER_BOUND: f"{sender.name} is bound by its links, and none leads to {receiver.name}",
        Bar.RECEIVER_BOUND: f"{receiver.name} is bound by its links, and none leads to {sender.name}",
    }
    details = {
        Bar.OFF: "a link that is off lets nobody through, in either direction",
        Bar.ONE_WAY: f"{sender.name} may answer what {receiver.name} writes there",
        Bar.NO_LINK: 'hub.policy is "links": agents write only along links',
        Bar.SENDER_BOUND: 'hub.policy is "auto": an agent that has a link writes only along its links',
        Bar.RECEIVER_BOUND: 'hub.policy is "auto": an agent that has a link is written to only along its links',
    }
    bar = found.bar or Bar.NO_LINK
    allowed = reachable(room, sender.id)
    names = ", ".join(allowed[:MAX_LISTED_NAMES]) + (" …" if len(allowed) > MAX_LISTED_NAMES else "")
    detail = f"{details[bar]}; {sender.name} may write to {names}" if allowed else details[bar]
    return NotPermitted(
        titles[bar],
        detail=f"{detail}. Nothing was stored",
        fix=_ways_out(sender, receiver, found),
        rule=RuleName.LINK.value,
        bar=bar.value,
        allowed=allowed,
        link=found.link.id if found.link is not None else None,
    )


def reachable(room: Room, sender: ParticipantId) -> list[str]:
    """Whom an agent may write to along its links, by name."""
    found = [
        link.other(sender) for link in room.draft.graph.of(sender) if link.enabled and link.may_start(sender)
    ]
    return sorted(room.draft.name(other) for other in found)


def _ways_out(sender: Participant, receiver: Participant, found: Verdict) -> tuple[Way, ...]:
    if found.bar is Bar.OFF and found.link is not None:
        return (Hint(Act.ENABLE_LINK, id=found.link.id),)
    if found.bar is Bar.ONE_WAY and found.link is not None:
        return (Hint(Act.OPEN_LINK, id=found.link.id),)
    return (Hint(Act.NEW_LINK, agents=(sender.name, receiver.name)),)
