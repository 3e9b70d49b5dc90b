"""Finish a turn: store what was said, end the turn, hand the floor on. One transaction.

Above: host/ calls this when a brain is done. Below: post.py makes the message, rules/floor/group.py decides who is
next. It is never refused except for a stale fence: a reply that may not be stored ends the turn as failed, with
a notice, and its text is kept in the turn.
"""

from typing import TypeAlias, assert_never

from msgspec import Struct, structs

from moot.errors import Refused, Stale
from moot.flow import charge, claim, post, record_refusal
from moot.flow.steps import find, misfit, obligations
from moot.model.answer import Finished
from moot.model.change import Decision, KeepText
from moot.model.ids import HostId, ParticipantId, TurnId
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.moment import Moment
from moot.model.participant import Kind
from moot.model.turn import Given, RuleName, Turn, TurnState
from moot.ports import Scope
from moot.rules import brakes, budgets
from moot.rules.answer_shape import Misfit
from moot.rules.budgets import Account
from moot.rules.draft import Draft, Seen
from moot.rules.floor import seats
from moot.rules.room import Room
from moot.rules.words import mentions
from moot.rules.words.silence import is_silence
from moot.rules.words.text import TextProblem, check_text


class Said(Struct, frozen=True, tag=True, gc=False):
    """The brain's last text; `[PASS]` or nothing is silence."""

    text: str | None
    metadata: JsonObject = {}
    usage: JsonObject | None = None
    reply_to: int = 0
    key: str = ""
    """By which a repeat is known: what was said under it before is not said again."""


class Failed(Struct, frozen=True, tag=True, gc=False):
    error: str
    usage: JsonObject | None = None
    notice: str = ""
    """What the notice in the conversation says, where there is more to say than that it failed."""
    trace: str = ""
    """Where in its code it failed."""


class Expired(Struct, frozen=True, tag=True, gc=False):
    """No sign of life for too long."""


Outcome: TypeAlias = Said | Failed | Expired


class Finish(Struct, frozen=True, gc=False):
    turn: TurnId
    fence: int
    outcome: Outcome
    host: HostId | None = None
    runs_here: frozenset[ParticipantId] = frozenset()
    """Agents the caller hosts with room for a turn, for the hand-over."""
    given: Given | None = None
    """What its agent was given, and the text that this refers to."""
    text: str = ""
    author: ParticipantId | None = None
    """Whose the turn is, where its reply has a key."""
    refused_to: ParticipantId | None = None
    """Whose the turn is, where its reply is known to be refused."""
    account: Account | None = None
    """What the turn is charged to, where it cost something."""


class ReplyRefused(Exception):
    """A reply is refused, and where that has to be entered is not at hand: finish again with `refused_to`."""

    def __init__(self, agent: ParticipantId) -> None:
        super().__init__(agent)
        self.agent = agent


def scope(command: Finish) -> Scope:
    """The turn, and whoever the reply mentions: it may invite somebody who is no member yet."""
    reply = command.outcome if isinstance(command.outcome, Said) else None
    charged = () if command.account is None else budgets.lookups(command.account.charged)
    if reply is None or not reply.text:
        return Scope(turns=(command.turn,), records=charged)
    key = (command.author, reply.key) if command.author is not None and reply.key else None
    records = () if command.refused_to is None else (record_refusal.head_of(command.refused_to),)
    names = post.meant(mentions.parse(reply.text))
    return Scope(turns=(command.turn,), names=names, key=key, records=(*records, *charged))


def decide(command: Finish, seen: Seen, at: Moment) -> Decision[Finished]:
    turn = find.running(seen, command.turn, command.fence)
    _not_said_before(command, seen)
    draft = Draft(seen, at)
    room = draft.room(find.conversation(seen, turn.conversation))
    if command.given is not None:
        turn = room.put_turn(structs.replace(turn, given=command.given))
        if command.text:
            draft.add(KeepText(command.given.system, command.text))
    match command.outcome:
        case Said(text=text):
            message, done = _end_with_text(room, turn, text, command.outcome, command.refused_to)
        case Failed(error=error, usage=usage, notice=notice, trace=trace):
            ending = structs.replace(turn, usage=usage, kept=trace)
            message, done = None, fail(room, ending, error, notice=notice)
        case Expired():
            message, done = None, expire(room, turn)
        case _:
            assert_never(command.outcome)
    if command.account is not None and done.usage is not None:
        charge.add(draft, command.account, done.usage)
    close(room, done)
    following = _hand_over(room, command)
    if done.interrupted:
        _give_again(room, done)
    return Decision(draft.changes(), Finished(turn=done, message=message, next=following))


