"""One message to one participant: the name is taken from memory, and settled by the decision.

Above: hub.send, broadcast, ask. Below: flow/send.py.
"""

from msgspec import structs

from moot.errors import NotFound
from moot.flow import send
from moot.flow.post import Post
from moot.flow.steps.posted import Posted
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.model.participant import HUMAN


async def sent(
    core: Core, target: str, message: Post, choices: tuple[str, ...] = (), *, stays_open: bool = False
) -> Posted:
    """`choices` and `stays_open` are of a question to a person."""
    target = core.directory.meant_by(target)
    author = core.directory.by_id(message.author)
    by_person = author is not None and author.kind is HUMAN
    if message.awaited:
        message = structs.replace(message, waits_in=core.host.id)

    def to(addressee: ParticipantId) -> send.Send:
        sending = send.sending(target, addressee, message, choices)
        return structs.replace(sending, by_person=by_person, stays_open=stays_open)

    try:
        return await core.do(send, to(await taken_for(core, target)))
    except send.Mistaken as mistake:  # renamed in another process, and not known here yet
        await core.directory.refresh()
        return await core.do(send, to(mistake.target))


async def taken_for(core: Core, target: str) -> ParticipantId:
    """The participant by name from memory, else from the store; refused with similar names if there is none."""
    try:
        return core.directory.called(target).id
    except NotFound:
        return (await core.directory.participant(target)).id
