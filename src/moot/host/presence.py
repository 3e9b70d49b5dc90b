"""Who is still there: a process of this machine by its id, one of another machine by its lease alone.

Above: the runtime, sessions and readers of a home; nothing else looks at process ids. Below: liveness.py asks the
kernel.
"""

import os
import platform
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from moot.host.liveness import is_alive
from moot.model.participant import Host

IDENTITIES = ("/proc/sys/kernel/random/boot_id", "/etc/machine-id")
"""The first that can be read identifies the machine; process ids are valid for one boot only."""
PROCESS_IDS = "/proc/self/ns/pid"
"""A container numbers its processes by itself."""
UNKNOWN = ""
"""The machine of hosts stored by version 0.1, which knew only one."""


@cache
def this_machine() -> str:
    """The same for all processes that can see each other's ids, and for nobody else."""
    identity = platform.node()
    for path in IDENTITIES:
        with suppress(OSError):
            identity = Path(path).read_text(encoding="ascii")
            break
    with suppress(OSError):
        identity += os.readlink(PROCESS_IDS)
    return sha256(identity.encode()).hexdigest()[:16]


class MachinePresence:
    """`Presence` as it is seen from one machine."""

    def __init__(self, machine: str = "") -> None:
        self.machine = machine or this_machine()

    def is_local(self, machine: str) -> bool:
        return machine in (UNKNOWN, self.machine)

    def may_run(self, pid: int, machine: str) -> bool:
        return not self.is_local(machine) or is_alive(pid)

    def has_died(self, host: Host) -> bool:
        return not self.may_run(host.pid, host.machine)

    def is_here(self, host: Host, now: float) -> bool:
        return host.lease_until > now and not self.has_died(host)