def _not_said_before(command: Finish, seen: Seen) -> None:
    """A reply that comes again must not end another turn with the same words."""
    key = command.outcome.key if isinstance(command.outcome, Said) else ""
    if key and command.author is not None and seen.replay(command.author, key) is not None:
        raise Stale("this reply was already stored under the same key")


def _end_with_text(
    room: Room, turn: Turn, text: str | None, outcome: Said, refused_to: ParticipantId | None
) -> tuple[Message | None, Turn]:
    turn = structs.replace(turn, usage=outcome.usage)
    if text is None or is_silence(text):
        silent = TurnState.SAID if turn.posts else TurnState.PASSED
        return None, seats.end(room, turn, silent)
    try:
        text = check_text(text, limit_bytes=room.draft.at.terms.limits.message_bytes)
        metadata = {**outcome.metadata, **misfit.meaning(room, turn, text)}
        message = post.reply(room, turn, text, metadata, reply_to=outcome.reply_to, key=outcome.key)
    except Misfit as problem:
        return None, _does_not_fit(room, turn, text, str(problem))
    except TextProblem as problem:
        return None, fail(room, turn, f"its reply cannot be stored: {problem}")
    except Refused as refusal:
        if refused_to != turn.agent:
            raise ReplyRefused(turn.agent) from None
        refused = record_refusal.of(refusal, room.conversation.id, "reply")
        record_refusal.enter(room.draft, turn.agent, refused)
        rule = RuleName(refusal.facts.get("rule", RuleName.LINK.value))
        return None, fail(room, structs.replace(turn, kept=text), refusal.title, rule)
    turn = structs.replace(room.turns[turn.agent], usage=outcome.usage, message=message.seq)
    return message, seats.end(room, turn, TurnState.SAID)


def _does_not_fit(room: Room, turn: Turn, text: str, problem: str) -> Turn:
    """An answer of another shape than was asked for: the agent is asked once more, then whoever asked gets a
    failure."""
    if not misfit.is_second(turn):
        return misfit.ask_again(room, turn, text, problem)
    kept = structs.replace(turn, kept=text)
    return fail(room, kept, f"its answer does not fit what was asked for: {problem}", RuleName.ASK)


def fail(room: Room, turn: Turn, error: str, rule: RuleName | None = None, *, notice: str = "") -> Turn:
    """The turn failed: a notice is left in the conversation, and the next speaker goes on."""
    done = seats.end(room, turn, TurnState.FAILED, rule=rule, error=error)
    name = room.draft.participant(turn.agent).name
    text = f"[{name}'s reply was refused: {error}]" if rule is not None else f"[{name} encountered an error]"
    if notice:
        text = f"[{name} {notice}]"
    seats.trouble(room, done, text)
    return done


def expire(room: Room, turn: Turn) -> Turn:
    done = seats.end(room, turn, TurnState.EXPIRED, error="timed out without a sign of life")
    name = room.draft.participant(turn.agent).name
    seats.trouble(room, done, f"[{name} did not answer in time]")
    return done


def close(room: Room, done: Turn) -> None:
    """What follows the end of a turn: its round's slots, what came in meanwhile, the next speaker."""
    if room.draft.participant(done.agent).kind is Kind.EXTERNAL:
        quota = brakes.quota_now(room.draft.quota(done.agent), done.agent, room.now)
        room.draft.put_quota(
            structs.replace(quota, last_root=done.root, last_hop=done.hop, last_ended=room.now)
        )
    room.floor.ended(room, done)
    obligations.move_on(room)


def _give_again(room: Room, done: Turn) -> None:
    """An outside agent that is asked once more has the next turn at once: it can answer again without asking first."""
    again = room.turns.get(done.agent)
    outside = room.draft.participant(done.agent).kind is Kind.EXTERNAL
    if outside and again is not None and again.state in claim.CLAIMABLE:
        claim.begin(room, again, None)


def _hand_over(room: Room, command: Finish) -> Turn | None:
    """If the floor went to another agent of the same host, its turn begins at once."""
    if not command.runs_here:
        return None
    for turn in list(room.turns.values()):
        if turn.state is TurnState.READY and turn.agent in command.runs_here:
            return claim.begin(room, turn, command.host)
    return None
