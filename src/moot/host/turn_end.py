"""Ending a turn: once, and once more where its reply was refused, with what that takes to be entered in the audit.

Refused replies are rare, and what is needed to enter them is not loaded for all the others.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import structs

from moot.flow import finish
from moot.flow.finish import Finish, ReplyRefused
from moot.model.answer import Finished

Transact = Callable[[Any, Any], Awaitable[Any]]
"""Carries out a verb."""


async def finished(transact: Transact, command: Finish) -> Finished:
    try:
        done: Finished = await transact(finish, command)
    except ReplyRefused as refused:
        done = await transact(finish, structs.replace(command, refused_to=refused.agent))
    return done
