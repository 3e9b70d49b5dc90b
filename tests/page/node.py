"""Node and the packages of dashboard/: found or fetched once, then used by every test here.

Several processes run these tests side by side and share one dashboard/: whoever comes first installs and builds, and
the others wait for it. An installation under way would be taken apart by a second one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from tools import page

DASHBOARD = page.ROOT / "dashboard"
BUILT = page.ROOT / "src" / "moot" / "_web"
LOCK = page.ROOT / ".results" / "page.lock"
STAMP = DASHBOARD / "node_modules" / ".moot-lock"


@contextmanager
def _alone() -> Iterator[None]:
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def install() -> None:
    """The packages that the lock file names, unless they are there already."""
    digest = hashlib.sha256((DASHBOARD / "package-lock.json").read_bytes()).hexdigest()
    with _alone():
        if not STAMP.is_file() or STAMP.read_text() != digest:
            run("ci", "--no-audit", "--no-fund", "--loglevel=error")
            STAMP.write_text(digest)


def build() -> None:
    """The page as dashboard/ describes it now."""
    with _alone():
        if not page.is_built():
            page.build(page.ROOT, _node(), lambda text: None)


@cache
def _node() -> page.Node:
    return page.node() or page.install_node(lambda text: None)


def run(*arguments: str) -> str:
    """`npm ARGUMENTS` in dashboard/; what it printed, which a failure shows."""
    found = _node()
    path = f"{found.program.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environ = {**os.environ, "PATH": path, "NO_COLOR": "1"}
    command = found.npm(*arguments)
    done = subprocess.run(command, cwd=DASHBOARD, env=environ, check=False, text=True, capture_output=True)
    assert done.returncode == 0, (
        f"npm {' '.join(arguments)} failed:\n{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    )
    return done.stdout
