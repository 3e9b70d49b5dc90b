"""One message to one participant: the name is taken from memory, and settled by the decision.

Above: hub.send, broadcast, ask. Below: flow/send.py.
"""

from moot.errors import NotFound
from moot.flow import send
from moot.flow.post import Post
from moot.flow.steps.posted import Posted
from moot.hub.core import Core
from moot.model.ids import ParticipantId


async def sent(core: Core, target: str, message: Post, choices: tuple[str, ...] = ()) -> Posted:
    try:
        return await core.do(send, send.sending(target, await _taken_for(core, target), message, choices))
    except send.Mistaken as mistake:  # it was renamed in another process, and nobody has told us yet
        await core.directory.refresh()
        return await core.do(send, send.sending(target, mistake.target, message, choices))


async def _taken_for(core: Core, target: str) -> ParticipantId:
    """From memory; whom we do not know is looked for, and refused with names that come near."""
    try:
        return core.directory.called(target).id
    except NotFound:
        return (await core.directory.participant(target)).id
