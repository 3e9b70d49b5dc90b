"""Hand work to an agent: the name is taken from memory, and settled by the decision.

Above: hub.delegate. Below: flow/delegate.py.
"""

from msgspec import Struct

from moot.errors import BadValue
from moot.flow import delegate
from moot.hub.speaker import Speaker
from moot.model.json import JsonObject
from moot.model.records.task import Task
from moot.rules import answer_shape


class WorkOrder(Struct, frozen=True):
    """Work as its delegator describes it."""

    target: str
    task: str
    seconds: float | None
    conversation: str | None
    shape: JsonObject | None
    key: str


async def delegated(speaker: Speaker, work: WorkOrder) -> Task:
    seconds = work.seconds
    if seconds is not None and not 0 < seconds <= delegate.MAX_TASK_SECONDS:
        raise BadValue(
            f"deadline_seconds = {seconds:g} is out of range",
            detail=f"expected 0 to {delegate.MAX_TASK_SECONDS:g}",
        )
    core, turn = speaker.core, speaker.turn
    target = core.directory.meant_by(work.target)
    worker = await core.directory.participant(target)
    command = delegate.Delegate(
        author=speaker.me,
        target=target,
        task=speaker.checked(work.task),
        deadline=core.parts.clock.now() + seconds if seconds is not None else 0.0,
        asked_in=work.conversation or "",
        shape=answer_shape.checked(work.shape) if work.shape is not None else "",
        key=work.key,
        turn=turn.id if turn is not None else None,
        fence=turn.fence if turn is not None else 0,
        taken_for=worker.id,
    )
    return await core.do(delegate, command)
