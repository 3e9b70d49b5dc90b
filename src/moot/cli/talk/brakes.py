"""What the brakes say on the command line: held (E302), paused (E303), more asked than may answer (E304)."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from moot import shapes
from moot.cli.frame.hints import first
from moot.cli.frame.session import Session
from moot.cli.talk.follow import Outcome
from moot.cli.talk.unanswered import is_paused, listed
from moot.cli.terminal.phrases import title
from moot.cli.terminal.screen import safe
from moot.errors import Braked
from moot.model.answer import Delivery, Receipt
from moot.model.conversation import WITH_ROUNDS

if TYPE_CHECKING:
    from moot.hub import Hub

CHAIN_SHOWN = 3
LINE_SHOWN = 70
LOOKED_BACK = 12
"""More than may pass between two agents in a minute."""
ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


async def warn(
    session: Session, hub: Hub, where: shapes.Conversation, receipt: Receipt, *, in_chat: bool = False
) -> None:
    """What the sender should know about a message that was taken."""
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
        session.screen.note(f"{listed(resting)} {are} paused and will not answer")
        session.screen.note(f"  fix   {session.screen.command('moot resume ' + ' '.join(resting))}")
    for part in receipt.deliveries:
        if part.delayed_ms:
            cooling = where.kind in WITH_ROUNDS
            session.screen.note(_cooling(where, part) if cooling else await _held(hub, receipt, part))


def _more_turns(where: shapes.Conversation, turns: int, *, in_chat: bool) -> str:
    setting = f"max_agent_turns_per_message {turns}"
    if in_chat:
        return f"/group config {setting}"
    return f"--max-turns {turns} for this message      or: moot conv config {where.name} {setting}"


def _cooling(where: shapes.Conversation, part: Delivery) -> str:
    """In a group it is the agent that has to wait, whoever writes to it."""
    seconds = where.settings["cooldown_seconds"]
    return (
        f"held {part.delayed_ms / 1000:.1f} s: {part.agent} spoke a moment ago, and may speak here "
        f"once every {seconds:g} s (cooldown_seconds)."
    )


async def _held(hub: Hub, receipt: Receipt, part: Delivery) -> str:
    """How long, why, and until when: messages from one agent to another came in quick succession."""
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
    first = max(0, receipt.seq - 2 * LOOKED_BACK)
    found = await hub.messages(receipt.conversation, after=first, before=receipt.seq + 1)
    return [message for message in found if message.sender == receipt.sender]


def paused(done: Outcome) -> Braked:
    """A chain that was stopped, with how it ended and the way out."""
    last = [f"{reply.sender}: {_first_line(reply.text)}" for reply in done.replies[-CHAIN_SHOWN:]]
    return Braked(
        f"{title(done.where)} stopped after {len(done.replies)} agent turns without a human",
        detail="\n".join(last),
        fix=(f"moot conv continue {done.where.name}", "/continue"),
        rule=done.brake.metadata["rule"] if done.brake is not None else "",
        conversation=done.where.id,
        root=done.receipt.root,
    )


def _first_line(text: str) -> str:
    first = safe(text.strip().splitlines()[0])
    return first if len(first) <= LINE_SHOWN else f"{first[:LINE_SHOWN]}…"
