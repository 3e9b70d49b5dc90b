"""Ways out of the sandbox, as data: what is tried, and whether it works where there is no sandbox.

OUTSIDE, PROJECT, HOME, PID, PORT, ABSTRACT and SHARED stand for what test_escapes.py has set up.
"""

from msgspec import Struct


class Attempt(Struct, frozen=True):
    name: str
    script: str
    works_without: bool = False
    """It is tried without the sandbox too, and escapes."""


READ = "print(open({!r}).read())"
ATTEMPTS = [
    # Paths and links
    Attempt("read a file beside the project", READ.format("../outside/secret"), True),
    Attempt("read an absolute path", READ.format("OUTSIDE/secret"), True),
    Attempt("read a path with too many ..", READ.format("../" * 40 + "OUTSIDE/secret"), True),
    Attempt("follow a link that leads out", READ.format("link"), True),
    Attempt("follow a linked folder", READ.format("linked-folder/secret"), True),
    Attempt(
        "make a link and follow it", "import os\nos.symlink('OUTSIDE/secret', 'l')\n" + READ.format("l"), True
    ),
    Attempt("make a hard link", "import os\nos.link('OUTSIDE/secret', 'h')\n" + READ.format("h"), True),
    Attempt("write beside the project", "open('../outside/new', 'w').write('x')", True),
    Attempt("write to an absolute path", "open('OUTSIDE/new', 'w').write('x')", True),
    Attempt("write through a linked folder", "open('linked-folder/new', 'w').write('x')", True),
    Attempt("overwrite through a link", "open('link', 'w').write('x')", True),
    Attempt("remove through a linked folder", "import os\nos.remove('linked-folder/secret')", True),
    Attempt("move the secret in", "import os\nos.rename('OUTSIDE/secret', 's')", True),
    Attempt("write into /usr", "open('/usr/escaped', 'w')\nprint('ESCAPED')"),
    Attempt("write into /etc", "open('/etc/passwd', 'a')\nprint('ESCAPED')"),
    Attempt("write into the root", "open('/escaped', 'w')\nprint('ESCAPED')"),
    Attempt(
        "list homes",
        "import os\nprint('ESCAPED', os.listdir('/root'), os.listdir('/home'))",
    ),
    # Moot's own home, which is inside the project
    Attempt("read the keys", READ.format("state/inner/.moot/keys.json"), True),
    Attempt("read the database", READ.format("HOME/moot.db"), True),
    Attempt("read the token", READ.format("HOME/run/token"), True),
    Attempt("read another agent's workspace", READ.format("HOME/agents/other/ROLE.md"), True),
    Attempt("write into the home", "open('HOME/moot.toml', 'w').write('x')"),
    Attempt("replace the home", "import os\nos.rename('HOME', 'HOME.old')\nprint('ESCAPED')"),
    Attempt("move what is above the home", "import os\nos.rename('state', 'moved')\nprint('ESCAPED')"),
    Attempt(
        "move the folder above the home", "import os\nos.rename('state/inner', 'moved')\nprint('ESCAPED')"
    ),
    Attempt("remove what is above the home", "import shutil\nshutil.rmtree('state')\nprint('ESCAPED')"),
    Attempt("move the project", "import os\nos.rename('PROJECT', 'PROJECT.old')\nprint('ESCAPED')"),
    Attempt(
        "take the cover off the home",
        "import ctypes\nprint('ESCAPED' if ctypes.CDLL(None).umount2(b'HOME', 2) == 0 else 'no')",
    ),
    # /proc
    Attempt("read the environment", "import os\nprint(os.environ.get('MOOT_SECRET'))"),
    Attempt(
        "read every environment there is",
        "import glob\n"
        "known = 'PATH HOME TMPDIR USER LOGNAME LANG LC_CTYPE TERM NO_COLOR PAGER GIT_PAGER GIT_TERMINAL_PROMPT "
        "PYTHONDONTWRITEBYTECODE PWD'.split()\n"
        "every = [open(path).read().split('\\0') for path in glob.glob('/proc/[0-9]*/environ')]\n"
        "names = {word.partition('=')[0] for words in every for word in words if word}\n"
        "print('ESCAPED' if names - set(known) else 'no', names)",
    ),
    Attempt("go through the first process's root", READ.format("/proc/1/root/OUTSIDE/secret")),
    Attempt("go through the first process's folder", READ.format("/proc/1/cwd/OUTSIDE/secret")),
    Attempt(
        "go up from an own descriptor",
        "import os\nos.chdir('/proc/self/fd/..')\n" + READ.format("../../OUTSIDE/secret"),
    ),
    Attempt(
        "use a descriptor left open",
        "import os\n"
        "kinds = {os.readlink(f'/proc/{p}/fd/{n}') for p in (1, 'self') for n in os.listdir(f'/proc/{p}/fd') "
        "if os.path.lexists(f'/proc/{p}/fd/{n}')}\n"
        "bad = [k for k in kinds if not k.startswith(('pipe:', '/dev/null', '/proc/', 'anon_inode:'))]\n"
        "print('ESCAPED' if bad else 'no', kinds)",
    ),
    Attempt(
        "see what is hidden on a command line",
        "print('ESCAPED' if b'.moot' in open('/proc/1/cmdline', 'rb').read() else 'no')",
    ),
    Attempt("read the parent's memory", "open('/proc/PID/mem', 'rb')\nprint('ESCAPED')"),
    Attempt(
        "turn a switch of the kernel",
        "p = '/proc/sys/kernel/core_pattern'\nv = open(p).read()\nopen(p, 'w').write(v)\nprint('ESCAPED')",
    ),
    Attempt(
        "reach the magic request key",
        "import os\nos.open('/proc/sysrq-trigger', os.O_WRONLY)\nprint('ESCAPED')",
    ),
    Attempt("read the kernel's memory", "print('ESCAPED', open('/proc/kcore', 'rb').read(16))"),
    Attempt("read the key rings", "print('ESCAPED' if open('/proc/keys').read() else 'no')"),
    # Devices and privilege
    Attempt(
        "find a device",
        "import os\n"
        "known = set('core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero console'.split())\n"
        "print('ESCAPED' if set(os.listdir('/dev')) - known else 'no', os.listdir('/dev'))",
    ),
    Attempt(
        "make a device",
        "import os, stat\nos.mknod('d', stat.S_IFBLK | 0o600, os.makedev(8, 0))\nprint('ESCAPED')",
    ),
    Attempt("reach a terminal", "import os\nos.open('/dev/tty', os.O_RDWR)\nprint('ESCAPED')"),
    Attempt(
        "leave a setuid file", "import os\nopen('f', 'w')\nos.chmod('f', 0o4755)\nprint('ESCAPED')", True
    ),
    Attempt(
        "open a setuid file",
        "import os\nos.open('f', os.O_CREAT | os.O_WRONLY, 0o4755)\nprint('ESCAPED')",
        True,
    ),
    Attempt(
        "have or gain a privilege",
        "s = dict(l.split(':\\t') for l in open('/proc/self/status').read().splitlines() if ':\\t' in l)\n"
        "fine = s['NoNewPrivs'] == '1' and all(int(s[c], 16) == 0 for c in ('CapEff', 'CapPrm', 'CapBnd', 'CapAmb'))\n"
        "print('no' if fine else 'ESCAPED', s)",
    ),
    Attempt("become root", "import os\nos.setuid(0)\nprint('ESCAPED')"),
    Attempt("set the clock", "import time\ntime.clock_settime(0, time.time())\nprint('ESCAPED')"),
    Attempt(
        "mount",
        "import ctypes\nprint('ESCAPED' if ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, None) == 0 else 'no')",
    ),
    *(
        Attempt(
            f"enter a new {name} namespace",
            f"import ctypes\nprint('ESCAPED' if ctypes.CDLL(None).unshare({flag:#x}) == 0 else 'no')",
        )
        for name, flag in [("user", 0x10000000), ("mount", 0x20000), ("network", 0x40000000)]
    ),
    Attempt("change the root", "import os\nos.chroot('/tmp')\nprint('ESCAPED')"),
    Attempt(
        "ask for a key",
        "import ctypes, platform\n"
        "number = {'x86_64': 250, 'aarch64': 219}.get(platform.machine())\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print('ESCAPED' if number and libc.syscall(number, 0, -3, 1) >= 0 else 'no')",
        True,
    ),
    # Other processes
    Attempt("signal the parent", "import os\nos.kill(PID, 0)\nprint('ESCAPED')", True),
    Attempt(
        "trace another process",
        "import ctypes, os, time\n"
        "child = os.fork()\n"
        "if not child: time.sleep(60)\n"
        "print('ESCAPED' if ctypes.CDLL(None).ptrace(16, child, 0, 0) == 0 else 'no', flush=True)\n"
        "os.kill(child, 9)",
        True,
    ),
    Attempt(
        "see other processes",
        "import os\npids = [p for p in os.listdir('/proc') if p.isdigit()]\n"
        "print('ESCAPED' if len(pids) > 4 else 'no', pids)",
        True,
    ),
    # The network and other ways to talk
    Attempt(
        "connect to a port on this machine",
        "import socket\nprint(socket.create_connection(('127.0.0.1', PORT), 30).recv(99).decode())",
        True,
    ),
    Attempt(
        "connect to an abstract socket",
        "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0ABSTRACT')\nprint(s.recv(99).decode())",
        True,
    ),
    Attempt(
        "connect to a socket outside",
        "import os, socket\nos.chdir('../outside')\n"
        "s = socket.socket(socket.AF_UNIX)\ns.connect('sock')\nprint(s.recv(99).decode())",
        True,
    ),
    Attempt(
        "find a network",
        "import socket\nprint('ESCAPED' if [i for i in socket.if_nameindex() if i[1] != 'lo'] else 'no')",
    ),
    Attempt(
        "talk past the network",
        "import socket\n"
        "for kind in (38, 40, 30, 31, 44):\n"
        "  for way in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW):\n"
        "    try: socket.socket(kind, way); print('ESCAPED', kind)\n"
        "    except OSError: pass",
    ),
    Attempt("read shared memory", READ.format("/dev/shm/SHARED"), True),
]
