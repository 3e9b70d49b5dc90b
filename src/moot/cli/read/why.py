"""`moot why`: for one message, each agent's part in it, by which rule, and what caused it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.hub_access import with_reading
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.cli.talk.absence import to_bring_back
from moot.cli.terminal.phrases import addresses, author, is_agent, marks_of, message_at, reason_for
from moot.cli.terminal.screen import Screen, clock_time, safe
from moot.errors import BadValue, NotFound
from moot.rules.reasons import REMOVED
from moot.shapes.talk import DUTY_WORDS

if TYPE_CHECKING:
    from moot.hub import Hub

MAX_TEXT_CHARACTERS = 70
MAX_PLACES = 20
"""The newest conversations, in which the last message is looked for."""
KINDS_WITHOUT_ANSWER = {"system": "a notice from Moot", "tool": "a tool's result"}


@leaf("why", examples=("moot why", "moot why build:12", "moot why 12 --conv build --json"))
@click.argument("message", required=False)
@click.option("--conv", metavar="ID", help="The conversation, if MESSAGE is only a number or left out.")
def why(session: Session, message: str | None, conv: str | None) -> None:
    """Explain why each agent answered a message or stayed silent.

    Without MESSAGE, it explains the last message, and then what a person said last if somebody has spoken since.
    """

    async def work(hub: Hub) -> None:
        last = None if message else await newest(hub, conv)
        explained = await (hub.why(last.id) if last is not None else _why_of(hub, message or "", conv))
        if session.json:
            session.screen.data(explained.to_dict())
            return
        await show(session.screen, hub, explained)
        if last is not None:
            await _show_question_before(session.screen, hub, last)

    with_reading(session, work)


async def _why_of(hub: Hub, typed: str, conv: str | None) -> shapes.Why:
    id = await address(hub, typed, conv)
    try:
        return await hub.why(id)
    except NotFound as missing:
        where = await hub.conversations.get(id.rpartition(":")[0])
        newest = await hub.newest(where.id, 1)
        detail = (
            f"the newest is {where.name}:{newest[-1].seq}" if newest else f"nothing was said in {where.name}"
        )
        name = f"{where.name}:{id.rpartition(':')[2]}"
        raise NotFound(
            f"there is no message {name}", what="message", detail=detail, ref=missing.facts["ref"]
        ) from None


async def address(hub: Hub, typed: str, conv: str | None) -> str:
    """`conversation:seq`, by id or by name; a bare number with --conv."""
    where, colon, seq = typed.rpartition(":")
    if not colon:
        where, seq = conv or "", typed.lstrip("#")
    if not where or not (seq.isascii() and seq.isdigit()):
        raise BadValue(
            f'"{typed}" is not a message address',
            detail="expected CONVERSATION:NUMBER, or a number with --conv",
            fix=("moot tail", "moot why NUMBER --conv NAME"),
        )
    place = await resolve.place(hub, where)
    return f"{place.id}:{int(seq)}"


async def newest(hub: Hub, conv: str | None) -> shapes.Message:
    """The last message, there or anywhere; also in archived conversations, as one-shot questions are."""
    if conv is not None:
        places = [await resolve.place(hub, conv)]
    else:
        places = [*await hub.conversations.list(), *await hub.conversations.list(archived=True)]
        places = sorted(places, key=lambda place: place.updated_at or "", reverse=True)[:MAX_PLACES]
    last = [message for place in places for message in await hub.newest(place.id, 1)]
    if not last:
        raise NotFound(
            "nothing has been said yet" + (f" in {conv}" if conv else ""),
            fix=('moot send AGENT "…"', "moot conv list"),
            ref=conv or "message",
        )
    return max(last, key=lambda message: (message.at or "", message.seq))


async def _show_question_before(screen: Screen, hub: Hub, last: shapes.Message) -> None:
    """Also explain the person's last message: after an answer, a person may ask why the others said nothing."""
    from moot.hub.commands.slash import newest_of_a_person  # noqa: PLC0415  send, which finds addresses here, starts without a hub

    question = await newest_of_a_person(hub, last.conversation)
    if question is not None and question.seq < last.seq:
        screen.say("")
        await show(screen, hub, await hub.why(question.id))


async def show(screen: Screen, hub: Hub, why: shapes.Why) -> None:
    message = await message_at(hub, why.message)
    if message is None:
        raise NotFound(f"there is no message {why.message}", what="message", ref=why.message)
    where = await hub.conversations.get(message.conversation)
    first = safe((message.text.splitlines() or ["(deleted)"])[0])
    text = first if len(first) <= MAX_TEXT_CHARACTERS else first[:MAX_TEXT_CHARACTERS] + "…"
    screen.say(f"{where.name}:{message.seq}  {author(message, hub)}, {clock_time(message.at)}: {text}")
    if is_agent(message) and why.cause is not None:
        cause = (await addresses(hub, [why.cause["message"]]))[why.cause["message"]]
        reason = await reason_for(hub, message)
        screen.say(f"  said in turn {why.cause['turn']}, {reason}; answers {cause}")
    if message.kind in KINDS_WITHOUT_ANSWER:
        screen.say(f"  {KINDS_WITHOUT_ANSWER[message.kind]}: it asks nobody, so no agent answers it")
        if about := message.metadata.get("turn"):
            screen.say(f"  it is about turn {about}: {screen.command(f'moot turn show {about}')}")
        return
    marks = marks_of(where)
    rows = [_row(row, marks) for row in why.agents]
    screen.table(("  agent", "part", "state", "rule", "reason"), rows)
    owing = [await hub.agents.get(row.agent) for row in why.agents if row.state == "owed"]
    if start := await to_bring_back(hub, owing) if owing else "":
        screen.say(f"  fix   {screen.command(start)}")


def _row(row: shapes.Because, marks: dict[str, str]) -> tuple[str, ...]:
    reason = row.reason.removeprefix(f"{row.agent} ")
    if reason == REMOVED:
        return f"  {marks.get(row.agent, '●')} {row.agent}", "is gone", "-", "-", reason
    state = row.state if row.duty != "observes" or row.state == "cancelled" else "-"
    return f"  {marks.get(row.agent, '●')} {row.agent}", DUTY_WORDS[row.duty], state, row.rule, reason
