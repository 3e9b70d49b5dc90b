"""Writing to another agent, in the shapes its callers know: a refusal is an answer that can be acted on.

Above: HTTP and MCP, which add what is theirs: a status, a tool's result. Below: the hub.
"""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from moot.errors import MootError, NotFound, NotPermitted, RateLimited
from moot.hub import Hub
from moot.model.hint import Say, worded


class Delivered(Struct, frozen=True, omit_defaults=True):
    """The message is on disk; `reachability` says how soon the receiver can read it."""

    delivered: bool
    target: str
    id: str
    seq: int
    delayed_ms: int = 0
    reachability: str = ""


class DeliveryRefusal(Struct, frozen=True, omit_defaults=True):
    """Nothing was stored."""

    delivered: bool
    error: str
    available: list[str] | UnsetType = UNSET
    suggestions: list[str] | UnsetType = UNSET
    retry_after_ms: int | UnsetType = UNSET
    fix: list[str] | UnsetType = UNSET


class Broadcast(Struct, frozen=True):
    delivered_to: list[str]
    failed: list[dict[str, Any]]
    broadcast_id: str


class NotDelivered(Exception):
    """Why a message was refused, in the shape that its sender gets."""

    def __init__(self, cause: MootError, answer: DeliveryRefusal) -> None:
        super().__init__(cause.title)
        self.cause = cause
        self.answer = answer


async def deliver(
    hub: Hub, target: str, message: str, say: Say, *, key: str | None = None, intent: str = ""
) -> Delivered:
    """Post a message to the pair's conversation. `NotDelivered` carries the reason, and hints worded by `say`."""
    try:
        receipt = await hub.send(target, message, intent=intent or None, idempotency_key=key)
    except NotFound as missing:
        if missing.facts.get("ref") == hub.name:  # the sender itself was removed
            raise
        names = sorted(one.name for one in await hub.agents.list() if one.name != hub.name)
        near = [name for name in missing.suggestions if name in names]
        answer = DeliveryRefusal(False, "Agent not found", available=names, suggestions=near or UNSET)
        raise NotDelivered(missing, answer) from None
    except RateLimited as limited:
        after = limited.retry_after_ms or 0
        raise NotDelivered(limited, DeliveryRefusal(False, "Rate limited", retry_after_ms=after)) from None
    except NotPermitted as refusal:
        answer = DeliveryRefusal(False, refusal.title, fix=worded(refusal.fix, say) or UNSET)
        raise NotDelivered(refusal, answer) from None
    if not receipt.deliveries:  # a person, or an agent that this message gives no turn
        return Delivered(True, (await hub.agents.get(target)).name, receipt.id, receipt.seq)
    one = receipt.deliveries[0]
    return Delivered(True, one.agent, receipt.id, receipt.seq, one.delayed_ms, one.reachability)


async def broadcast(hub: Hub, message: str, *, key: str | None = None) -> Broadcast:
    """Send to every other agent, each pair under its own limit."""
    result = await hub.broadcast(message, idempotency_key=key)
    failed = [{key: value for key, value in one.items() if value is not None} for one in result["failed"]]
    return Broadcast(result["delivered_to"], failed, result["broadcast_id"])
