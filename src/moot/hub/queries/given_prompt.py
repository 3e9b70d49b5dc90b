"""The inspector: exactly what an agent was given for a turn, and what it would be given now.

A turn keeps a note of what it was given, not a copy: the same prompt is made again from what is stored, and its
fingerprint tells whether it is still the same. It is not when a message was edited or deleted since.
"""

from msgspec import Struct, structs

from moot import shapes
from moot.context.view import TurnView
from moot.context.window import Size
from moot.errors import NotFound
from moot.host.agent_turn import as_heard
from moot.hub.core import Core
from moot.hub.enrolment import size_of
from moot.model.conversation import Conversation
from moot.model.hint import Act, Hint
from moot.model.ids import TurnId
from moot.model.json import JsonObject
from moot.model.participant import Participant
from moot.model.prompt import Offered, Prompt
from moot.model.turn import OPEN, Duty, RuleName, Step, Turn, TurnState
from moot.wiring import spec

NO_TURN = TurnId(2**62)
"""The id of a hypothetical turn; later than all others."""


async def turn(core: Core, stored: Turn) -> shapes.Turn:
    """A turn with everything that is known of it."""
    shown = await given_in(core, stored)
    refused = stored.rule is not None
    return shapes.Turn.of(
        stored,
        core.directory.name,
        kept=stored.kept or None if refused else None,
        trace=None if refused else stored.kept or None,
        given=shown,
        steps=_steps(stored),
    )


async def given_in(core: Core, turn: Turn) -> JsonObject | None:
    if turn.given is None:
        return None
    agent = core.directory.by_id(turn.agent)
    if agent is None:
        return None
    if turn.given.system:
        prompt, exact = await core.context.shown_again(turn, agent, turn.given)
        return {**_shown(prompt), "tools": list(turn.given.tools), "exact": exact}
    view = await core.context.again(turn, agent, turn.given)
    edited = any(message.version > 1 for message in view.messages)
    return {**_window(core, view), "tools": [], "exact": not edited}


async def now(core: Core, name: str, ref: str) -> JsonObject:
    """What an agent would be given if its turn began now."""
    agent = await core.directory.participant(name)
    conversation = await core.directory.conversation(ref)
    members = {member.participant: member for member in await core.parts.store.members(conversation.id)}
    if agent.id not in members:
        raise NotFound(
            f"{agent.name} is not in {conversation.name}",
            fix=(Hint(Act.JOIN, conversation=conversation.name, agent=agent.name),),
            ref=name,
        )
    if not conversation.head:
        raise NotFound(
            f"nothing has been said in {conversation.name} yet",
            what="message",
            fix=(Hint(Act.POST, conversation=conversation.name),),
        )
    waiting = await core.parts.store.turns(conversation=conversation.id, agent=agent.id, states=tuple(OPEN))
    imagined = waiting[0] if waiting else _imagined(agent, conversation)
    lo = min(members[agent.id].cursor, conversation.head - 1)
    imagined = structs.replace(
        imagined, lo=lo, hi=conversation.head, cause=imagined.cause or conversation.head
    )
    how = _how(core, agent)
    view = await core.context.view(imagined, agent, how.size)
    if how.prompted:
        shown = await core.context.prompt(view, how.offered)
        prompt_parts = {**_shown(shown.prompt), "tools": list(shown.given.tools)}
    else:
        prompt_parts = {**_window(core, view), "tools": []}
    texts = [prompt_parts["system"], *(line["content"] for line in prompt_parts["messages"])]
    return {
        "agent": agent.name,
        "conversation": conversation.id,
        "lo": lo,
        "hi": conversation.head,
        "new": len(view.new),
        "given": prompt_parts,
        "bytes": sum(len(text.encode()) for text in texts),
    }


def _imagined(agent: Participant, conversation: Conversation) -> Turn:
    return Turn(
        id=NO_TURN,
        agent=agent.id,
        conversation=conversation.id,
        duty=Duty.MAY,
        reason=RuleName.POLL if conversation.takes_rounds else RuleName.DIRECT,
        state=TurnState.READY,
        calls=(),
        created_at=0.0,
    )


class How(Struct, frozen=True):
    """How an agent is given things."""

    size: Size
    offered: Offered = Offered()
    prompted: bool = False


def _how(core: Core, agent: Participant) -> How:
    """By its row in moot.toml; agents that are code have no model to be prompted."""
    row = next((row for row in core.parts.settings.agents if row.name == agent.name), None)
    if row is None:
        return How(Size(20, 8000))
    made = spec(row, core.parts.home)
    return How(size_of(made, row), made.offered, made.prompted)


def _window(core: Core, view: TurnView) -> JsonObject:
    frames = core.context.frames(view.conversation.id)
    messages = [as_heard(message, view.agent.id, frames, core.directory.name) for message in view.messages]
    return {
        "system": "",
        "messages": [{"role": each.role, "content": each.content} for each in messages],
    }


def _shown(prompt: Prompt) -> JsonObject:
    return {
        "system": prompt.system,
        "messages": [{"role": line.role, "content": line.content} for line in prompt.lines],
    }


def _steps(turn: Turn) -> tuple[JsonObject, ...]:
    return tuple(_step(turn, step) for step in turn.steps)


def _step(turn: Turn, step: Step) -> JsonObject:
    return {
        "call": step.call,
        "tool": step.tool,
        "arguments": step.arguments,
        "at": shapes.when(step.at),
        "said": step.said or None,
        "result": f"{turn.conversation}:{step.seq}" if step.seq else None,
    }
