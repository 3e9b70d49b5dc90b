"""The desk: the part of the store that one transaction works on, and what of it has become dirty.

A batch loads the scopes of all its commands at once; from then on the desk is the only source. Each decision is
folded into it, so the next command in the batch sees it; at the end the dirty rows are written once.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import structs

from moot.model.bookmark import Bookmark, BookmarkKey
from moot.model.chain import Pair, Root
from moot.model.change import (
    AddSummary,
    AppendMessage,
    Change,
    DropBookmark,
    DropConversation,
    DropHost,
    DropMember,
    Emit,
    ForgetSummaries,
    KeepText,
    PutBookmark,
    PutConversation,
    PutHost,
    PutMember,
    PutPair,
    PutParticipant,
    PutQuota,
    PutRoot,
    PutRound,
    PutToken,
    PutTurn,
    ReviseMessage,
)
from moot.model.conversation import Conversation, Member
from moot.model.event import Event
from moot.model.ids import ConversationId, HostId, ParticipantId, RootId, TurnId, address
from moot.model.message import Message, Revision, Summary
from moot.model.participant import Host, Participant, Quota
from moot.model.round import Round
from moot.model.token import Token, TokenId
from moot.model.turn import OPEN, Turn, TurnState
from moot.rules.roster import Roster

NOBODY: dict[ParticipantId, Member] = {}
NO_TURNS: dict[ParticipantId, Turn] = {}
NO_ROUNDS: dict[int, Round] = {}


class Dirty:
    """Rows to write, each once, whatever the number of decisions that touched it."""

    __slots__ = (
        "bookmarks",
        "conversations",
        "conversations_before",
        "dropped_bookmarks",
        "dropped_conversations",
        "dropped_hosts",
        "dropped_members",
        "events",
        "forgotten_summaries",
        "hosts",
        "members",
        "messages",
        "pairs",
        "participants",
        "quotas",
        "revisions",
        "roots",
        "rounds",
        "summaries",
        "texts",
        "tokens",
        "turns",
        "turns_before",
    )

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.revisions: list[tuple[Message, Revision]] = []
        self.conversations: dict[ConversationId, Conversation] = {}
        self.conversations_before: dict[ConversationId, Conversation | None] = {}
        """As they are stored, so that an engine need not write, nor index anew, what stayed. None: they are new."""
        self.dropped_conversations: set[ConversationId] = set()
        self.members: dict[tuple[ConversationId, ParticipantId], Member] = {}
        self.dropped_members: set[tuple[ConversationId, ParticipantId]] = set()
        self.turns: dict[TurnId, Turn] = {}
        self.turns_before: dict[TurnId, Turn | None] = {}
        self.rounds: dict[tuple[ConversationId, int], Round] = {}
        self.roots: dict[RootId, Root] = {}
        self.pairs: dict[tuple[ParticipantId, ParticipantId], Pair] = {}
        self.participants: dict[ParticipantId, Participant] = {}
        self.quotas: dict[ParticipantId, Quota] = {}
        self.hosts: dict[HostId, Host] = {}
        self.dropped_hosts: set[HostId] = set()
        self.summaries: list[Summary] = []
        self.forgotten_summaries: set[ConversationId] = set()
        self.texts: dict[str, str] = {}
        self.tokens: dict[TokenId, Token] = {}
        self.bookmarks: dict[BookmarkKey, Bookmark] = {}
        self.dropped_bookmarks: set[BookmarkKey] = set()
        self.events: list[Event] = []

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__)


class Desk:
    """What a batch has loaded. It is what verbs see (`Seen`), and engines fill it."""

    def __init__(self, next_turn: int, next_event: int) -> None:
        self.next_turn = next_turn
        self.next_event = next_event
        self.conversations: dict[ConversationId, Conversation] = {}
        self.refs: dict[str, ConversationId] = {}
        """Names and keys of conversations that are not archived, and ids of all."""
        self.members_of: dict[ConversationId, dict[ParticipantId, Member]] = {}
        self.turns_of: dict[ConversationId, dict[ParticipantId, Turn]] = {}
        self.rounds_of: dict[ConversationId, dict[int, Round]] = {}
        self.turns_by_id: dict[TurnId, Turn] = {}
        self.participants: dict[ParticipantId, Participant] = {}
        self.names: dict[str, ParticipantId] = {}
        self.rosters: dict[ConversationId, Roster] = {}
        """Made when first asked for; gone when anybody in them changes."""
        self.roots: dict[RootId, Root] = {}
        self.pairs: dict[tuple[ParticipantId, ParticipantId], Pair] = {}
        self.quotas: dict[ParticipantId, Quota] = {}
        self.messages: dict[tuple[ConversationId, int], Message] = {}
        self.keys: dict[tuple[ParticipantId, str], Message] = {}
        self.hosts_by_id: dict[HostId, Host] = {}
        self.tokens: dict[TokenId, Token] = {}
        self.bookmarks: dict[BookmarkKey, Bookmark] = {}

    # --- filling -------------------------------------------------------------------------------------

    def add_conversation(self, conversation: Conversation) -> None:
        self.conversations[conversation.id] = conversation
        self.refs[conversation.id] = conversation.id
        if not conversation.archived:
            self.refs[conversation.name] = conversation.id
            if conversation.key:
                self.refs[conversation.key] = conversation.id

    def add_participant(self, participant: Participant) -> None:
        self.participants[participant.id] = participant
        self.rosters.clear()
        self.names[participant.id] = participant.id
        free = [n for n in (*participant.aliases, participant.name) if self.names.get(n) != n]  # ids are not
        self.names.update(dict.fromkeys(free, participant.id))

    def add_turn(self, turn: Turn) -> None:
        self.turns_by_id[turn.id] = turn
        open_ones = self.turns_of.setdefault(turn.conversation, {})
        if turn.state in OPEN:
            open_ones[turn.agent] = turn
        elif turn.agent in open_ones and open_ones[turn.agent].id == turn.id:
            del open_ones[turn.agent]

    # --- what verbs see --------------------------------------------------------------------------------

    def conversation(self, conversation: ConversationId) -> Conversation | None:
        return self.conversations.get(conversation)

    def find(self, ref: str) -> Conversation | None:
        found = self.refs.get(ref)
        return None if found is None else self.conversations.get(found)

    def members(self, conversation: ConversationId) -> dict[ParticipantId, Member]:
        return self.members_of.get(conversation, NOBODY)

    def turns(self, conversation: ConversationId) -> dict[ParticipantId, Turn]:
        return self.turns_of.get(conversation, NO_TURNS)

    def rounds(self, conversation: ConversationId) -> dict[int, Round]:
        return self.rounds_of.get(conversation, NO_ROUNDS)

    def participant(self, participant: ParticipantId) -> Participant | None:
        return self.participants.get(participant)

    def registry(self) -> dict[ParticipantId, Participant]:
        return self.participants

    def roster(self, conversation: ConversationId) -> Roster:
        found = self.rosters.get(conversation)
        if found is None:
            found = Roster(self.members(conversation).values(), self.participants)
            self.rosters[conversation] = found
        return found

    def named(self, name: str) -> Participant | None:
        found = self.names.get(name)
        return None if found is None else self.participants.get(found)

    def everyone(self) -> list[Participant]:
        return list(self.participants.values())

    def root(self, root: RootId) -> Root | None:
        return self.roots.get(root)

    def pair(self, sender: ParticipantId, receiver: ParticipantId) -> Pair | None:
        return self.pairs.get((sender, receiver))

    def quota(self, agent: ParticipantId) -> Quota | None:
        return self.quotas.get(agent)

    def turn(self, turn: TurnId) -> Turn | None:
        return self.turns_by_id.get(turn)

    def running_of(self, participant: ParticipantId) -> list[Turn]:
        running = TurnState.RUNNING
        return [t for t in self.turns_by_id.values() if t.agent == participant and t.state is running]

    def message(self, conversation: ConversationId, seq: int) -> Message | None:
        return self.messages.get((conversation, seq))

    def replay(self, author: ParticipantId, key: str) -> Message | None:
        return self.keys.get((author, key))

    def hosts(self) -> tuple[Host, ...]:
        return tuple(self.hosts_by_id.values())

    def token(self, token: TokenId) -> Token | None:
        return self.tokens.get(token)

    def bookmark(self, key: BookmarkKey) -> Bookmark | None:
        return self.bookmarks.get(key)

    def bookmarks_of(self, participant: ParticipantId) -> list[Bookmark]:
        return [mark for mark in self.bookmarks.values() if mark.participant == participant]

    def turn_id(self) -> TurnId:
        given = self.next_turn
        self.next_turn += 1
        return TurnId(given)


def chains_of(desk: Desk) -> set[RootId]:
    """Every chain that a decision about what the desk holds may charge. Engines load them last."""
    roots: set[RootId] = set()
    for turn in desk.turns_by_id.values():
        if turn.state in OPEN:
            roots.update((turn.root, *turn.charged, *[call.root for call in turn.calls]))
    for where, rounds in desk.rounds_of.items():
        for round_ in rounds.values():
            calls = (*round_.line, *round_.blocked)
            roots.update((round_.root, RootId(address(where, round_.shared_human))))
            roots.update([call.root for call in calls])
            roots.update([said.root for said in round_.utterances])
    for conversation in desk.conversations.values():
        roots.add(RootId(address(conversation.id, conversation.last_human)))
        roots.update([call.root for call in conversation.blocked])
    roots.update([RootId(quota.last_root) for quota in desk.quotas.values()])
    roots.discard(RootId(""))
    return roots


def fold(desk: Desk, changes: Iterable[Change], dirty: Dirty) -> None:
    """Lay decided changes over the desk and note what must be written. Knows every change and never fails."""
    for change in changes:
        FOLDS[type(change)](desk, change, dirty)


def _put_conversation(desk: Desk, change: PutConversation, dirty: Dirty) -> None:
    conversation = change.conversation
    where = conversation.id
    before = desk.conversations.get(where)
    if where not in dirty.conversations:
        dirty.conversations_before[where] = before
    if before is None or not conversation.found_like(before):
        for ref in (before.name, before.key) if before is not None else ():
            if desk.refs.get(ref) == where:
                del desk.refs[ref]
        desk.add_conversation(conversation)
    else:
        desk.conversations[where] = conversation
    dirty.conversations[where] = conversation


def _drop_conversation(desk: Desk, change: DropConversation, dirty: Dirty) -> None:
    gone = change.conversation
    conversation = desk.conversations.pop(gone, None)
    for ref in (gone, *((conversation.name, conversation.key) if conversation else ())):
        if desk.refs.get(ref) == gone:
            del desk.refs[ref]
    for by_conversation in (desk.members_of, desk.turns_of, desk.rounds_of, desk.rosters):
        by_conversation.pop(gone, None)
    dirty.messages = [m for m in dirty.messages if m.conversation != gone]
    dirty.summaries = [s for s in dirty.summaries if s.conversation != gone]
    desk.bookmarks = {k: v for k, v in desk.bookmarks.items() if v.conversation != gone}
    dirty.bookmarks = {k: v for k, v in dirty.bookmarks.items() if v.conversation != gone}
    dirty.conversations.pop(gone, None)
    dirty.members = {k: v for k, v in dirty.members.items() if k[0] != gone}
    dirty.turns = {k: v for k, v in dirty.turns.items() if v.conversation != gone}
    dirty.rounds = {k: v for k, v in dirty.rounds.items() if k[0] != gone}
    dirty.dropped_conversations.add(gone)


def _append_message(desk: Desk, change: AppendMessage, dirty: Dirty) -> None:
    message = change.message
    desk.messages[message.conversation, message.seq] = message
    if message.key:
        desk.keys[message.author, message.key] = message
    dirty.messages.append(message)


def _revise_message(desk: Desk, change: ReviseMessage, dirty: Dirty) -> None:
    message = change.message
    desk.messages[message.conversation, message.seq] = message
    dirty.revisions.append((message, change.revision))


def _emit(desk: Desk, change: Emit, dirty: Dirty) -> None:
    dirty.events.append(structs.replace(change.event, id=desk.next_event))
    desk.next_event += 1


def _put_turn(desk: Desk, change: PutTurn, dirty: Dirty) -> None:
    turn = change.turn
    if turn.id not in dirty.turns:
        dirty.turns_before[turn.id] = desk.turns_by_id.get(turn.id)
    desk.add_turn(turn)
    dirty.turns[turn.id] = turn


def _put_round(desk: Desk, change: PutRound, dirty: Dirty) -> None:
    round_ = change.round
    where, opener = round_.conversation, round_.opener
    rounds = desk.rounds_of.setdefault(where, {})
    out_of_order = opener not in rounds and any(other > opener for other in rounds)
    rounds[opener] = round_
    if out_of_order:
        desk.rounds_of[where] = dict(sorted(rounds.items()))
    dirty.rounds[where, opener] = round_


def _put_member(desk: Desk, change: PutMember, dirty: Dirty) -> None:
    member = change.member
    where, who = member.conversation, member.participant
    members = desk.members_of.setdefault(where, {})
    if who not in members:
        desk.rosters.pop(where, None)
    members[who] = member
    dirty.members[where, who] = member
    dirty.dropped_members.discard((where, who))


def _drop_member(desk: Desk, change: DropMember, dirty: Dirty) -> None:
    where, who = change.conversation, change.participant
    desk.members_of.get(where, {}).pop(who, None)
    desk.rosters.pop(where, None)
    dirty.members.pop((where, who), None)
    dirty.dropped_members.add((where, who))


def _put_root(desk: Desk, change: PutRoot, dirty: Dirty) -> None:
    desk.roots[change.root.id] = dirty.roots[change.root.id] = change.root


def _put_pair(desk: Desk, change: PutPair, dirty: Dirty) -> None:
    pair = change.pair
    desk.pairs[pair.sender, pair.receiver] = dirty.pairs[pair.sender, pair.receiver] = pair


def _put_quota(desk: Desk, change: PutQuota, dirty: Dirty) -> None:
    desk.quotas[change.quota.agent] = dirty.quotas[change.quota.agent] = change.quota


def _put_participant(desk: Desk, change: PutParticipant, dirty: Dirty) -> None:
    desk.add_participant(change.participant)
    dirty.participants[change.participant.id] = change.participant


def _put_host(desk: Desk, change: PutHost, dirty: Dirty) -> None:
    host = change.host
    desk.hosts_by_id[host.id] = dirty.hosts[host.id] = host
    dirty.dropped_hosts.discard(host.id)
    _presence(desk, host.id, host.lease_until)


def _drop_host(desk: Desk, change: DropHost, dirty: Dirty) -> None:
    desk.hosts_by_id.pop(change.host, None)
    dirty.hosts.pop(change.host, None)
    dirty.dropped_hosts.add(change.host)
    _presence(desk, change.host, 0.0)


def _presence(desk: Desk, host: HostId, until: float) -> None:
    """A host's lease is its agents' presence."""
    for participant in list(desk.participants.values()):
        if participant.host == host:
            desk.add_participant(structs.replace(participant, live_until=until))


def _put_token(desk: Desk, change: PutToken, dirty: Dirty) -> None:
    desk.tokens[change.token.id] = dirty.tokens[change.token.id] = change.token


def _put_bookmark(desk: Desk, change: PutBookmark, dirty: Dirty) -> None:
    mark = change.bookmark
    desk.bookmarks[mark.key] = dirty.bookmarks[mark.key] = mark
    dirty.dropped_bookmarks.discard(mark.key)


def _drop_bookmark(desk: Desk, change: DropBookmark, dirty: Dirty) -> None:
    desk.bookmarks.pop(change.key, None)
    dirty.bookmarks.pop(change.key, None)
    dirty.dropped_bookmarks.add(change.key)


def _keep_text(desk: Desk, change: KeepText, dirty: Dirty) -> None:
    dirty.texts[change.digest] = change.text


def _add_summary(desk: Desk, change: AddSummary, dirty: Dirty) -> None:
    dirty.summaries.append(change.summary)


def _forget_summaries(desk: Desk, change: ForgetSummaries, dirty: Dirty) -> None:
    dirty.summaries = [s for s in dirty.summaries if s.conversation != change.conversation]
    dirty.forgotten_summaries.add(change.conversation)


FOLDS: dict[type[Change], Callable[[Desk, Any, Dirty], None]] = {
    AppendMessage: _append_message,
    ReviseMessage: _revise_message,
    PutConversation: _put_conversation,
    DropConversation: _drop_conversation,
    PutMember: _put_member,
    DropMember: _drop_member,
    PutTurn: _put_turn,
    PutRound: _put_round,
    PutRoot: _put_root,
    PutPair: _put_pair,
    PutParticipant: _put_participant,
    PutQuota: _put_quota,
    PutHost: _put_host,
    DropHost: _drop_host,
    PutToken: _put_token,
    PutBookmark: _put_bookmark,
    DropBookmark: _drop_bookmark,
    KeepText: _keep_text,
    AddSummary: _add_summary,
    ForgetSummaries: _forget_summaries,
    Emit: _emit,
}
"""By kind of change; a test holds that each has its own. Trying one kind after the other took longer than folding."""
