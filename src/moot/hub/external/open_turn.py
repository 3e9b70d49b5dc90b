"""A turn in the hands of an outside agent: what it sees in it, how it ends it, and how it gives it back.

Such a turn has no lease: mailbox.py gave it out, and only its agent can end it. Above: programs that serve functions
of theirs as agents (client/worker.py), by way of a door. Not here: turns of agents that a host of ours runs.
"""

from moot import shapes
from moot.context.window import Size
from moot.errors import BadValue, NotPermitted, Stale, TurnFailed
from moot.flow import release
from moot.flow.finish import Failed, Finish, Said
from moot.flow.release import Release
from moot.host.agent_turn import as_heard
from moot.host.turn_end import finish_turn
from moot.hub.commands.ask import correlated
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.model.participant import Kind, Participant
from moot.model.turn import Turn, TurnState

MAX_ERROR_CHARACTERS = 2000


def its_own(core: Core, me: ParticipantId, turn: Turn) -> Participant:
    """The caller, if the turn is its own and it is an outside agent."""
    participant = core.directory.by_id(me)
    if participant is None or turn.agent != me:
        raise NotPermitted(f"turn {turn.id} belongs to {core.directory.name(turn.agent)}, not to you")
    if participant.kind is not Kind.EXTERNAL:
        raise NotPermitted(
            f"{participant.name} is run by this hub, and its host ends its turns",
            detail="only outside agents end their own turns",
        )
    return participant


async def view(core: Core, me: ParticipantId, turn: Turn, messages: int, tokens: int) -> shapes.View:
    """What an agent sees in a turn it has open. A row of moot.toml says how much, else the caller."""
    participant = its_own(core, me, turn)
    if turn.state is not TurnState.RUNNING:
        raise Stale(f"turn {turn.id} is no longer yours: it is {turn.state}")
    row = next((row for row in core.parts.settings.agents if row.name == participant.name), None)
    size = (
        Size(max(1, messages), max(1, tokens))
        if row is None
        else Size(row.context_messages, row.context_tokens)
    )
    turn_view = await core.context.view(turn, participant, size)
    frames = core.context.frames(turn.conversation)
    return shapes.View(
        turn=shapes.Turn.of(turn, core.directory.name),
        conversation=core.directory.shape_with(turn_view.conversation, turn_view.members),
        deadline=turn.deadline or None,
        trigger=shapes.Message.of(turn_view.trigger, core.directory.name),
        new=tuple(shapes.Message.of(message, core.directory.name) for message in turn_view.new),
        messages=tuple(as_heard(message, me, frames, core.directory.name) for message in turn_view.messages),
    )


async def end(
    core: Core, me: ParticipantId, turn: Turn, *, text: str | None, error: str | None
) -> shapes.Turn:
    """With a text: the reply. With an error: failed, for all to see. With neither: silence."""
    its_own(core, me, turn)
    if text is not None and error is not None:
        raise BadValue("a turn ends with a text or an error, not both")
    metadata = await correlation(core, turn)
    outcome = Said(text, metadata) if error is None else Failed(error[:MAX_ERROR_CHARACTERS] or "it failed")
    done = (await finish_turn(core.do, Finish(turn.id, turn.fence, outcome))).turn
    if error is None and done.state is TurnState.FAILED:
        raise unheard(core, done)
    return shapes.Turn.of(done, core.directory.name)


async def correlation(core: Core, turn: Turn) -> dict[str, str]:
    """An answer carries back what its question carried."""
    cause = await core.parts.store.message(turn.conversation, turn.cause) if turn.cause else None
    return correlated(cause.metadata.get("correlation_id") if cause is not None else None)


def unheard(core: Core, turn: Turn) -> TurnFailed:
    """A reply that may not be stored; its text is kept in the turn."""
    return TurnFailed(
        f"the reply of {core.directory.name(turn.agent)} was refused: {turn.error}",
        turn=str(turn.id),
        rule=turn.rule.value if turn.rule else None,
    )


async def give_back(core: Core, me: ParticipantId, turn: Turn) -> None:
    """Give the turn back: it waits for its agent again, and no try is used up."""
    its_own(core, me, turn)
    await core.do(release, Release(turn.id, turn.fence))
