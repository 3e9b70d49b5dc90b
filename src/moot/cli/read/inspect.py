"""`moot turn show` and `moot context`: what an agent was given, or would be given now, to the last byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.exit_codes import FAILED, OK
from moot.cli.frame.hints import command
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.params import Branch, leaf
from moot.cli.frame.session import Session
from moot.cli.terminal.phrases import address, addresses, message_at
from moot.cli.terminal.screen import Screen, clock_time, safe
from moot.model.answer import Receipt, in_words
from moot.model.json import JsonObject

if TYPE_CHECKING:
    from moot.hub import Hub


@click.group(
    "turn",
    cls=Branch,
    examples=("moot turn show 12", "moot turn show 12 --json"),
    short_help="Inspect one turn, and what its agent was given.",
)
def turn() -> None:
    """Inspect one turn, and what its agent was given."""


@turn.command("show", examples=("moot turn show 12", "moot turn show 12 --json"))
@click.argument("id", metavar="TURN")
@click.pass_obj
def show(session: Session, id: str) -> None:
    """Show what an agent was given for a turn, what it cost and what it answered."""

    async def work(hub: Hub) -> None:
        shown_turn = await hub.turn(id)
        if session.json:
            session.screen.data(shown_turn.to_dict())
        else:
            with session.screen.paged():
                await tell(session.screen, hub, shown_turn)

    with_reading(session, work)


@turn.command("dead", examples=("moot turn dead", "moot turn dead --agent arya --json"))
@click.option("--agent", metavar="NAME", help="Only this agent.")
@click.pass_obj
def dead(session: Session, agent: str | None) -> None:
    """List turns that failed or expired and were not retried since."""

    async def work(hub: Hub) -> tuple[list[shapes.Turn], dict[str | None, str]]:
        dead = await hub.deliveries.dead_letters(agent=await resolve.agent(hub, agent) if agent else None)
        return dead, await addresses(hub, [turn.cause for turn in dead])

    dead_turns, message_names = with_hub(session, work)
    if session.json:
        session.screen.data([turn.to_dict() for turn in dead_turns])
    elif not dead_turns:
        session.screen.say("none: every turn was answered, passed or retried")
    else:
        rows = [(t.id, t.agent, t.state, message_names[t.cause], t.error or "") for t in dead_turns]
        session.screen.table(("turn", "agent", "state", "message", "error"), rows)


@turn.command("retry", examples=("moot turn retry 12", "moot turn retry 12 --json"))
@click.argument("id", metavar="TURN")
@click.pass_obj
def retry(session: Session, id: str) -> None:
    """Ask an agent again for what it failed to answer."""

    async def work(hub: Hub) -> tuple[Receipt, str]:
        receipt = await hub.deliveries.redeliver(id)
        return receipt, address(await hub.conversations.get(receipt.conversation), receipt.seq)

    receipt, message_name = with_hub(session, work)
    if session.json:
        session.screen.data(in_words(receipt, command).to_dict())
    session.screen.say(f"asked again as {message_name}")


@leaf("context", examples=("moot context arya build", "moot context arya build --json"))
@click.argument("agent")
@click.argument("conversation")
def context(session: Session, agent: str, conversation: str) -> None:
    """Show what an agent would be given if its turn began now."""

    async def work(hub: Hub) -> None:
        where = await resolve.place(hub, conversation)
        prompt = await hub.inspector.context(await resolve.agent(hub, agent), where.id)
        if session.json:
            session.screen.data(prompt)
            return
        say = session.screen.say
        say(f"{prompt['agent']} in {where.name}: {prompt['new']} new, {prompt['bytes']} bytes")
        show_prompt(session.screen, prompt["given"])

    with_hub(session, work)


@leaf("replay", examples=("moot replay arya", "moot replay arya --json"))
@click.argument("agent")
def replay(session: Session, agent: str) -> int:
    """Rebuild an agent's views from the log and compare them with the store."""

    async def work(hub: Hub) -> shapes.Replayed:
        return await hub.inspector.replay(await resolve.agent(hub, agent))

    comparison = with_hub(session, work)
    if session.json:
        session.screen.data(to_builtins(comparison))
    else:
        verdict = "equal" if comparison.equal else f"different in turns {', '.join(comparison.differ)}"
        session.screen.say(f"{comparison.turns} turns in {comparison.conversations} conversations: {verdict}")
    return OK if comparison.equal else FAILED


async def tell(screen: Screen, hub: Hub, turn: shapes.Turn) -> None:
    say = screen.say
    where = await hub.conversations.get(turn.conversation)
    times = f"{clock_time(turn.started_at)} to {clock_time(turn.ended_at)}"
    say(f"turn {turn.id}  {screen.name(turn.agent)} in {where.name}, {turn.state}, {times}")
    say(f"  {turn.duty}, {turn.reason}; reads #{turn.lo + 1} to #{turn.hi}; attempt {turn.attempt}")
    for key, value in (turn.usage or {}).items():
        say(f"  {key.replace('_', ' ')}: {value}")
    if turn.given is None:
        say(screen.dim("  what it was given was not recorded"))
    else:
        show_prompt(screen, turn.given)
        if not turn.given["exact"]:
            screen.note("not exactly what it was given: a message was edited or deleted since")
    for step in turn.steps:
        result = await message_at(hub, step["result"]) if step["result"] else None
        say(screen.dim(f"── tool {safe(step['tool'])}"))
        say(safe(step["arguments"]))
        say(safe(result.text) if result is not None else "(no result)")
    say(screen.dim("── answered"))
    reply = await message_at(hub, turn.message) if turn.message else None
    say(safe(reply.text if reply is not None else turn.error or turn.state))
    if turn.trace:
        say(safe(turn.trace))


def show_prompt(screen: Screen, prompt: JsonObject) -> None:
    """Print the prompt, part by part."""
    if prompt["system"]:
        screen.say(screen.dim("── system"))
        screen.say(safe(prompt["system"]))
    for line in prompt["messages"]:
        screen.say(screen.dim(f"── {line['role']}"))
        screen.say(safe(line["content"]))
    if prompt["tools"]:
        screen.say(screen.dim(f"── tools: {', '.join(prompt['tools'])}"))
