"""Filling a desk: the scopes of all commands of a batch, put together, loaded with one query per table."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import apsw
from msgspec import json

from moot.model.chain import Root
from moot.model.conversation import Conversation, ConversationKind
from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.records.link import LINKS
from moot.model.records.task import TASKS
from moot.model.turn import OPEN, Turn, TurnState
from moot.ports import Scope
from moot.rules.floor.asks import Asks
from moot.rules.graph import NO_LINKS, Graph
from moot.stores import rows
from moot.stores.desk import NO_ASKS, Desk
from moot.stores.kept_desk import KeptDesk
from moot.stores.sqlite.statements import LOAD, READ, query_for
from moot.stores.sqlite.trouble import damaged, moot_errors
from moot.stores.wanted import Wanted

_encode = json.Encoder().encode

PAIRED = (ConversationKind.DIRECT, ConversationKind.LINK)
LAID_OUT = 64
"""Turns of a conversation without rounds that are loaded at once; beyond these only questions wait."""
ON_THE_FLOOR = (TurnState.READY, TurnState.HELD, TurnState.RUNNING)


class Unloaded:
    """Questions that wait in a conversation and are not on the desk."""

    def __init__(self, connection: apsw.Connection, desk: KeptDesk, where: ConversationId) -> None:
        self._connection = connection
        self._desk = desk
        self._where = where

    def fetch(self, after: int, *, everything: bool) -> tuple[list[Turn], int | None]:
        """Fetch more of them; what the desk already has is newer than what is stored."""
        limit = -1 if everything else LAID_OUT
        found = rows.TURNS.many(
            self._connection.execute(LOAD.open_turns_behind, (self._where, after, limit)).get
        )
        turns = self._desk.turns_by_id
        new = [turn for turn in found if turn.id not in turns]
        turns.update((turn.id, turn) for turn in new)
        return new, found[-1].id if len(found) == limit else None

    def count(self, after: int) -> int:
        stored = int(self._connection.execute(LOAD.count_open_turns_behind, (self._where, after)).get)
        return stored - self._desk.stored_behind(after, self._where)


class Loading:
    """Lays desks through the writer's own connection, inside its transaction."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self._path = path
        self._connection = connection
        self._links, self._graph_version = NO_LINKS, -1

    def fresh(self) -> KeptDesk:
        turn, event, links = self._connection.execute(LOAD.next_ids).fetchone() or (0, 0, 0)
        desk = KeptDesk(turn + 1, event + 1, self._root)
        desk.links = self._graph(links)
        return desk

    def _graph(self, version: int) -> Graph:
        """The link graph kept in memory, while nobody has changed a link since it was read."""
        if version != self._graph_version:
            found = self._get(*query_for((LINKS.all(),)))
            self._links, self._graph_version = Graph(rows.RECORDS[LINKS.name].many(found)), version
        return self._links

    def fill(self, desk: KeptDesk, scopes: Sequence[Scope]) -> None:
        """Load what the scopes ask for and the desk does not have."""
        wanted = Wanted(scopes)
        self._named_turns(desk, wanted)
        here = self._conversations(desk, wanted)
        here += self._tasks(desk, here)
        strange = [where for where in here if where not in desk.peopled]
        self._people(desk, wanted, strange)
        self._pairs(desk, strange)
        self._chains(desk, wanted, here)
        self._messages(desk, wanted)
        if wanted.records:
            self._records(desk, wanted)
        if wanted.hosts and not desk.has_hosts:
            desk.has_hosts = True
            for host in rows.HOSTS.many(self._connection.execute(READ.hosts).get):
                desk.hosts_by_id[host.id] = host

    def _records(self, desk: Desk, wanted: Wanted) -> None:
        """One query for all lookups of a kind."""
        for (name, _), lookups in wanted.records.items():
            table = next(iter(lookups)).table
            for record in rows.RECORDS[name].many(self._get(*query_for(tuple(lookups)))):
                desk.shelves.put(table, record)

    def _get(self, statement: str, wanted: Any) -> Any:
        """The one value of a result: shapes with commas between, or NULL."""
        return self._connection.execute(statement, (_encode(wanted).decode(),)).get

    def _named_turns(self, desk: KeptDesk, wanted: Wanted) -> None:
        missing = wanted.turns - desk.turns_by_id.keys()
        if missing:
            for turn in rows.TURNS.many(self._get(LOAD.turns_by_id, missing)):
                desk.add_turn(turn)
                if turn.is_queued_ask:
                    desk.asks_of[turn.conversation].recount()
                if turn.state not in OPEN:
                    desk.guests.append(turn.id)
        unknown = wanted.running_of - desk.runs_known
        if unknown:
            desk.runs_known |= unknown
            for turn in rows.TURNS.many(self._get(LOAD.turns_running, unknown)):
                desk.add_turn(turn)
        for number in wanted.turns:
            if (named := desk.turns_by_id.get(number)) is not None:
                wanted.ids.add(named.conversation)
        for agent in wanted.running_of:
            wanted.ids.update([turn.conversation for turn in desk.running_of(agent)])

    def _conversations(self, desk: KeptDesk, wanted: Wanted) -> list[ConversationId]:
        """By id first: callers know it more often than not, and names are needed for the rest only."""
        refs = wanted.ids | wanted.refs
        missing = refs - desk.refs.keys()
        if missing:
            self._rooms(desk, rows.CONVERSATIONS.many(self._get(LOAD.conversations_by_id, missing)))
            missing -= desk.refs.keys()
            missing &= wanted.refs
        if missing:
            self._rooms(desk, rows.CONVERSATIONS.many(self._get(LOAD.conversations_by_name, missing)))
        here = [desk.refs[ref] for ref in refs if ref in desk.refs]
        desk.use(here)
        return here

    def _tasks(self, desk: KeptDesk, here: list[ConversationId]) -> list[ConversationId]:
        """A branch brings its task with the parts that were handed further down, and the conversations in which its end
        is reported, which may be branches themselves."""
        reported_in: list[ConversationId] = []
        branches = [where for where in here if desk.conversations[where].kind is ConversationKind.TASK]
        while branches:
            lookups = [TASKS.where(conversation=branch) for branch in branches]
            tasks = rows.RECORDS[TASKS.name].many(self._get(*query_for(lookups)))
            parts = [TASKS.where(open_in=branch) for branch in branches]
            for task in (*tasks, *rows.RECORDS[TASKS.name].many(self._get(*query_for(parts)))):
                desk.shelves.put(TASKS, task)
            more = Wanted(())
            more.ids = {where for task in tasks for where in (task.channel, task.asked_in) if where}
            more.ids -= {*here, *reported_in}
            found = self._conversations(desk, more) if more.ids else []
            reported_in += found
            branches = [where for where in found if desk.conversations[where].kind is ConversationKind.TASK]
        return reported_in

    def _rooms(self, desk: KeptDesk, conversations: list[Conversation]) -> None:
        """Conversations with their members, their open turns and their open rounds."""
        if not conversations:
            return
        members_of, turns_of, rounds_of = desk.members_of, desk.turns_of, desk.rounds_of
        for conversation in conversations:
            where = conversation.id
            desk.add_conversation(conversation)
            desk.rooms[where] = conversation.next_seq
            members_of[where], turns_of[where], rounds_of[where] = {}, {}, {}
        execute = self._connection.execute
        ids = (_encode([conversation.id for conversation in conversations]).decode(),)
        for member in rows.MEMBERS.many(execute(LOAD.members, ids).get):
            members_of[member.conversation][member.participant] = member
        self._open_turns(desk, conversations)
        for round_ in rows.ROUNDS.many(execute(LOAD.open_rounds, ids).get):
            rounds_of[round_.conversation][round_.opener] = round_
        self._closed_rounds(desk, conversations)

    def _open_turns(self, desk: KeptDesk, conversations: list[Conversation]) -> None:
        """All of them; but where many questions wait, those on the floor and the oldest of the others."""
        queues = [one.id for one in conversations if not one.takes_rounds]
        named = [turn for where in queues for turn in desk.asks_of.pop(where, NO_ASKS).at_hand()]
        found: list[Turn] = []
        if len(queues) < len(conversations):
            found += rows.TURNS.many(
                self._get(LOAD.open_turns, [one.id for one in conversations if one.takes_rounds])
            )
        if queues:
            oldest = self._connection.execute(LOAD.oldest_open_turns, (_encode(queues).decode(), LAID_OUT))
            found += rows.TURNS.many(oldest.get)
            found += self._long_queues(desk, found, named)
        for turn in sorted({turn.id: turn for turn in found}.values(), key=lambda turn: turn.id):
            desk.add_turn(turn)

    def _long_queues(self, desk: KeptDesk, oldest: list[Turn], named: list[Turn]) -> list[Turn]:
        """Conversations of which only the oldest turns were loaded get the others when somebody asks for them."""
        counts = Counter(turn.conversation for turn in oldest)
        reach = {turn.conversation: turn.id for turn in oldest if counts[turn.conversation] >= LAID_OUT}
        long = {where: upto for where, upto in reach.items() if not desk.conversations[where].takes_rounds}
        if not long:
            return []
        for where, upto in long.items():
            desk.asks_of[where] = Asks(Unloaded(self._connection, desk, where), upto)
        on_the_floor: list[Turn] = rows.TURNS.many(self._get(LOAD.turns_on_the_floor, list(long)))
        return on_the_floor + [turn for turn in named if turn.conversation in long]

    def _closed_rounds(self, desk: KeptDesk, conversations: list[Conversation]) -> None:
        """Rounds that closed while a turn of theirs is still open, or that `/continue` may take up again."""
        missing: dict[ConversationId, set[int]] = {}
        for conversation in conversations:
            openers = {turn.round for turn in desk.turns_of[conversation.id].values()}
            openers.add(conversation.stalled)
            openers -= desk.rounds_of[conversation.id].keys()
            openers.discard(0)
            if openers:
                missing[conversation.id] = openers
        if not missing:
            return
        for round_ in rows.ROUNDS.many(self._get(LOAD.rounds_by_opener, missing)):
            desk.rounds_of[round_.conversation][round_.opener] = round_
        for where in missing:
            desk.rounds_of[where] = dict(sorted(desk.rounds_of[where].items()))

    def _people(self, desk: KeptDesk, wanted: Wanted, strange: list[ConversationId]) -> None:
        execute = self._connection.execute
        ids = set().union(*[desk.members_of[where] for where in strange]) - desk.participants.keys()
        desk.peopled.update(strange)
        names = wanted.names - desk.names.keys()
        if wanted.everyone and not desk.has_everyone:
            desk.has_everyone = True
            found = execute(READ.participants).get
        elif ids or names:
            found = execute(LOAD.people, (_encode(ids).decode(), _encode(names).decode())).get
        else:
            return
        newcomers = rows.PARTICIPANTS.many(found)
        for participant in newcomers:
            desk.add_participant(participant)
        if missing := ids - desk.participants.keys():
            raise damaged(self._path, f"members lists {min(missing)!a}, who is not in the registry")
        if newcomers:
            for quota in rows.QUOTAS.many(
                self._get(LOAD.quotas, [participant.id for participant in newcomers])
            ):
                desk.quotas[quota.agent] = quota

    def _chains(self, desk: KeptDesk, wanted: Wanted, here: list[ConversationId]) -> None:
        """Chains that a decision certainly reads; the desk fetches the others when needed."""
        roots = wanted.roots
        for where in here:
            for turn in desk.turns_of[where].values():
                if turn.state in ON_THE_FLOOR:
                    roots.add(turn.root)
                    roots.update(turn.charged)
        roots.discard(RootId(""))
        roots -= desk.roots.keys()
        if roots:
            for root in rows.ROOTS.many(self._get(LOAD.roots, roots)):
                desk.roots[root.id] = root

    def _root(self, root: RootId) -> Root | None:
        with moot_errors(self._path):
            shape = self._connection.execute(LOAD.root, (root,)).get
            return None if shape is None else rows.ROOTS.one(shape)

    def _pairs(self, desk: KeptDesk, strange: list[ConversationId]) -> None:
        """Between two agents that talk alone, both ways."""
        wanted: defaultdict[ParticipantId, list[ParticipantId]] = defaultdict(list)
        for where in strange:
            if desk.conversations[where].kind in PAIRED:
                agents = [
                    participant_id
                    for participant_id in desk.members_of[where]
                    if desk.participants[participant_id].speaks_in_turns
                ]
                for pair in permutations(agents, 2):
                    if pair not in desk.pairs_known:
                        desk.pairs_known.add(pair)
                        wanted[pair[0]].append(pair[1])
        if wanted:
            for found in rows.PAIRS.many(self._get(LOAD.pairs, wanted)):
                desk.pairs[found.sender, found.receiver] = found

    def _messages(self, desk: Desk, wanted: Wanted) -> None:
        if wanted.messages:
            for message in rows.MESSAGES.many(self._get(LOAD.messages_by_address, wanted.messages)):
                desk.messages[message.conversation, message.seq] = message
        for where, deleted in wanted.people_before.items():
            newest = where, max(deleted), len(deleted) + 1
            found = self._connection.execute(LOAD.by_people_before, newest)
            desk.by_people[where] = {row[0] for row in found}
        if wanted.keys:
            for message in rows.MESSAGES.many(self._get(LOAD.messages_by_key, wanted.keys)):
                desk.keys[message.author, message.key] = message
