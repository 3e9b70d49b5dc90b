"""The fold: lays what was decided over the desk, and notes what must be written.

One function per kind of change, and nothing else may alter a desk between loading and the commit. Above: the runner
folds each decision before the next one is made. Below: desk.py.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import structs

from moot.model.change import (
    AddSummary,
    AppendMessage,
    Change,
    DropConversation,
    DropHost,
    DropMember,
    DropRecord,
    Emit,
    ForgetSummaries,
    JoinTurn,
    KeepText,
    PutConversation,
    PutHost,
    PutMember,
    PutPair,
    PutParticipant,
    PutQuota,
    PutRecord,
    PutRoot,
    PutRound,
    PutTurn,
    ReviseMessage,
    TalkIn,
)
from moot.model.ids import HostId
from moot.model.participant import HUMAN
from moot.model.records.link import LINKS, Link, LinkId
from moot.model.records.tables import TABLES
from moot.stores.desk import Desk, Dirty, serial


def fold(desk: Desk, changes: Iterable[Change], dirty: Dirty) -> None:
    """Lay decided changes over the desk and note what must be written. It knows every kind of change, and never
    fails."""
    for change in changes:
        FOLDS[type(change)](desk, change, dirty)


def _put_conversation(desk: Desk, change: PutConversation, dirty: Dirty) -> None:
    conversation = change.conversation
    where = conversation.id
    before = desk.conversations.get(where)
    if before is None:
        desk.new_serials.add(serial(where))
    if before is None or not conversation.found_like(before):
        for ref in (before.name, before.key) if before is not None else ():
            if desk.refs.get(ref) == where:
                del desk.refs[ref]
        desk.add_conversation(conversation)
    else:
        desk.conversations[where] = conversation
    dirty.conversations[where] = conversation
    dirty.whole_conversations.add(where)


def _talk_in(desk: Desk, change: TalkIn, dirty: Dirty) -> None:
    conversation = change.conversation
    desk.conversations[conversation.id] = dirty.conversations[conversation.id] = conversation


def _drop_conversation(desk: Desk, change: DropConversation, dirty: Dirty) -> None:
    gone = change.conversation
    conversation = desk.conversations.pop(gone, None)
    for ref in (gone, *((conversation.name, conversation.key) if conversation else ())):
        if desk.refs.get(ref) == gone:
            del desk.refs[ref]
    for by_conversation in (desk.members_of, desk.turns_of, desk.asks_of, desk.rounds_of, desk.rosters):
        by_conversation.pop(gone, None)
    dirty.messages = [m for m in dirty.messages if m.conversation != gone]
    dirty.revisions = [r for r in dirty.revisions if r[0].conversation != gone]
    dirty.summaries = [s for s in dirty.summaries if s.conversation != gone]
    desk.shelves.drop_of_conversation(TABLES, gone)
    dirty.drop_records_of(TABLES, gone)
    dirty.conversations.pop(gone, None)
    dirty.members = {k: v for k, v in dirty.members.items() if k[0] != gone}
    dirty.turns = {k: v for k, v in dirty.turns.items() if v.conversation != gone}
    dirty.rounds = {k: v for k, v in dirty.rounds.items() if k[0] != gone}
    dirty.dropped_conversations.add(gone)


def _append_message(desk: Desk, change: AppendMessage, dirty: Dirty) -> None:
    message = change.message
    desk.messages[message.conversation, message.seq] = message
    if desk.by_people and message.kind is HUMAN and message.conversation in desk.by_people:
        desk.by_people[message.conversation].add(message.seq)
    if message.key:
        desk.keys[message.author, message.key] = message
    dirty.messages.append(message)


def _revise_message(desk: Desk, change: ReviseMessage, dirty: Dirty) -> None:
    message = change.message
    desk.messages[message.conversation, message.seq] = message
    if message.is_deleted and message.conversation in desk.by_people:
        desk.by_people[message.conversation].discard(message.seq)
    dirty.revisions.append((message, change.revision))


def _emit(desk: Desk, change: Emit, dirty: Dirty) -> None:
    dirty.events.append(structs.replace(change.event, id=desk.event_id()))


def _put_turn(desk: Desk, change: PutTurn, dirty: Dirty) -> None:
    turn = change.turn
    desk.add_turn(turn)
    dirty.turns[turn.id] = turn
    dirty.whole_turns.add(turn.id)


def _join_turn(desk: Desk, change: JoinTurn, dirty: Dirty) -> None:
    turn = change.turn
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
    where, participant_id = member.conversation, member.participant
    members = desk.members_of.setdefault(where, {})
    if participant_id not in members:
        desk.rosters.pop(where, None)
    members[participant_id] = member
    dirty.members[where, participant_id] = member
    dirty.dropped_members.discard((where, participant_id))


def _drop_member(desk: Desk, change: DropMember, dirty: Dirty) -> None:
    where, participant_id = change.conversation, change.participant
    desk.members_of.get(where, {}).pop(participant_id, None)
    desk.rosters.pop(where, None)
    dirty.members.pop((where, participant_id), None)
    dirty.dropped_members.add((where, participant_id))


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


def _put_record(desk: Desk, change: PutRecord, dirty: Dirty) -> None:
    desk.shelves.put(change.table, change.record)
    dirty.put_record(change.table, change.record)
    if isinstance(change.record, Link):
        desk.links = desk.links.with_link(change.record)


def _drop_record(desk: Desk, change: DropRecord, dirty: Dirty) -> None:
    desk.shelves.drop(change.table, change.key)
    dirty.drop_record(change.table, change.key)
    if change.table is LINKS:
        desk.links = desk.links.without(LinkId(str(change.key[0])))


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
    TalkIn: _talk_in,
    DropConversation: _drop_conversation,
    PutMember: _put_member,
    DropMember: _drop_member,
    PutTurn: _put_turn,
    JoinTurn: _join_turn,
    PutRound: _put_round,
    PutRoot: _put_root,
    PutPair: _put_pair,
    PutParticipant: _put_participant,
    PutQuota: _put_quota,
    PutHost: _put_host,
    DropHost: _drop_host,
    PutRecord: _put_record,
    DropRecord: _drop_record,
    KeepText: _keep_text,
    AddSummary: _add_summary,
    ForgetSummaries: _forget_summaries,
    Emit: _emit,
}
"""By kind of change; a test holds that each has its own. Trying one kind after the other took longer than folding."""
