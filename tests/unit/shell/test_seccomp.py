"""The filter is read back by a small machine, so that a wrong jump cannot hide behind a number that looks right."""

import errno
import platform
import struct

import pytest

from moot.tools.seccomp import seccomp_filter

pytestmark = pytest.mark.req("K-10")

ALLOWED, REFUSED, UNKNOWN = "allowed", "refused", "unknown"
ANSWERS = {0x7FFF0000: ALLOWED, 0x00050000 | errno.EPERM: REFUSED, 0x00050000 | errno.ENOSYS: UNKNOWN}
X86, ARM = (0xC000003E, "x86_64"), (0xC00000B7, "aarch64")


def answer(machine: tuple[int, str], number: int, *arguments: int, arch: int | None = None) -> str:
    """What the kernel would do, by its rules for classic BPF."""
    code = seccomp_filter(machine[1])
    assert code is not None
    steps = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    words = {0: number, 4: machine[0] if arch is None else arch}
    words |= {16 + 8 * place: value for place, value in enumerate((*arguments, *[0] * (6 - len(arguments))))}
    accumulator, at = 0, 0
    while True:
        operation, yes, no, operand = steps[at]
        at += 1
        match operation:
            case 0x20:
                accumulator = words[operand]
            case 0x15:
                at += yes if accumulator == operand else no
            case 0x35:
                at += yes if accumulator >= operand else no
            case 0x45:
                at += yes if accumulator & operand else no
            case 0x06:
                return ANSWERS[operand]
            case other:
                raise AssertionError(f"the kernel knows no operation {other:#x}")


@pytest.mark.parametrize(
    ("machine", "number", "arguments", "expected"),
    [
        (X86, 0, (), ALLOWED),  # read
        (X86, 59, (), ALLOWED),  # execve
        (X86, 165, (), REFUSED),  # mount
        (X86, 101, (), REFUSED),  # ptrace
        (X86, 250, (), REFUSED),  # keyctl
        (X86, 435, (), UNKNOWN),  # clone3
        (X86, 437, (), UNKNOWN),  # openat2
        (X86, 90, (0, 0o755), ALLOWED),  # chmod
        (X86, 90, (0, 0o4755), REFUSED),
        (X86, 90, (0, 0o2755), REFUSED),
        (X86, 268, (0, 0, 0o4755), REFUSED),  # fchmodat
        (X86, 257, (0, 0, 0o101, 0o644), ALLOWED),  # openat
        (X86, 257, (0, 0, 0o101, 0o6755), REFUSED),
        (X86, 56, (0x11,), ALLOWED),  # clone: fork
        (X86, 56, (0x10000011,), REFUSED),  # clone: a user namespace
        (X86, 16, (0, 0x5401), ALLOWED),  # ioctl: TCGETS
        (X86, 16, (0, 0x5412), REFUSED),  # ioctl: TIOCSTI
        (X86, 16, (0, 0x541C), REFUSED),  # ioctl: TIOCLINUX
        (X86, 41, (2,), ALLOWED),  # socket: IPv4
        (X86, 41, (1,), ALLOWED),  # socket: local
        (X86, 41, (40,), REFUSED),  # socket: a virtual machine's host
        (X86, 41, (38,), REFUSED),  # socket: the kernel's ciphers
        (ARM, 198, (16,), ALLOWED),
        (ARM, 198, (40,), REFUSED),
        (X86, 0x40000000 | 59, (), REFUSED),  # the x32 way in
        (ARM, 63, (), ALLOWED),  # read
        (ARM, 40, (), REFUSED),  # mount
        (ARM, 53, (0, 0, 0o4755), REFUSED),  # fchmodat
        (ARM, 90, (0, 0o4755), ALLOWED),  # capget, which is chmod elsewhere
        (ARM, 220, (0x10000011,), REFUSED),
        (ARM, 29, (0, 0x5412), REFUSED),
    ],
)
def test_the_filter_answers(
    machine: tuple[int, str], number: int, arguments: tuple[int, ...], expected: str
) -> None:
    assert answer(machine, number, *arguments) == expected


def test_another_way_of_calling_the_kernel_is_refused() -> None:
    assert answer(X86, 3, arch=0x40000003) == REFUSED


def test_an_unknown_machine_has_no_filter() -> None:
    assert seccomp_filter("riscv64") is None
    assert platform.machine() not in ("x86_64", "aarch64") or seccomp_filter() is not None
