"""Hand work to an agent: the name is taken from memory, and settled by the decision.

Above: hub.delegate. Below: flow/delegate.py.
"""

from moot.errors import BadValue
from moot.flow import delegate
from moot.hub.speaker import Speaker
from moot.model.records.task import Task


async def delegated(
    speaker: Speaker, target: str, task: str, seconds: float | None, conversation: str | None
) -> Task:
    if seconds is not None and not 0 < seconds <= delegate.LONGEST:
        raise BadValue(
            f"deadline_seconds = {seconds:g} is out of range",
            detail=f"expected 0 to {delegate.LONGEST:g}",
        )
    core, turn = speaker.core, speaker.turn
    worker = await core.directory.participant(target)
    command = delegate.Delegate(
        author=speaker.me,
        target=target,
        task=speaker.checked(task),
        deadline=core.parts.clock.now() + seconds if seconds is not None else 0.0,
        asked_in=(await core.directory.conversation(conversation)).id if conversation else "",
        turn=turn.id if turn is not None else None,
        fence=turn.fence if turn is not None else 0,
        taken_for=worker.id,
    )
    return await core.do(delegate, command)
