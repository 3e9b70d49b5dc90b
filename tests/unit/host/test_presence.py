"""Who is still there: by process id on this machine, by lease alone anywhere else."""

import os
import subprocess
import sys

import pytest

from moot.host.presence import UNKNOWN, MachinePresence, this_machine
from moot.model.ids import HostId
from moot.model.participant import Host

NO_PROCESS = 2**22 + 1
"""A process id that no system gives out."""
NOW = 100.0


def host(pid: int, machine: str, lease_until: float = NOW + 10) -> Host:
    return Host(HostId("h"), pid, (), lease_until, 1.0, machine=machine)


@pytest.mark.parametrize("machine", [this_machine(), UNKNOWN], ids=["this", "unknown"])
def test_a_process_of_this_machine_that_is_gone_is_gone_at_once(machine: str) -> None:
    presence = MachinePresence()
    assert presence.is_here(host(os.getpid(), machine), NOW)
    assert not presence.has_died(host(os.getpid(), machine))
    assert not presence.is_here(host(NO_PROCESS, machine), NOW)
    assert presence.has_died(host(NO_PROCESS, machine))


def test_a_process_of_this_machine_whose_lease_has_ended_is_not_here_though_it_runs() -> None:
    late = host(os.getpid(), this_machine(), lease_until=NOW)
    assert not MachinePresence().is_here(late, NOW)
    assert not MachinePresence().has_died(late)


@pytest.mark.parametrize("pid", [NO_PROCESS, os.getpid()], ids=["gone", "runs"])
def test_of_another_machine_the_lease_alone_decides(pid: int) -> None:
    presence = MachinePresence()
    there = host(pid, "another machine")
    assert presence.is_here(there, NOW)
    assert not presence.is_here(there, there.lease_until)
    assert not presence.has_died(there)
    assert presence.may_run(NO_PROCESS, "another machine")


def test_all_processes_of_a_machine_call_it_the_same() -> None:
    asked = "from moot.host.presence import this_machine; print(this_machine())"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == this_machine() != ""
