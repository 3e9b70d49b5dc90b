"""Runs a program and, when it or the host ends in any way, ends everything the program started.

cli_process.py runs this file as a script, in a fresh interpreter; it imports nothing of Moot.

    keeper.py TERMS PROGRAM WORD…

TERMS is JSON: `host`, the process to end with; `folder`, where it has to be; `life`, a pipe that the host holds open
for as long as it lives; `rlimits`, name → number; `grace`, seconds between being asked to end and being ended. Three
signs end the program: the pipe closes, the kernel says that the host has died, or the host sends TERM. Processes that
the program started in sessions of their own become children of this one when their parent dies (it is the subreaper),
and are ended too.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_CANNOT_START = 127
_LOOK_SECONDS = 0.02


def descendants(pid: int) -> list[int]:
    """All processes below one, parents first."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):  # it ended while we looked
            for thread in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{thread}/children", encoding="ascii") as children:
                    found += [int(child) for child in children.read().split()]
    return found[1:]


def main(arguments: list[str]) -> None:
    terms, command = json.loads(arguments[0]), arguments[1:]
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for sign in (signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda *_: None)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != terms["host"]:  # the host ended before the line above
        os._exit(_CANNOT_START)
    if os.getcwd() != terms["folder"]:  # a link was put in the way after the folder was checked
        _refuse(f"its folder {terms['folder']} leads to {os.getcwd()} now")
    for name, number in terms["rlimits"].items():
        _limit(getattr(resource, f"RLIMIT_{name}"), number)
    program = os.fork()
    if program == 0:
        _exec(command, close=(wake, woken, terms["life"]))
    _release_pipes()
    code = _watch(program, wake, terms["life"])
    _end(program, code, terms["grace"])


def _exec(command: list[str], close: tuple[int, ...]) -> None:
    signal.set_wakeup_fd(-1)
    for sign in (signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, signal.SIG_DFL)
    for fd in close:
        os.close(fd)
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        _refuse(f"{cannot_start(command[0])}{error.strerror}")


def cannot_start(program: str) -> str:
    """The beginning of the error when a program could not be started."""
    return f"cannot start {program}: "


def _refuse(why: str) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    sys.stderr.flush()
    os._exit(_CANNOT_START)


def _release_pipes() -> None:
    """Only the program holds its pipes, so that their reader notices when it ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)


def _watch(program: int, wake: int, life: int) -> int | None:
    """Wait until the program has ended, and return its exit code; None if it has to be ended."""
    poll = select.poll()
    poll.register(wake, select.POLLIN)
    poll.register(life, select.POLLIN | select.POLLHUP)
    while True:
        for fd, _ in poll.poll():
            if fd == life:
                return None
            if signal.SIGTERM in os.read(wake, 512):
                return None
        code = _reap(program)
        if code is not None:
            return code


def _reap(program: int) -> int | None:
    """Reap the processes that have ended. Returns the exit code of the program, if it is among them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == program:
                code = os.waitstatus_to_exitcode(status)
    return code


def _end(program: int, code: int | None, grace: float) -> None:
    """TERM to the program's group, so that it can clean up; then KILL to everything that is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program, signal.SIGTERM)
    until = time.monotonic() + (grace if code is None else 0.0)
    while descendants(os.getpid()) and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
        code = _reap(program) if code is None else (_reap(program), code)[1]
    while remaining := descendants(os.getpid()):
        for pid in remaining:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        _reap(program)
        time.sleep(_LOOK_SECONDS)
    os._exit(128 + signal.SIGTERM if code is None else code if code >= 0 else 128 - code)


def _limit(which: int, number: int) -> None:
    """Set both limits; never above the hard limit of this process."""
    _, hard = resource.getrlimit(which)
    number = number if hard == resource.RLIM_INFINITY else min(number, hard)
    with contextlib.suppress(ValueError, OSError):  # a system that knows the limit and does not take it
        resource.setrlimit(which, (number, number))


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
