"""Meet an account of a chat app: whose it is, or a guest of its own name; and say whose it is from now on.

A guest is a participant like any person, with a name that nobody else has. The owner links an account to a person whom
the hub knows; what was said before stays as it was.
"""

from msgspec import Struct, structs

from moot.errors import BadValue, NotFound, NotPermitted
from moot.flow.steps import acts, find
from moot.flow.steps.registry import answered_to
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import HUMAN, Participant
from moot.model.records.audit import AuditedAct
from moot.model.records.chat_apps.bridge import BRIDGE_ACCOUNTS, BridgeAccount
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.words.names import free_name, slug, unique_slug

MAX_NAME_CHARACTERS = 64


class MeetAccount(Struct, frozen=True, gc=False):
    bridge: str
    account: str
    shown: str = ""
    """What the chat app calls it."""
    author: ParticipantId | None = None
    person: str = ""
    """Whose it is, as the author says."""
    unlink: bool = False
    """It is a guest's again."""


def scope(command: MeetAccount) -> Scope:
    return Scope(
        records=(acts.HEAD, BRIDGE_ACCOUNTS.one(command.bridge, command.account)),
        everyone=True,
    )


def decide(command: MeetAccount, seen: Seen, at: Moment) -> Decision[BridgeAccount]:
    draft = Draft(seen, at)
    stored = seen.record(BRIDGE_ACCOUNTS, command.bridge, command.account)
    if command.author is not None:
        return _linked(draft, command, stored)
    if stored is not None:
        return Decision([], stored)
    account = _met(draft, command)
    return Decision(draft.changes(), account)


def _met(draft: Draft, command: MeetAccount) -> BridgeAccount:
    guest = _guest(draft, command)
    account = BridgeAccount(
        command.bridge,
        command.account,
        guest.id,
        command.shown[:MAX_NAME_CHARACTERS],
        created_at=draft.at.now,
    )
    return draft.put(BRIDGE_ACCOUNTS, account)


def _guest(draft: Draft, command: MeetAccount) -> Participant:
    """Called after the account and its chat app, so that nobody takes it for somebody else."""
    taken = answered_to(draft.seen.everyone())
    wish = f"{slug(command.shown)[:40]}-{command.bridge}" if command.shown else f"guest-{command.bridge}"
    name = free_name(wish, taken, draft.at.terms.user)
    participant = Participant(
        id=ParticipantId(unique_slug(name, [*taken, "system", "tool"])),
        name=name,
        kind=HUMAN,
        created_at=draft.at.now,
        door=command.bridge,
    )
    draft.put_participant(participant)
    draft.emit(EventType.AGENT_JOINED, by=participant.id)
    detail = {"kind": participant.kind.value, "role": "guest"}
    acts.enter(draft, AuditedAct.AGENT_CREATED, participant.id, f"agent {participant.id}", detail)
    return participant


def _linked(draft: Draft, command: MeetAccount, stored: BridgeAccount | None) -> Decision[BridgeAccount]:
    author = draft.participant(command.author or ParticipantId(""))
    if not find.is_owner(author, draft.at):
        raise NotPermitted("only the owner may say whose account it is")
    if stored is None:
        raise NotFound(
            f'no account "{command.account}" of {command.bridge} has written yet',
            what="account",
            detail="an account is known once it has written in a chat where one of the bots is",
            ref=command.account,
        )
    if command.unlink:
        return _unlinked(draft, stored, author)
    participant = find.addressee(draft.seen, command.person)
    if participant.kind is not HUMAN:
        raise BadValue(f"{participant.name} is an agent; an account belongs to a person")
    account = structs.replace(stored, participant=participant.id, linked=True)
    if account == stored:
        return Decision([], stored)
    draft.put(BRIDGE_ACCOUNTS, account)
    _enter(draft, AuditedAct.ACCOUNT_LINKED, account, author)
    return Decision(draft.changes(), account)


def _unlinked(draft: Draft, stored: BridgeAccount, author: Participant) -> Decision[BridgeAccount]:
    if not stored.linked:
        return Decision([], stored)
    guest = _guest(draft, MeetAccount(stored.bridge, stored.account, stored.shown))
    account = structs.replace(stored, participant=guest.id, linked=False)
    draft.put(BRIDGE_ACCOUNTS, account)
    _enter(draft, AuditedAct.ACCOUNT_UNLINKED, account, author)
    return Decision(draft.changes(), account)


def _enter(draft: Draft, act: AuditedAct, account: BridgeAccount, author: Participant) -> None:
    detail = {"shown": account.shown, "participant": account.participant}
    acts.enter(draft, act, author.id, f"account {account.bridge}/{account.account}", detail)
