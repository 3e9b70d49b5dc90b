"""What a desk lacks for a batch, and how loaded rows are put onto it.

Above: load.py, which locks and asks the server. Below: numbered_desk.py.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import json

from moot.model.conversation import Conversation
from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.participant import Kind
from moot.model.turn import OPEN
from moot.stores import rows
from moot.stores.postgres.batch.numbered_desk import NumberedDesk
from moot.stores.postgres.batch.seen_rows import SeenRows
from moot.stores.postgres.search import is_storable
from moot.stores.postgres.trouble import damaged
from moot.stores.wanted import Wanted

Row = Mapping[str, Any]
ResolvedRefs = tuple[list[str], list[str], list[TurnId], list[ParticipantId]]
"""Ids or names of conversations, names, turns, whose running turns: see `conversations_meant` in the schema."""


class Lacking:
    """What a batch asks for and its desk does not have; and which conversations it concerns that the desk has."""

    def __init__(self, desk: NumberedDesk, wanted: Wanted) -> None:
        self.wanted = wanted
        self._desk = desk
        turns = {turn for turn in wanted.turns if not self._has(turn)}
        running = wanted.running_of - desk.runs_known
        refs = (wanted.ids | wanted.refs) - desk.refs.keys()
        self.refs: ResolvedRefs = (
            list(filter(is_storable, refs)),
            list(filter(is_storable, refs & wanted.refs)),
            sorted(turns),
            sorted(filter(is_storable, running)),
        )
        self.rooms_to_find = any(self.refs)
        self.everyone = wanted.everyone and not desk.has_everyone
        self.hosts = wanted.hosts and not desk.has_hosts
        self.here = self._known_rooms()
        self.strange: list[ConversationId] = []
        self.names: list[str] = []

    def look_in(self, found: set[ConversationId]) -> None:
        """These conversations are concerned as well. Of those on the desk, members who have changed may be missing."""
        desk = self._desk
        self.here |= found & desk.rooms.keys()
        desk.use(self.here)
        self.strange = [where for where in self.here if where not in desk.peopled]
        members = set().union(*[desk.members_of[where] for where in self.strange])
        names = (self.wanted.names - desk.names.keys()) | (members - desk.participants.keys())
        self.names = list(filter(is_storable, names))

    def __bool__(self) -> bool:
        """Whether anything has to be loaded but what no desk keeps."""
        return bool(
            self.rooms_to_find or self.names or self.everyone or self.hosts or self.wanted.people_before
        )

    def _known_rooms(self) -> set[ConversationId]:
        desk, wanted = self._desk, self.wanted
        here = {desk.refs[ref] for ref in wanted.ids | wanted.refs if ref in desk.refs}
        here.update([desk.turns_by_id[turn].conversation for turn in wanted.turns if self._has(turn)])
        for agent in wanted.running_of & desk.runs_known:
            here.update([turn.conversation for turn in desk.running_of(agent)])
        return here

    def _has(self, turn: TurnId) -> bool:
        """Whether the desk has a turn, with its room."""
        turns = self._desk.turns_by_id
        return turn in turns and turns[turn].conversation in self._desk.rooms

    def agents(self, kinds: Collection[Kind]) -> set[ParticipantId]:
        """Who of these kinds is in the conversations that the desk has. Of people whom it no longer has the kind is not
        known: they count."""
        people = self._desk.participants
        members = set().union(*[self._desk.members_of[where] for where in self.here])
        return {member for member in members if member not in people or people[member].kind in kinds}

    @property
    def messages(self) -> tuple[list[str], list[int], list[str], list[str]]:
        """Messages by address, and by author and key."""
        by_address = [
            (where, seq) for where, seqs in self.wanted.messages.items() for seq in seqs if is_storable(where)
        ]
        by_key = [
            (author, key)
            for author, keys in self.wanted.keys.items()
            for key in keys
            if is_storable(author) and is_storable(key)
        ]
        return (
            [where for where, _ in by_address],
            [seq for _, seq in by_address],
            [author for author, _ in by_key],
            [key for _, key in by_key],
        )

    def arguments(
        self, new: list[ConversationId], max_turns: int, in_full: list[ConversationId]
    ) -> list[Any]:
        """What the statement `desk` is given to load these conversations, and everything else that is lacking."""
        refs, names, turns, running = self.refs
        below = [(where, max(seqs), len(seqs) + 1) for where, seqs in self.wanted.people_before.items()]
        return [
            new,
            turns,
            running,
            self.names,
            self.everyone,
            *self.messages,
            self.hosts,
            [where for where, _, _ in below],
            [seq for _, seq, _ in below],
            [limit for _, _, limit in below],
            refs,
            names,
            turns,
            max_turns,
            in_full,
        ]


def fill(desk: NumberedDesk, loaded: Row, lacking: Lacking, seen: SeenRows, place: str) -> None:
    """Put loaded rows onto a desk."""
    conversations: list[Conversation] = rows.CONVERSATIONS.many(loaded["conversations"])
    for conversation in conversations:
        where = conversation.id
        desk.add_conversation(conversation)
        desk.rooms[where] = conversation.next_seq
        desk.members_of[where], desk.turns_of[where], desk.rounds_of[where] = {}, {}, {}
    for member in rows.MEMBERS.many(loaded["members"]):
        desk.members_of[member.conversation][member.participant] = member
    _fill_turns(desk, loaded, lacking.wanted)
    _fill_people(desk, loaded, lacking, seen)
    _know_members(desk, [*lacking.strange, *(conversation.id for conversation in conversations)], place)
    fill_messages(desk, loaded)
    for where in lacking.wanted.people_before:
        desk.by_people[where] = set()
    for where, seq in json.decode(loaded["by_people"] or "[]"):
        desk.by_people[ConversationId(where)].add(seq)


def _fill_turns(desk: NumberedDesk, loaded: Row, wanted: Wanted) -> None:
    parts = ("named_turns", "running", "open_turns")
    turns = {turn.id: turn for part in parts for turn in rows.TURNS.many(loaded[part])}
    for _, turn in sorted(turns.items()):
        desk.add_turn(turn)
        if turn.state not in OPEN:
            desk.guests.append(turn.id)
    for round_ in rows.ROUNDS.many(loaded["rounds"]):
        desk.rounds_of[round_.conversation][round_.opener] = round_
    desk.runs_known |= wanted.running_of


def _know_members(desk: NumberedDesk, rooms: Iterable[ConversationId], place: str) -> None:
    for where in rooms:
        desk.peopled.add(where)
        unknown = desk.members_of[where].keys() - desk.participants.keys()
        if unknown:
            text = f"members of {where} lists {min(unknown)!a}, who is not in the registry"
            raise damaged(place, text)


def fill_messages(desk: NumberedDesk, loaded: Row) -> None:
    for message in rows.MESSAGES.many(loaded["messages"]):
        desk.messages[message.conversation, message.seq] = message
    for message in rows.MESSAGES.many(loaded["keyed"]):
        desk.keys[message.author, message.key] = message


def _fill_people(desk: NumberedDesk, loaded: Row, lacking: Lacking, seen: SeenRows) -> None:
    people = rows.PARTICIPANTS.many(loaded["people"])
    for participant in people:
        if desk.participants.get(participant.id) != participant:
            desk.add_participant(participant)
        seen.note_row("registry", (participant.id,), participant)
    for quota in rows.QUOTAS.many(loaded["quotas"]):
        desk.quotas[quota.agent] = quota
        seen.note_row("quotas", (quota.agent,), quota)
    seen.note_keys("quotas", [(participant.id,) for participant in people])
    if lacking.everyone:
        desk.has_everyone = True
        seen.note_all_of("registry")
    if lacking.hosts:
        desk.has_hosts = True
        seen.note_all_of("hosts")
        for host in rows.HOSTS.many(loaded["hosts"]):
            desk.hosts_by_id[host.id] = host
            seen.note_row("hosts", (host.id,), host)
