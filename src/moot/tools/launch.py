"""The last step before a program: limits are set, then this process becomes the program, or watches over it.

process.py runs this file as a script, in a fresh interpreter, so that nothing has to happen between fork and exec
inside Moot, where other threads hold locks. It therefore imports nothing of Moot.

    launch.py TERMS PROGRAM WORD…

TERMS is JSON: `parent`, the process to die with; `rlimits`, name → number; `supervise`, true where no sandbox ends
what the program leaves running.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_NICE = 10
_KILL_ME_FIRST = "1000"
_CANNOT_START = 127


def descendants(pid: int, limit: int = 100_000) -> list[int]:
    """All processes below one, parents first; none where the kernel does not tell. At most `most` are counted."""
    found = [pid]
    for parent in found:
        if len(found) > limit:
            break
        with contextlib.suppress(OSError):  # it ended while we looked
            for thread in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{thread}/children", encoding="ascii") as children:
                    found += [int(child) for child in children.read().split()]
    return found[1:]


def kill_all(pids: list[int], sign: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, sign)


def main(arguments: list[str]) -> None:
    terms, command = json.loads(arguments[0]), arguments[1:]
    _die_with(terms["parent"], signal.SIGTERM if terms["supervise"] else signal.SIGKILL)
    for name, number in terms["rlimits"].items():
        _limit(getattr(resource, f"RLIMIT_{name}"), number)
    os.nice(_NICE)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write(_KILL_ME_FIRST)
    if terms["supervise"]:
        _supervise(command)
    _exec(command)


def _limit(which: int, number: int) -> None:
    """Both limits; never above what this process was given."""
    _, hard = resource.getrlimit(which)
    number = number if hard == resource.RLIM_INFINITY else min(number, hard)
    with contextlib.suppress(ValueError, OSError):  # a system that knows the limit and does not take it
        resource.setrlimit(which, (number, number))


def _exec(command: list[str]) -> None:
    try:
        os.execv(command[0], command)
    except OSError as error:
        sys.stderr.write(f"cannot start {os.path.basename(command[0])}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(_CANNOT_START)


def _supervise(command: list[str]) -> None:
    """Start the program, exit with its exit code, and end everything it left running."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGTERM, lambda *_: _end(_CANNOT_START))
    program = os.fork()
    if program == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _die_with(os.getppid(), signal.SIGKILL)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _exec(command)
    while True:
        ended, status = os.wait()
        if ended == program:
            _end(os.waitstatus_to_exitcode(status))


def _end(code: int) -> None:
    while remaining := descendants(os.getpid()):
        kill_all(remaining, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.wait()
    os._exit(code if code >= 0 else 128 - code)


def _die_with(parent: int, sign: signal.Signals) -> None:
    _prctl(_PR_SET_PDEATHSIG, sign)
    if os.getppid() != parent:  # the parent ended before the line above
        os._exit(_CANNOT_START)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
