"""`moot why`: for one message, each agent's part in it, by which rule, and what caused it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli import meaning
from moot.cli.grammar import leaf
from moot.cli.opening import with_reading
from moot.cli.screen import Screen, clock_time, safe
from moot.cli.session import Session
from moot.cli.words import DUTIES, is_agent, marks_of, message_at, reason_for, you
from moot.errors import BadValue, NotFound

if TYPE_CHECKING:
    from moot.hub import Hub

SHOWN = 70


@leaf("why", examples=("moot why build:12", "moot why 12 --conv build --json"))
@click.argument("message")
@click.option("--conv", metavar="ID", help="The conversation, where MESSAGE is only a number.")
def why(session: Session, message: str, conv: str | None) -> None:
    """Why each agent answered a message or was silent."""

    async def work(hub: Hub) -> None:
        found = await hub.why(await address(hub, message, conv))
        if session.json:
            session.screen.data(found.to_dict())
        else:
            await show(session.screen, hub, found)

    with_reading(session, work)


async def address(hub: Hub, given: str, conv: str | None) -> str:
    """`conversation:seq`, by id or by name; a bare number with --conv."""
    where, colon, seq = given.rpartition(":")
    if not colon:
        where, seq = conv or "", given.lstrip("#")
    if not where or not (seq.isascii() and seq.isdigit()):
        raise BadValue(
            f'"{given}" is no message address',
            detail="expected CONVERSATION:NUMBER, or a number with --conv",
            fix=("moot tail", "moot why NUMBER --conv NAME"),
        )
    found = await meaning.place(hub, where)
    return f"{found.id}:{int(seq)}"


async def show(screen: Screen, hub: Hub, why: shapes.Why) -> None:
    message = await message_at(hub, why.message)
    if message is None:
        raise NotFound(f"there is no message {why.message}", ref=why.message)
    where = await hub.conversations.get(message.conversation)
    first = safe(message.text.splitlines()[0])
    text = first if len(first) <= SHOWN else first[:SHOWN] + "…"
    screen.say(f"{where.name}:{message.seq}  {you(message.sender, hub)}, {clock_time(message.at)}: {text}")
    if is_agent(message) and why.cause is not None:
        at = why.cause["message"].rpartition(":")[2]
        reason = await reason_for(hub, message)
        screen.say(f"  said in turn {why.cause['turn']}, {reason}; answers {where.name}:{at}")
    marks = marks_of(where)
    rows = [_row(row, marks) for row in why.agents]
    screen.table(("  agent", "part", "state", "rule", "reason"), rows)


def _row(row: shapes.Because, marks: dict[str, str]) -> tuple[str, ...]:
    reason = row.reason.removeprefix(f"{row.agent} ")
    state = row.state if row.turn or row.duty in ("must", "may", "blocked") else "-"
    return f"  {marks.get(row.agent, '●')} {row.agent}", DUTIES[row.duty], state, row.rule, reason
