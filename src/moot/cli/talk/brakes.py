"""What the brakes say on the command line: held (E302), paused (E303), more asked than may answer (E304)."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from moot import shapes
from moot.cli.frame.hints import first
from moot.cli.frame.session import Session
from moot.cli.talk.follow import Outcome
from moot.cli.talk.unanswered import is_paused, joined_names
from moot.cli.terminal.phrases import title
from moot.cli.terminal.screen import safe
from moot.errors import Braked
from moot.model.answer import Delivery, Receipt
from moot.model.conversation import WITH_ROUNDS

if TYPE_CHECKING:
    from moot.hub import Hub

MAX_CHAIN_LINES = 3
MAX_LINE_CHARACTERS = 70
MAX_LOOKBACK = 12
"""More than may pass between two agents in a minute."""
ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


async def warn(
    session: Session, hub: Hub, where: shapes.Conversation, receipt: Receipt, *, in_chat: bool = False
) -> None:
    """Tell the sender what there is to know about an accepted message."""
    if session.json:
        return
    for warning in receipt.warnings:
        session.screen.note(f"warning[{warning.code}] {warning.message}")
        if way := first(warning.fix):
            session.screen.note(f"  fix   {session.screen.command(way)}")
    cut = [part for part in receipt.deliveries if part.duty == "blocked" and part.rule == "cap"]
    if cut:
        enough = len(cut) + sum(part.duty == "must" for part in receipt.deliveries)
        session.screen.note(f"  fix   {_more_turns(where, enough, in_chat=in_chat)}")
    resting = [part.agent for part in receipt.deliveries if is_paused(part)]
    if resting and any(part.duty in ("must", "may") for part in receipt.deliveries):
        are = "is" if len(resting) == 1 else "are"
        session.screen.note(f"{joined_names(resting)} {are} paused and will not answer")
        session.screen.note(f"  fix   {session.screen.command('moot resume ' + ' '.join(resting))}")
    for part in receipt.deliveries:
        if part.delayed_ms:
            cooling = where.kind in WITH_ROUNDS
            session.screen.note(_cooling(where, part) if cooling else await _held_notice(hub, receipt, part))


def _more_turns(where: shapes.Conversation, turns: int, *, in_chat: bool) -> str:
    setting = f"max_agent_turns_per_message {turns}"
    if in_chat:
        return f"/group config {setting}"
    return f"--max-turns {turns} for this message      or: moot conv config {where.name} {setting}"


def _cooling(where: shapes.Conversation, part: Delivery) -> str:
    """A notice for groups, in which the agent has to wait whoever writes to it."""
    seconds = where.settings["cooldown_seconds"]
    return (
        f"held {part.delayed_ms / 1000:.1f} s: {part.agent} spoke a moment ago, and may speak here "
        f"once every {seconds:g} s (cooldown_seconds)."
    )


async def _held_notice(hub: Hub, receipt: Receipt, part: Delivery) -> str:
    """A notice that messages between two agents came too quickly: how long it is held, why, and until when."""
    window = hub.settings.limits.pair_window_seconds
    moments = [datetime.fromisoformat(m.at) for m in await _own(hub, receipt) if m.at]
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(moments)]
    row = 1 + next((n for n, gap in enumerate(reversed(gaps)) if gap >= window), len(gaps))
    number = ORDINALS[row] if row < len(ORDINALS) else f"{row}th"
    due = moments[-1] + timedelta(milliseconds=part.delayed_ms)
    return (
        f"held {part.delayed_ms / 1000:.1f} s: {number} message from {receipt.sender} to {part.agent} "
        f"within {window:g} s. It will be delivered at {due.astimezone():%H:%M:%S}."
    )


async def _own(hub: Hub, receipt: Receipt) -> list[shapes.Message]:
    """The sender's newest messages here, up to this one."""
    first = max(0, receipt.seq - 2 * MAX_LOOKBACK)
    messages = await hub.messages(receipt.conversation, after=first, before=receipt.seq + 1)
    return [message for message in messages if message.sender == receipt.sender]


def braked_error(outcome: Outcome) -> Braked:
    """The error for a chain that a brake stopped, with its last lines and the way out."""
    last = [f"{reply.sender}: {_first_line(reply.text)}" for reply in outcome.replies[-MAX_CHAIN_LINES:]]
    return Braked(
        f"{title(outcome.where)} stopped after {len(outcome.replies)} agent turns without a human",
        detail="\n".join(last),
        fix=(f"moot conv continue {outcome.where.name}", "/continue"),
        rule=outcome.brake.metadata["rule"] if outcome.brake is not None else "",
        conversation=outcome.where.id,
        root=outcome.receipt.root,
    )


def _first_line(text: str) -> str:
    first = safe(text.strip().splitlines()[0])
    return first if len(first) <= MAX_LINE_CHARACTERS else f"{first[:MAX_LINE_CHARACTERS]}…"
