"""Plant known defects in a copy of the tree, one at a time, and see a named test turn red: `make teeth`.

A suite that cannot fail proves nothing. tests/teeth/defects.toml lists the defects: what is wrong, the pieces of
text to exchange, and the tests that must notice. First the named tests must be green on an unharmed copy; then
each defect gets a copy of its own. Exit 1 when a defect survives, when its text is no longer in the code, or when
a named test was not green to begin with; exit 2 when no defect is called by the words given.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DEFECTS = ROOT / "tests" / "teeth" / "defects.toml"
COPIED = ("src", "tests", "tools", "bench", "docs", "pyproject.toml", "README.md", "Makefile")
MAX_SECONDS = 180.0
AT_ONCE = 2
RED = 1
"""pytest's exit code for "tests ran and some failed"; anything else is no verdict."""
NO_VERDICT = -1


class BadDefect(Exception):
    """A defect that cannot be planted: its text is not in the code, or more than once."""


@dataclass(frozen=True)
class Patch:
    """In this file, this text, exactly once, becomes that one."""

    file: str
    find: str
    replace: str

    def apply(self, tree: Path) -> None:
        path = tree / self.file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if text.count(self.find) != 1:
            raise BadDefect(
                f"{self.file} holds the text {text.count(self.find)} times: {self.find.strip()[:60]!r}"
            )
        path.write_text(text.replace(self.find, self.replace), encoding="utf-8")


@dataclass(frozen=True)
class Defect:
    name: str
    tests: tuple[str, ...]
    patches: tuple[Patch, ...] = field(default=())


@dataclass(frozen=True)
class Verdict:
    name: str
    caught: bool
    seconds: float
    says: str


def read(path: Path) -> list[Defect]:
    rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["defect"]
    return [
        Defect(row["name"], tuple(row["tests"]), tuple(Patch(**patch) for patch in row["patches"]))
        for row in rows
    ]


def copy_tree(target: Path, root: Path = ROOT) -> None:
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in COPIED:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=ignore)
        elif source.exists():
            shutil.copyfile(source, target / name)


def run_tests(tree: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Run tests in a copy, with its own source in front of everything installed."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "MOOT_NO_SHRINK": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=MAX_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return NO_VERDICT, f"did not end within {MAX_SECONDS:g} s"
    last = done.stdout.strip().splitlines()
    failed = [line for line in last if line.startswith(("FAILED", "ERROR"))]
    return done.returncode, (failed or last or [done.stderr.strip()])[-1]


def try_defect(defect: Defect) -> Verdict:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="moot-teeth-") as folder:
        tree = Path(folder)
        copy_tree(tree)
        try:
            for patch in defect.patches:
                patch.apply(tree)
        except BadDefect as problem:
            return Verdict(defect.name, False, time.monotonic() - begun, f"cannot be planted: {problem}")
        code, says = run_tests(tree, defect.tests)
    return Verdict(
        defect.name, code == RED, time.monotonic() - begun, says if code == RED else f"SURVIVED ({says})"
    )


def unharmed_is_green(defects: Sequence[Defect]) -> tuple[bool, str]:
    """Whether all named tests pass as things are; each file of them in a run of its own, since together they would
    take longer than any one may."""
    by_file: dict[str, dict[str, None]] = {}
    for test in (test for defect in defects for test in defect.tests):
        by_file.setdefault(test.partition("::")[0], {})[test] = None
    with tempfile.TemporaryDirectory(prefix="moot-teeth-") as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        tree = Path(folder)
        copy_tree(tree)
        runs = list(pool.map(lambda named: run_tests(tree, list(named)), by_file.values()))
    red = [f"{file}: {says}" for file, (code, says) in zip(by_file, runs, strict=True) if code != 0]
    return not red, "\n".join(red) or f"{len(runs)} files of tests are green"


def lines(verdicts: Sequence[Verdict]) -> list[str]:
    width = max((len(verdict.name) for verdict in verdicts), default=0)
    rows = [
        f"{verdict.name:<{width}}  {'caught' if verdict.caught else 'MISSED'}  {verdict.seconds:5.1f} s  {verdict.says}"
        for verdict in verdicts
    ]
    return [*rows, f"{sum(verdict.caught for verdict in verdicts)}/{len(verdicts)} planted defects caught"]


def main(arguments: Sequence[str]) -> int:
    """Words on the command line choose the defects whose names hold one of them."""
    defects = [d for d in read(DEFECTS) if not arguments or any(word in d.name for word in arguments)]
    if not defects:
        print(
            f"no defect is called like {' or '.join(arguments)}; their names are in {DEFECTS.relative_to(ROOT)}"
        )
        return 2
    green, says = unharmed_is_green(defects)
    print(f"unharmed: {says}", flush=True)
    if not green:
        return 1
    with ThreadPoolExecutor(AT_ONCE) as pool:
        verdicts = list(pool.map(try_defect, defects))
    print("", *lines(verdicts), sep="\n")
    return 0 if verdicts and all(verdict.caught for verdict in verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
