"""A desk that stays laid from one batch to the next, as long as nobody else has written.

Within a batch the desk is the only source; between batches it still is, if the last one was committed and nobody else
has written since (of which SQLite keeps a counter, and PostgreSQL the table `writers`). What a batch did not load in
full is not kept, nor what would be read back differently from how it was written. Measured on SQLite: loading took a
third of the writer's time at 32 producers, and takes a twentieth when the desk is kept.
"""

from collections.abc import Callable, Iterable

from moot.model.chain import Root
from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.round import RoundState
from moot.model.turn import OPEN, RUNNING, Turn
from moot.stores.desk import NO_ASKS, Desk, Dirty, serial

MAX_ROOMS = 1024
MAX_ROWS = 20_000
"""Of participants or of chains; then the desk is cleared rather than searched for what is old."""


class KeptDesk(Desk):
    """Also fetches a chain only when a decision asks for it: a room may touch hundreds of chains (each
    message that a waiting turn has collected began one), and a decision looks at one or two."""

    def __init__(self, next_turn: int, next_event: int, fetch: Callable[[RootId], Root | None]) -> None:
        super().__init__(next_turn, next_event)
        self._fetch = fetch
        self._absent: set[RootId] = set()
        self._running: dict[ParticipantId, dict[TurnId, Turn]] = {}
        self._first_turn = next_turn
        self.rooms: dict[ConversationId, int] = {}
        """Conversations loaded in full, least recently used first, with the first seq that was free then."""
        self.peopled: set[ConversationId] = set()
        """Those of them whose members are all known."""
        self.guests: list[TurnId] = []
        """Turns that have ended and came only because somebody named them."""
        self.runs_known: set[ParticipantId] = set()
        self.pairs_known: set[tuple[ParticipantId, ParticipantId]] = set()
        self.has_everyone = False
        self.has_hosts = False

    def add_turn(self, turn: Turn) -> None:
        Desk.add_turn(self, turn)
        if turn.state is RUNNING:
            self._running.setdefault(turn.agent, {})[turn.id] = turn
        elif turn.agent in self._running:
            self._running[turn.agent].pop(turn.id, None)

    def stored_behind(self, turn: int, where: ConversationId) -> int:
        """How many turns of a conversation that were open as the batch began, and came behind a turn, are here."""
        ended = set(self.guests)
        ours = (one for one in self.turns_by_id.values() if one.conversation == where and one.id not in ended)
        return sum(turn < one.id < self._first_turn for one in ours)

    def running_of(self, participant: ParticipantId) -> list[Turn]:
        return list(self._running.get(participant, {}).values())

    def root(self, root: RootId) -> Root | None:
        found = self.roots.get(root)
        if found is None and root not in self._absent:
            found = None if self._is_new(root) else self._fetch(root)
            if found is None:
                self._absent.add(root)
            else:
                self.roots[root] = found
        return found

    def lacks(self, root: RootId) -> bool:
        """Whether a chain has to be fetched before anything is known of it."""
        return root not in self.roots and root not in self._absent and not self._is_new(root)

    def note_absent(self, roots: Iterable[RootId]) -> None:
        """These chains were looked for and are not stored."""
        self._absent.update(roots)

    def _is_new(self, root: RootId) -> bool:
        """Whether its first message was not stored yet when its room was loaded, or its room is new; nor was the chain,
        then."""
        where, _, seq = root.rpartition(":")
        head = self.rooms.get(ConversationId(where))
        if head is None:
            return serial(where) in self.new_serials
        return seq.isdecimal() and int(seq) >= head

    # --- between two batches -----------------------------------------------------------------------------

    def use(self, rooms: Iterable[ConversationId]) -> None:
        """Mark these as most recently used."""
        for where in rooms:
            self.rooms[where] = self.rooms.pop(where)

    def settle(self, dirty: Dirty) -> bool:
        """After a commit: bring the desk to what a fresh one would hold. False: better clear it."""
        if dirty.hosts or dirty.dropped_hosts or dirty.dropped_conversations:
            return False
        self.new_serials.clear()
        self.messages.clear()
        self.by_people.clear()
        self.keys.clear()
        self.shelves.clear()
        self._first_turn = self.next_turn = max(self._first_turn, max(dirty.turns, default=0) + 1)
        self._see_off(dirty)
        ended = {turn.conversation for turn in dirty.turns.values() if turn.state not in OPEN}
        for where in (ended | {where for where, _ in dirty.rounds}) & self.rooms.keys():
            self._tidy_rounds(where)
        for where in dirty.conversations.keys() - self.rooms.keys():
            self.clear_room(where)
        while len(self.rooms) > MAX_ROOMS:
            self.clear_room(next(iter(self.rooms)))
        return max(len(self.participants), len(self.roots), len(self._absent)) <= MAX_ROWS

    def _see_off(self, dirty: Dirty) -> None:
        """Drop ended turns, and people who changed: their presence is read back from their hosts."""
        for number in (*self.guests, *(n for n, turn in dirty.turns.items() if turn.state not in OPEN)):
            self.turns_by_id.pop(number, None)
        self.guests.clear()
        if dirty.participants:
            for participant_id in dirty.participants:
                self.participants.pop(participant_id, None)
            self.names = {
                name: participant_id
                for name, participant_id in self.names.items()
                if participant_id in self.participants
            }
            self.rosters.clear()
            self.peopled.clear()
            self.has_everyone = False

    def _tidy_rounds(self, where: ConversationId) -> None:
        """Closed rounds stay only where a turn of theirs is open, or `/continue` may take them up. They can only
        lose that when a turn ends or a round moves."""
        kept = {turn.round for turn in self.turns_of[where].values()}
        kept.add(self.conversations[where].stalled)
        rounds = self.rounds_of[where]
        self.rounds_of[where] = {
            opener: rounds[opener]
            for opener in sorted(rounds)
            if opener in kept or rounds[opener].state is not RoundState.CLOSED
        }

    def clear_room(self, where: ConversationId) -> None:
        conversation = self.conversations.pop(where)
        for ref in (where, conversation.name, conversation.key):
            if self.refs.get(ref) == where:
                del self.refs[ref]
        for question in self.asks_of.pop(where, NO_ASKS).at_hand():
            self.turns_by_id.pop(question.id, None)
        for turn in self.turns_of.pop(where, {}).values():
            self.turns_by_id.pop(turn.id, None)
            if self._running.get(turn.agent, {}).pop(turn.id, None) is not None:
                self.runs_known.discard(turn.agent)
        self.members_of.pop(where, None)
        self.rounds_of.pop(where, None)
        self.rosters.pop(where, None)
        self.rooms.pop(where, None)
        self.peopled.discard(where)
