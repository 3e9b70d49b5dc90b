"""The sandbox of a tool's program: bubblewrap, what the program sees, and whether bubblewrap works here.

Above: shell.py wraps each run, offer.py asks whether there is a sandbox at all. Below: seccomp.py.
Not here: limits on time, output and processes (process.py), which hold without a sandbox too.

Inside are the system's programs, read-only; the project, at its own path; an empty /tmp; no network, no other process,
no variable, no home. Moot's own home is covered even if it lies in the project.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from moot.tools.seccomp import seccomp_filter

PATH: Final = "/usr/local/bin:/usr/bin:/bin"
"""Where programs are looked for, inside and outside alike."""
INSTALL: Final = "Install it (Debian, Ubuntu: apt install bubblewrap)"
_SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC: Final = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime")
# Files of /proc that tell of the whole machine, or of the user's keys.
_COVERED: Final = (
    "kallsyms",
    "kcore",
    "key-users",
    "keys",
    "kmsg",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "sched_debug",
    "slabinfo",
    "timer_list",
    "vmallocinfo",
)
_PROBE_SECONDS: Final = 10
_PROBE_SCRATCH: Final = 1024 * 1024
_SHARED_MEMORY: Final = 16 * 1024 * 1024
_ORDINARY_USER: Final = 1000
"""What root is called inside: programs that see user 0 believe they may do more than they can."""
_COUNTS_INSIDE: Final = (5, 14)
_NOTHING: Final = Path("/dev/null")
_OPTION: Final = re.compile(r"^ +(--[a-z-]+)", re.MULTILINE)


class ShownFiles(Struct, frozen=True):
    """What a program inside sees of our files, all resolved."""

    project: Path
    cwd: Path
    hidden: tuple[Path, ...]
    """Covered wherever they would be seen: Moot's home first of all."""
    scratch_bytes: int


class Wrapped(Struct, frozen=True):
    """A command that runs inside, and the files it reads from us; close them after it has started."""

    argv: tuple[str, ...]
    fds: tuple[int, ...]

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)


class Sandbox(Struct, frozen=True):
    """bubblewrap as it is here. If `why_off` is not empty, there is no sandbox and nothing may run."""

    bwrap: str = ""
    options: frozenset[str] = frozenset()
    """Of those that came with newer versions, the ones that work here."""
    why_off: str = ""

    @classmethod
    def find(cls, path: str | None = None) -> "Sandbox":
        """Look on PATH (or on `path`) and try it once; the answer is remembered for the life of the process."""
        search_path = os.environ.get("PATH", os.defpath) if path is None else path
        return _probe(shutil.which("bwrap", path=search_path))

    def wrap(self, argv: Sequence[str], shown: ShownFiles, processes: int) -> Wrapped:
        """The command that runs `argv`, whose first word is an absolute path, inside."""
        fds: list[int] = []
        flags = [*self._isolation(), *_view(shown, self._size_option(shown.scratch_bytes), fds)]
        flags += ["--chdir", str(shown.cwd)]
        if (filter_program := seccomp_filter()) is not None:
            flags += ["--seccomp", _memory_file(filter_program, fds)]
        # Not on the command line, which a program inside could read: the flags name what is hidden.
        options_file = _memory_file(b"".join(os.fsencode(flag) + b"\0" for flag in flags), fds)
        return Wrapped(
            (self.bwrap, "--args", options_file, "--", *_process_limit(processes), *argv), tuple(fds)
        )

    def _isolation(self) -> Iterator[str]:
        """Own namespaces of every kind, no privilege, no way to gain any, and an end with ours."""
        yield from ("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv")
        yield from ("--cap-drop", "ALL", "--hostname", "sandbox")
        yield from ("--uid", str(os.getuid() or _ORDINARY_USER), "--gid", str(os.getgid() or _ORDINARY_USER))
        if "--disable-userns" in self.options:
            yield "--disable-userns"
        for name, value in environment("/tmp").items():
            yield from ("--setenv", name, value)

    def _size_option(self, size: int) -> tuple[str, ...]:
        return ("--size", str(size)) if "--size" in self.options else ()


