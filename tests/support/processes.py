"""Starting processes of our own for fault tests, ending them by their id, and keeping what a failure left."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import json

from tests.support.waiting import PATIENCE, until

ROOT = Path(__file__).resolve().parents[2]
NIGHTLY = os.environ.get("MOOT_TIER", "fast") == "nightly"
SCALE = 10 if NIGHTLY else 1
"""How much larger the nightly tier is."""


def start(module: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    """A module of the test tree as a process, talked to over its standard streams."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path_of_imports(), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def path_of_imports() -> str:
    """The test tree, and in front of it whatever was put there on purpose (tools/teeth.py does)."""
    return os.pathsep.join(part for part in (os.environ.get("PYTHONPATH", ""), str(ROOT)) if part)


class Server:
    """A process that answers each line with a line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def ask(self, **case: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.encode(case) + b"\n")
        self._process.stdin.flush()
        return json.decode(self._process.stdout.readline())


def tell(children: list[int], what: signal.Signals) -> None:
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, what)


async def stop(children: list[int], home: Path) -> None:
    """None of them in mid-commit: it would keep everybody from writing until it goes on, and is not tried here."""
    with (home / "run" / "writer.lock").open("rb") as lock:
        await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
        tell(children, signal.SIGSTOP)
        await until(lambda: asyncio.to_thread(states, children), lambda found: found == {"T"})


def states(children: list[int]) -> set[str]:
    """Of all their threads."""
    stats = [stat.read_text() for child in children for stat in Path(f"/proc/{child}/task").glob("*/stat")]
    return {stat.rpartition(")")[2].split()[0] for stat in stats}


@contextmanager
def serving(module: str, **environment: str) -> Iterator[Server]:
    process = start(module, **environment)
    try:
        yield Server(process)
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill it, if it still runs, and wait until it is gone."""
    if process.poll() is None:
        process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.wait(PATIENCE)


def seed_of_this_run() -> int:
    """Chance is chosen anew each run and printed; MOOT_SEED repeats a run."""
    seed = int(os.environ.get("MOOT_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
    print(f"seed {seed} (repeat with MOOT_SEED={seed})")
    return seed


@contextmanager
def kept_on_failure(name: str, home: Path, seed: int = 0) -> Iterator[None]:
    """When the block fails, the home with its ledger and store goes to artifacts/, with the seed."""
    try:
        yield
    except BaseException as failure:
        target = ROOT / "artifacts" / name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        if home.exists():
            shutil.copytree(home, target / "home", ignore=shutil.ignore_patterns("*.sock"))
        (target / "failure.txt").write_text(f"seed {seed}\n{failure}\n", encoding="utf-8")
        failure.add_note(f"seed, ledger and store are in artifacts/{name}")
        raise
