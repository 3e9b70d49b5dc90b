"""Where a reader resumes. Frames carry no number, so a client that wants each message exactly once counts them.

The stored position says how many messages from others lie before it. A client that received more is that many messages
after the position; one that received fewer (its library had answered for messages it never saw) as many before it. The
client's own messages and those of the hub are not counted, so both sides count the same.
"""

from moot import shapes
from moot.doors.http.streams.reader import ReadPosition
from moot.doors.http.streams.text_frames import MessageFrames
from moot.errors import Conflict
from moot.hub import Hub

PAGE = 200
MAX_DISTANCE = 10_000
"""Maximum number of messages searched for a client's position."""


def _counts(message: shapes.Message, reader: str) -> bool:
    return message.sender != reader and MessageFrames.of(message).counts


async def position_of(hub: Hub, where: str, mark: ReadPosition, received: int) -> ReadPosition:
    """The position of a client that has received this many messages here."""
    if abs(received - mark.frames) > MAX_DISTANCE:
        raise _position_lost(received, mark)
    if received >= mark.frames:
        return await _ahead(hub, where, mark, received)
    return await _back(hub, where, mark, received)


async def _ahead(hub: Hub, where: str, mark: ReadPosition, received: int) -> ReadPosition:
    place = ReadPosition(mark.seq, mark.frames)
    while place.frames < received:
        page = await hub.messages(where, after=place.seq, limit=PAGE)
        if not page:
            raise _position_lost(received, place)
        for message in page:
            if place.frames < received:
                place.seq = message.seq
                place.frames += _counts(message, hub.name)
    return place


async def _back(hub: Hub, where: str, mark: ReadPosition, received: int) -> ReadPosition:
    place = ReadPosition(mark.seq, mark.frames)
    while place.frames > received:
        page = await hub.messages(where, before=place.seq + 1, limit=PAGE)
        if not page:
            raise _position_lost(received, place)
        for message in reversed(page):
            if place.frames > received:
                place.seq = message.seq - 1
                place.frames -= _counts(message, hub.name)
    return place


def _position_lost(received: int, place: ReadPosition) -> Conflict:
    return Conflict(
        f"this client cannot have received {received} messages",
        detail=f"it was sent {place.frames}; the history may have been restored from a backup",
        fix=("reconnect with another client id and after=SEQ, or without received",),
        known=place.frames,
    )