def environment(home: str) -> dict[str, str]:
    """All that a program finds in its environment, with a wall or without."""
    return {
        "PATH": PATH,
        "HOME": home,
        "TMPDIR": home,
        "USER": "agent",
        "LOGNAME": "agent",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def why_not_shown(project: Path, home: Path) -> str:
    """Why a folder cannot be opened to a program, as the end of a sentence; empty when it can. Both resolved."""
    if project == Path(project.anchor):
        return "is the whole file system"
    for inside in ("/proc", "/sys", "/dev", "/etc", "/boot"):
        if project.is_relative_to(inside):
            return f"is a part of the system ({inside})"
    for around in ("/usr", "/etc", "/var", "/tmp", "/run", "/home", Path.home()):
        if Path(around).is_relative_to(project):
            return f"contains {around}, which is far more than one project"
    if project.is_relative_to(home):
        return "is Moot's own home, or inside it"
    return ""


def _view(shown: ShownFiles, sized: tuple[str, ...], fds: list[int]) -> Iterator[str]:
    """The file system inside. Order matters: what comes later lies over what came before."""
    yield from ("--ro-bind", "/usr", "/usr")
    for top in _SYSTEM:
        if os.path.islink(top):
            yield from ("--symlink", os.readlink(top), top)
        elif os.path.isdir(top):
            yield from ("--ro-bind", top, top)
    for name in _ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    user, group = os.getuid() or _ORDINARY_USER, os.getgid() or _ORDINARY_USER
    passwd = f"agent:x:{user}:{group}:agent:/tmp:/bin/false\n"
    yield from ("--ro-bind-data", _memory_file(passwd.encode(), fds), "/etc/passwd")
    yield from ("--ro-bind-data", _memory_file(f"agent:x:{group}:\n".encode(), fds), "/etc/group")
    yield from _proc()
    shared = ("--size", str(_SHARED_MEMORY)) if sized else ()
    yield from ("--dev", "/dev", *shared, "--tmpfs", "/dev/shm", "--remount-ro", "/dev")
    yield from (*sized, "--tmpfs", "/tmp")
    if not shown.project.is_relative_to("/var/tmp"):
        yield from ("--symlink", "/tmp", "/var/tmp")
    # A home under /usr that holds the project: covered first, so that the project lies on the cover.
    around = [path for path in shown.hidden if shown.project.is_relative_to(path)]
    below = [path for path in around if path.is_relative_to("/usr")]
    for path in below:
        yield from ("--tmpfs", str(path))
    yield from ("--bind", str(shown.project), str(shown.project))
    rest = [path for path in shown.hidden if path not in around]
    yield from _cover(rest, Path("/usr"), "--ro-bind")
    yield from _cover(rest, shown.project, "--bind")
    for path in below:
        yield from ("--remount-ro", str(path))
    yield from ("--remount-ro", "/")


def _proc() -> Iterator[str]:
    """Read-only as a whole: root without any privilege still owns the switches under /proc/sys."""
    yield from ("--proc", "/proc")
    for name in _COVERED:
        if os.path.exists(f"/proc/{name}"):
            yield from ("--ro-bind", str(_NOTHING), f"/proc/{name}")
    yield from ("--remount-ro", "/proc")


def _cover(paths: Sequence[Path], root: Path, bind: str) -> Iterator[str]:
    """Lay nothing over paths, after every folder between them and `root` was made to stay in place.

    A folder that only lies above a cover could be renamed from inside, and the next run would look for the cover's
    place in vain.
    """
    found = [path for path in paths if root in path.parents and path.exists()]
    above = {folder for path in found for folder in path.parents if root in folder.parents}
    for folder in sorted(above):
        yield from (bind, str(folder), str(folder))
    for path in found:
        if path.is_dir():
            yield from ("--tmpfs", str(path), "--remount-ro", str(path))
        else:
            yield from ("--ro-bind", str(_NOTHING), str(path))


def _process_limit(processes: int) -> tuple[str, ...]:
    """Set inside the sandbox, where newer kernels count only its own processes; older ones count all of the user's."""
    prlimit = shutil.which("prlimit", path=PATH)
    kernel = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
    return (prlimit, f"--nproc={processes}:{processes}", "--") if prlimit and kernel >= _COUNTS_INSIDE else ()


def _memory_file(content: bytes, fds: list[int]) -> str:
    """Write a file that exists only in memory. Returns its descriptor."""
    fd = os.memfd_create("moot")
    fds.append(fd)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return str(fd)


@lru_cache(maxsize=8)
def _probe(bwrap: str | None) -> Sandbox:
    if bwrap is None:
        return Sandbox(why_off=f"bubblewrap (bwrap) is not installed. {INSTALL}")
    try:
        shown = subprocess.run(
            [bwrap, "--help"], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Sandbox(why_off=f"{bwrap} cannot be run ({error.__class__.__name__}). {INSTALL} again")
    supported = frozenset(_OPTION.findall(shown.stdout)) & {"--size", "--disable-userns"}
    trouble = ""
    for options in (supported, supported - {"--disable-userns"}):
        sandbox = Sandbox(bwrap, options)
        trouble = _trouble(sandbox)
        if not trouble:
            return sandbox
    return Sandbox(
        why_off=(
            f"bubblewrap is installed but does not work here: {trouble}. The system has to allow user "
            "namespaces; containers and some hardened systems forbid them"
        )
    )


def _trouble(sandbox: Sandbox) -> str:
    """Why nothing can be run inside, in bubblewrap's words; empty when it can."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve()
        program = shutil.which("true", path=PATH) or "/bin/true"
        wrapped = sandbox.wrap((program,), ShownFiles(project, project, (), _PROBE_SCRATCH), processes=16)
        try:
            done = subprocess.run(
                wrapped.argv,
                capture_output=True,
                pass_fds=wrapped.fds,
                env={},
                timeout=_PROBE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return error.__class__.__name__
        finally:
            wrapped.close()
    if done.returncode == 0:
        return ""
    printed = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return printed[0].removeprefix("bwrap: ")[:200] if printed else f"exit code {done.returncode}"
