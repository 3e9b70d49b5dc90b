"""One message to many: each pair is on its own, and one refusal does not stop the others."""

from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha256
from uuid import uuid4

from moot.errors import NotFound, NotPermitted, Unauthenticated
from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.model.participant import Participant


def broadcast_id(key: str | None) -> str:
    """What its messages share. Under the same key it is the same, and nobody is written to twice."""
    return f"b{sha256(key.encode()).hexdigest()[:24] if key else uuid4().hex[:12]}"


async def to_each(
    people: Iterable[Participant], write: Callable[[ParticipantId], Awaitable[None]], shared: str
) -> JsonObject:
    """Write to one after the other; tells whom it reached, whom not, and why."""
    delivered: list[str] = []
    failed: list[JsonObject] = []
    for participant in people:
        try:
            await write(participant.id)
        except Unauthenticated:  # then nobody else is written to either
            raise
        except (NotPermitted, NotFound) as refusal:
            failed.append({"agent": participant.name, "error": refusal.title})
        except Exception as refusal:  # each pair is on its own: one refusal must not stop the others
            after = getattr(refusal, "retry_after_ms", None)
            failed.append({"agent": participant.name, "error": str(refusal), "retry_after_ms": after})
        else:
            delivered.append(participant.name)
    return {"delivered_to": delivered, "failed": failed, "broadcast_id": shared}
