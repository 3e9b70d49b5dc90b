"""System calls a sandboxed program has no business making, as a filter the kernel runs.

Above: sandbox.py hands it to bubblewrap. Below: nothing.
Not here: everything namespaces already hold. This takes away what they do not: the key rings a session inherits,
the kernel's widest doors (bpf, io_uring, perf, userfaultfd), kinds of sockets that no network namespace separates
(a virtual machine's way to its host is one), looking into other processes, mounting, and setting the setuid bit on a
file that stays behind in the project.

The format is classic BPF: eight bytes an instruction, jumps only forward. A machine we have no numbers for gets no
filter; the other walls stand without it.
"""

import errno
import platform
import struct
from collections.abc import Iterable
from typing import Final

_LOAD: Final = 0x20  # A = word at k
_EQUAL: Final = 0x15  # if A == k
_AT_LEAST: Final = 0x35  # if A >= k
_ANY_BIT: Final = 0x45  # if A & k
_RETURN: Final = 0x06
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000 | errno.EPERM
_UNKNOWN: Final = 0x00050000 | errno.ENOSYS
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
_SET_ID: Final = 0o6000
_X32: Final = 0x40000000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

# By name: (x86_64, aarch64). None: the machine has no such call.
_REFUSED: Final[dict[str, tuple[int | None, int | None]]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setns": (308, 268),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
# Answered as if the kernel were older, so that libraries take the way they took before these existed. Their flags
# are behind a pointer, where no filter can look.
_OLDER_KERNEL: Final[dict[str, tuple[int | None, int | None]]] = {
    "clone3": (435, 435),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "openat2": (437, 437),
}
# Where a file's mode is given: (x86_64, aarch64), which argument.
_MODES: Final[dict[str, tuple[tuple[int | None, int | None], int]]] = {
    "chmod": ((90, None), 1),
    "creat": ((85, None), 1),
    "fchmod": ((91, 52), 1),
    "fchmodat": ((268, 53), 2),
    "fchmodat2": ((452, 452), 2),
    "mknod": ((133, None), 1),
    "mknodat": ((259, 33), 2),
    "open": ((2, None), 2),
    "openat": ((257, 56), 3),
}
_NEW_NAMESPACES: Final = 0x7E020000  # the flags of clone that make one
_MACHINES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_CLONE: Final = (56, 220)
_IOCTL: Final = (16, 29)
_SOCKET: Final = (41, 198)
_SOCKET_KINDS: Final = (1, 2, 10, 16)
"""Local, IPv4, IPv6 and netlink: those a network namespace holds."""

_Step = tuple[int, int, int, int]
"""Operation, jump if true, jump if false, operand. Jumps count the instructions skipped."""


def seccomp_filter(machine: str | None = None) -> bytes | None:
    """The filter for this machine; None where we know no numbers."""
    calls = _MACHINES.get(machine or platform.machine())
    if calls is None:
        return None
    audit, column = calls
    steps: list[_Step] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if column == 0:
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _REFUSE)]
    for row in _OLDER_KERNEL.values():
        steps += _answer(row[column], _UNKNOWN)
    for row in _REFUSED.values():
        steps += _answer(row[column], _REFUSE)
    for row, argument in _MODES.values():
        steps += _if_argument(row[column], argument, (_ANY_BIT,), (_SET_ID,))
    steps += _if_argument(_CLONE[column], 0, (_ANY_BIT,), (_NEW_NAMESPACES,))
    steps += _if_argument(_IOCTL[column], 1, (_EQUAL, _EQUAL), (_TIOCSTI, _TIOCLINUX))
    steps += _unless_argument(_SOCKET[column], 0, _SOCKET_KINDS)
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _answer(number: int | None, answer: int) -> Iterable[_Step]:
    return [] if number is None else [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]


def _if_argument(
    number: int | None, argument: int, tests: tuple[int, ...], operands: tuple[int, ...]
) -> Iterable[_Step]:
    """Refuse the call where the low word of one argument passes a test."""
    if number is None:
        return []
    body: list[_Step] = [(_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * argument)]
    for test, operand in zip(tests, operands, strict=True):
        body += [(test, 0, 1, operand), (_RETURN, 0, 0, _REFUSE)]
    body.append((_RETURN, 0, 0, _ALLOW))
    return [(_EQUAL, 0, len(body), number), *body]


def _unless_argument(number: int, argument: int, allowed: tuple[int, ...]) -> Iterable[_Step]:
    """Refuse the call where the low word of one argument is none of these."""
    body: list[_Step] = [(_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * argument)]
    for value in allowed:
        body += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    body.append((_RETURN, 0, 0, _REFUSE))
    return [(_EQUAL, 0, len(body), number), *body]
