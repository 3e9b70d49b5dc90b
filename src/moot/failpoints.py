"""Named points at which a test can make the process die, fail or stall: `MOOT_FAILPOINT=name:action:n`.

The action (`kill`, `raise`, `sleep`) is taken when the point is reached for the n-th time. Without that variable
a failpoint costs one function call and does nothing.
"""

import os
import signal
import time

_SPEC = os.environ.get("MOOT_FAILPOINT", "")
_STALL_SECONDS = 1.0

POINTS = (
    "write.begin",
    "write.begun",
    "write.loaded",
    "write.decided",
    "write.messages",
    "write.turns",
    "write.events",
    "write.precommit",
    "write.postcommit",
    "write.preack",
    "host.claimed",
    "host.prethink",
    "host.intended",
    "host.tool_ran",
    "host.thought",
    "host.finished",
    "host.attached",
    "sweep.begun",
)
"""Every failpoint there is on the way of a message; a test holds the list against the code."""

AUDIT_POINTS = ("audit.sealed", "audit.half_written", "audit.rewriting")
"""Those on the way of what the audit writes down outside the database."""


RELAY_POINTS = ("relay.claimed", "relay.produced", "relay.marked")
"""Those on the way of a record to a log outside."""
BRIDGE_POINTS = (
    "bridge.heard",
    "bridge.posted",
    "bridge.taken",
    "bridge.begun",
    "bridge.carried_out",
    "bridge.planned",
    "bridge.intended",
    "bridge.sent",
    "bridge.resulted",
)
"""Those on the way in from a chat app and out to it."""
NOTICE_POINTS = ("bridge.noticed",)
"""Those where a chat is told whom it waits for."""
TRANSFER_POINTS = ("transfer.piece",)
"""Those on the way of a home from one store to another."""


class Failpoint:
    """The one point a process is to fail at, if any."""

    def __init__(self, spec: str) -> None:
        self.arm(spec)

    def arm(self, spec: str) -> None:
        name, action, count = [*spec.split(":"), "kill", "1"][:3] if spec else ("", "", "0")
        self.name = name
        self.action = action
        self.left = int(count)

    def reached(self, name: str) -> None:
        if name != self.name or self.left <= 0:
            return
        self.left -= 1
        if self.left:
            return
        if self.action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.action == "raise":
            raise OSError(f"failpoint {name}")
        elif self.action == "sleep":
            time.sleep(_STALL_SECONDS)


_active = Failpoint(_SPEC)


def arm(spec: str) -> None:
    """Choose another point, in a process that was started with one (`none` will do)."""
    _active.arm(spec)


def is_armed() -> bool:
    """Whether the chosen point was not met often enough yet."""
    return _active.left > 0


if _SPEC:
    failpoint = _active.reached
else:

    def failpoint(name: str) -> None:
        """Nothing, unless a test asked for it."""
