"""One message to many: each pair is on its own, and one refusal does not stop the others."""

from collections.abc import Awaitable
from typing import Any

from moot.errors import NotFound, NotPermitted


class Broadcast:
    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._delivered: list[str] = []
        self._failed: list[dict[str, Any]] = []

    async def try_one(self, name: str, sending: Awaitable[Any]) -> None:
        try:
            await sending
        except (NotPermitted, NotFound) as refusal:
            self._failed.append({"agent": name, "error": refusal.title})
        except Exception as refusal:  # each pair is on its own: one refusal must not stop the others
            after = getattr(refusal, "retry_after_ms", None)
            self._failed.append({"agent": name, "error": str(refusal), "retry_after_ms": after})
        else:
            self._delivered.append(name)

    def to_dict(self) -> dict[str, Any]:
        return {
            "delivered_to": self._delivered,
            "failed": self._failed,
            "broadcast_id": self._identity,
        }
