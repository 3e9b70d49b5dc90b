"""A help desk of three demo agents, for `moot demo --tour support`: what each does with what comes to it.

A customer's question is escalated over a link, delegated down another, worked on in a conversation of its own, reported
back and answered. Everything is done through `turn.hub`, by the same verbs that a model's tools use; an agent's role,
word for word, says which part it plays. Above: demo.py. Not here: permissions, which the hub decides.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from moot import shapes
from moot.brain import HostedTurn
from moot.rules.words.silence import PASS

DESK, LEAD, ENGINEER = "support desk", "support manager", "support engineer"
FAULT: Final = "Invoices round each line up. They have to round the total once; the fix is in release 2.1.4."

Part = Callable[[HostedTurn], Awaitable[str]]


async def desk(turn: HostedTurn) -> str:
    """Passes the customer's question to the lead, and the answer back to the customer."""
    if turn.trigger.kind == "human":
        lead = await _colleague(turn, LEAD)
        await turn.hub.send(
            lead,
            f'A customer asks: "{turn.text}" I cannot see invoices. Can you have somebody look?',
            intent="escalate",
            idempotency_key=f"demo:{turn.id}",
        )
        return f"Thank you, I have passed this on to {lead}. You will hear from me here."
    if turn.trigger.intent != "inform":
        return PASS
    where = await _help_desk(turn)
    messages = await turn.hub.newest(where.id)
    customer = next(message.sender for message in reversed(messages) if message.kind == "human")
    await turn.hub.post(
        where.id,
        f"@{customer}, good news. {turn.text} Your next invoice will be right; we are sorry.",
        idempotency_key=f"demo:{turn.id}",
    )
    return PASS


async def lead(turn: HostedTurn) -> str:
    """Delegates what is escalated to an engineer, and tells the desk the result."""
    if turn.trigger.intent == "escalate":
        engineer = await _colleague(turn, ENGINEER)
        await turn.hub.delegate(engineer, f"Find the cause and fix it: {turn.text}", deadline_seconds=600)
        return PASS  # the desk hears when there is something to hear
    if turn.reason == "task":
        task = await turn.hub.tasks.get(str(turn.trigger.metadata["task"]))
        desk = await _colleague(turn, DESK)
        await turn.hub.send(
            desk,
            f"{task.to} found it. {task.result}" if task.state == "done" else f"{task.to}: {task.result}",
            intent="inform",
            idempotency_key=f"demo:{turn.id}",
        )
    return PASS


async def engineer(turn: HostedTurn) -> str:
    """Works on a task in its own conversation, reports progress, and ends it with the result."""
    if turn.reason != "task":
        return PASS
    await turn.hub.post(
        turn.conversation.id,
        "Reading how invoices are added up, line by line.",
        idempotency_key=f"demo:{turn.id}",
    )
    return FAULT


PARTS: Final[dict[str, Part]] = {DESK: desk, LEAD: lead, ENGINEER: engineer}


async def _colleague(turn: HostedTurn, role: str) -> str:
    return str(next(agent.name for agent in await turn.hub.agents.list() if agent.role == role))


async def _help_desk(turn: HostedTurn) -> shapes.Conversation:
    """The newest conversation with a customer."""
    places: list[shapes.Conversation] = await turn.hub.conversations.list(kind="group")
    mine = [place for place in places if turn.agent in {seat.name for seat in place.participants}]
    return max(mine, key=lambda place: place.created_at or "")
