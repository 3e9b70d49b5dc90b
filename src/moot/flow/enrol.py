"""The registry: enrol participants, rename them, pause and resume them, take them out."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from moot.errors import BadName, BadValue, NotPermitted
from moot.flow import post
from moot.flow.steps import look
from moot.flow.steps.lines import check_lines
from moot.model.change import Decision
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Kind, Participant
from moot.model.turn import UNCLAIMED, Rule
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.floor import direct, group
from moot.rules.words.names import NameProblem, check_display, check_name, drawn_as, unique_slug
from moot.rules.words.redact import bare_brain

LONGEST_TOLD = 40

MOST_NAMES = 32
"""That somebody answers to: each is one that nobody else can take, and that every mention is compared with."""


class Newcomer(Struct, frozen=True, gc=False):
    """What is known of a participant before it has an id."""

    name: str
    kind: Kind = Kind.AGENT
    display: str = ""
    role: str = ""
    brain: str = ""
    project: str = ""
    config: dict[str, Any] = {}


class Enrol(Struct, frozen=True, gc=False):
    """Known names are brought up to date; unknown ones get an id."""

    newcomers: tuple[Newcomer, ...]
    fresh: bool = False
    """None of the names may be known yet."""


class Enrolling:
    def scope(self, command: Enrol) -> Scope:
        return Scope(everyone=True)

    def decide(self, command: Enrol, seen: Seen, at: Moment) -> Decision[tuple[Participant, ...]]:
        draft = Draft(seen, at)
        known = {who.id: who for who in seen.everyone()}
        enrolled: list[Participant] = []
        for new in command.newcomers:
            who = seen.named(new.name)
            if who is not None and not _takes_up(who, new, fresh=command.fresh):
                who = None
            elif who is not None and new.name not in (who.name, *who.aliases):
                who = None  # only its id is spelled like this; the name is refused below
            fields = {name: getattr(new, name) for name in ("display", "role", "brain", "project", "config")}
            others = [one for one in known.values() if who is None or one.id != who.id]
            check_lines(role=new.role, project=new.project)
            fields["display"] = _display_of(new, others, fresh=command.fresh)
            fields["brain"] = bare_brain(new.brain)
            if who is None:
                who = Participant(
                    id=_new_id(new, known, at), name=new.name, kind=new.kind, created_at=at.now, **fields
                )
                known |= {one.id: one for one in give_way(draft, others, who.name)}
                draft.emit("agent.joined", by=who.id)
            else:
                who = structs.replace(back(draft, who), kind=new.kind, **fields)
            if known.get(who.id) != who:
                draft.put_participant(who)
            known[who.id] = who
            enrolled.append(who)
        for who in known.values():
            if who.brain != bare_brain(who.brain):  # stored before secrets were kept out
                draft.put_participant(structs.replace(who, brain=bare_brain(who.brain)))
        return Decision(draft.changes(), tuple(enrolled))


def _takes_up(who: Participant, new: Newcomer, *, fresh: bool) -> bool:
    """Whether somebody known is meant: a person stays a person, and whoever was removed may come anew."""
    if fresh and not who.removed:
        return False
    return (who.kind is Kind.HUMAN) == (new.kind is Kind.HUMAN)


def back(draft: Draft, who: Participant) -> Participant:
    """Whoever was removed and is named again takes up where it left."""
    if not who.removed:
        return who
    draft.emit("agent.status", by=who.id, body={"removed": False, "paused": False})
    return structs.replace(who, paused=False, removed_at=0.0)


def _new_id(new: Newcomer, known: dict[ParticipantId, Participant], at: Moment) -> ParticipantId:
    taken = answered_to(known.values())
    user = at.terms.user
    if new.kind is not Kind.HUMAN or new.name != user:
        checked_name(new.name, taken, user)
    return ParticipantId(unique_slug(new.name, [*taken, "system", "tool"]))


def checked_display(display: str, others: Iterable[Participant]) -> str:
    """The display name, if it shows nobody as somebody else; none is always possible."""
    try:
        return check_display(display, taken=answered_to(others)) if display else ""
    except NameProblem as problem:
        raise BadValue(
            f"display = {display[:LONGEST_TOLD]!a} cannot be used", detail=f"expected {problem.expected}"
        ) from problem


def _display_of(new: Newcomer, others: Iterable[Participant], *, fresh: bool) -> str:
    """Of those that the owner's settings name, one that clashes with somebody's name is left out: whoever took that
    name must not be able to keep the home from opening."""
    try:
        return checked_display(new.display, others)
    except BadValue:
        if fresh:
            raise
        return ""


def give_way(draft: Draft, others: Iterable[Participant], name: str) -> list[Participant]:
    """A name is worth more than a display name: whoever is shown under what looks like it is so no more."""
    looks = drawn_as(name)
    found = [
        structs.replace(one, display="") for one in others if one.display and drawn_as(one.display) & looks
    ]
    for one in found:
        draft.put_participant(one)
        draft.emit("agent.status", by=one.id, body={"display": ""})
    return found


def answered_to(people: Iterable[Participant]) -> list[str]:
    """Everything they answer to. Ids are among it: what one goes by may be nobody's id but its own, or a message,
    a token or a voice would find the wrong one."""
    return [name for who in people for name in (who.id, who.name, *who.aliases)]


def checked_name(name: str, taken: list[str], human: str) -> str:
    """The name, if an agent may get it."""
    try:
        check_name(name, taken=taken, human=human)
        return name
    except NameProblem as problem:
        raise BadName(
            f'"{name}" cannot be the name of an agent: {problem.problem}',
            detail=problem.expected,
            suggestions=problem.suggestions,
            problem=problem.problem,
        ) from problem


class Rename(Struct, frozen=True, gc=False):
    agent: str
    name: str


class Renaming:
    def scope(self, command: Rename) -> Scope:
        return Scope(names=(command.agent,), everyone=True)

    def decide(self, command: Rename, seen: Seen, at: Moment) -> Decision[Participant]:
        who = look.participant(seen, command.agent)
        if who.name == command.name:
            return Decision([], who)
        others = [p for p in seen.everyone() if p.id != who.id]
        if command.name not in who.aliases:  # one that it has had is its own
            checked_name(command.name, answered_to(others), at.terms.user)
            _has_room_for_a_name(who)
        aliases = tuple(dict.fromkeys((*who.aliases, who.name)))
        renamed = structs.replace(
            who, name=command.name, aliases=tuple(a for a in aliases if a != command.name)
        )
        draft = Draft(seen, at)
        give_way(draft, others, command.name)
        draft.put_participant(renamed)
        draft.emit("agent.renamed", by=who.id, body={"name": command.name, "previous_name": who.name})
        return Decision(draft.changes(), renamed)


def _has_room_for_a_name(who: Participant) -> None:
    if len(who.aliases) + 1 >= MOST_NAMES:
        raise BadName(
            f"{who.name} has had {len(who.aliases) + 1} names already",
            detail=f"somebody answers to {MOST_NAMES} at most, as old ones stay its own; it may take one of them again",
            suggestions=who.aliases[-3:],
            problem="too many",
        )


class Amend(Struct, frozen=True, gc=False):
    """What is given changes; None stays."""

    agent: str
    role: str | None = None
    display: str | None = None
    project: str | None = None


class Amending:
    def scope(self, command: Amend) -> Scope:
        return Scope(names=(command.agent,), everyone=bool(command.display))

    def decide(self, command: Amend, seen: Seen, at: Moment) -> Decision[Participant]:
        who = look.participant(seen, command.agent)
        others = [one for one in seen.everyone() if one.id != who.id] if command.display else []
        check_lines(role=command.role, project=command.project)
        display = None if command.display is None else checked_display(command.display, others)
        given = {"role": command.role, "display": display, "project": command.project}
        amended = structs.replace(who, **{key: value for key, value in given.items() if value is not None})
        draft = Draft(seen, at)
        if amended != who:
            draft.put_participant(amended)
            draft.emit("agent.status", by=who.id, body={k: v for k, v in given.items() if v is not None})
        return Decision(draft.changes(), amended)


class Pause(Struct, frozen=True, gc=False):
    agent: str
    paused: bool
    conversations: tuple[ConversationId, ...] = ()
    """Where the agent has open turns, as the caller found them; a later one is stopped when claimed."""


class Pausing:
    def scope(self, command: Pause) -> Scope:
        return Scope(names=(command.agent,), conversations=command.conversations)

    def decide(self, command: Pause, seen: Seen, at: Moment) -> Decision[Participant]:
        draft = Draft(seen, at)
        who = structs.replace(look.participant(seen, command.agent), paused=command.paused)
        draft.put_participant(who)
        draft.emit("agent.status", by=who.id, body={"paused": command.paused})
        if command.paused:
            _drop_turns(draft, who, command.conversations)
        return Decision(draft.changes(), who)


class Remove(Struct, frozen=True, gc=False):
    agent: str
    conversations: tuple[ConversationId, ...] = ()
    """Where the agent has open turns, as with `Pause`."""


class Removing:
    def scope(self, command: Remove) -> Scope:
        return Scope(names=(command.agent,), conversations=command.conversations)

    def decide(self, command: Remove, seen: Seen, at: Moment) -> Decision[Participant]:
        draft = Draft(seen, at)
        who = look.participant(seen, command.agent)
        if not who.speaks_in_turns:
            raise NotPermitted(f"{who.name} is a person; only agents can be removed")
        if who.removed:
            return Decision([], who)
        who = structs.replace(who, paused=True, removed_at=at.now)
        draft.put_participant(who)
        draft.emit("agent.status", by=who.id, body={"removed": True, "paused": True})
        _drop_turns(draft, who, command.conversations)
        return Decision(draft.changes(), who)


def _drop_turns(draft: Draft, who: Participant, conversations: tuple[ConversationId, ...]) -> None:
    """What it has not begun is nobody's to do any more."""
    for conversation in conversations:
        found = draft.seen.conversation(conversation)
        if found is None:
            continue
        room = draft.room(found)
        if found.takes_rounds:
            group.drop_agent(room, who.id, Rule.PAUSED, states=UNCLAIMED)
        else:
            direct.drop_agent(room, who.id, Rule.PAUSED, running=False)
        post.move_on(room)


enrolling = Enrolling()
renaming = Renaming()
amending = Amending()
pausing = Pausing()
removing = Removing()
