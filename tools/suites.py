"""Run the project's checks and test suites, each inside its time budget, and sum up in one plain line.

`make check`, `make test`, `make faults` and `make test-clis` are this file with another plan. A step fails when
its command fails, when it takes longer than its budget, or when a test folder that exists ran no test: a suite that
silently stopped collecting is the failure nobody notices. Every step runs, whatever became of the one before it.
One after the other, but for what may run beside those after it: a tool that keeps one core busy, until the first suite
of several workers; a suite that mostly waits, until something is measured.

Budgets hold on a small machine (two cores). On a slower one set MOOT_BUDGET_SCALE, for example to 3.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / ".results"
SOURCES = ("src", "tests", "tools", "bench")
FULL_RUN = "test"
"""The plan whose results `make requirements` trusts; see finished_mark."""

NO_TESTS_RAN = 5
"""pytest's exit code for an empty selection."""

ALONE = "alone"
"""The mark of tests that measure time."""

MEMORY = Path("/dev/shm")
ROOM = 2 << 30
"""Bytes that have to be free there; the largest suite leaves a sixth of it behind."""


@dataclass(frozen=True)
class Suite:
    """A folder of tests, or those of them that a mark picks; the name is then the folder's and the mark's."""

    name: str
    budget: float
    workers: int = 0
    """0 runs in one process, one test at a time: where time is measured, or where two would not be faster."""
    picked: str = ""
    plugin: str = ""
    """A module that changes where its tests run."""
    within: str = ""
    """A file or folder below `tests` that has its tests, where its name does not say so."""
    beside: bool = False
    """It mostly waits for servers: other suites go on meanwhile, and what it says is shown when it ends."""
    in_memory: bool = False
    """Its files need no disk: no time is measured, no disk has to hold what it was given, and no sandbox is tried,
    which takes no project that lies below /dev."""

    @property
    def folder(self) -> Path:
        return ROOT / "tests" / (self.within or self.name.partition("-")[0])

    @property
    def measures(self) -> bool:
        """Whether it has to have the machine to itself."""
        return self.picked == ALONE

    @property
    def exists(self) -> bool:
        """Bytecode that a removed suite left behind is no suite."""
        return self.folder.is_file() or any(self.folder.rglob("*.py"))

    def command(self, report: Path, marked: str = "") -> list[str]:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            str(self.folder.relative_to(ROOT)),
            f"--junitxml={report}",
        ]
        # Who is done first takes over from the other: no core idles while a few long tests are left.
        parallel = ["-n", str(self.workers), "--dist", "worksteal"] if self.workers else ["-p", "no:xdist"]
        parallel += ["-p", self.plugin] if self.plugin else []
        marks = " and ".join(f"({one})" for one in (self.picked, marked) if one)
        return [*command, *parallel, *(["-m", marks] if marks else [])]


@dataclass(frozen=True)
class Tool:
    """A command that says yes or no."""

    name: str
    budget: float
    command: tuple[str, ...]
    beside: bool = False
    """It uses one core and measures nothing: other steps go on meanwhile, and what it says is shown when it ends."""


@dataclass(frozen=True)
class Counts:
    """What a suite's report says."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


@dataclass(frozen=True)
class Outcome:
    """How a step went: its seconds, what it counted, and why it failed, if it did."""

    name: str
    seconds: float
    budget: float
    counts: Counts = Counts()
    trouble: str = ""


def binary(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def sources() -> tuple[str, ...]:
    return tuple(folder for folder in SOURCES if (ROOT / folder).is_dir())


def tools() -> list[Tool]:
    return [
        Tool("types", 90, (binary("mypy"), *sources()), beside=True),
        Tool("format", 10, (binary("ruff"), "format", "--check", "--quiet", *sources())),
        Tool("lint", 10, (binary("ruff"), "check", "--quiet", *sources())),
        Tool("imports", 15, (binary("lint-imports"), "--no-logo", "--no-cache")),
    ]


WORKERS = 3
"""One more than there are cores, as many tests wait for processes, disks and models that take their time."""


def parted(name: str, most: float, alone: float, *, in_memory: bool = False) -> list[Suite]:
    """First the tests that only count, then one by one those that measure time."""
    return [
        Suite(name, most, WORKERS, picked=f"not {ALONE}", in_memory=in_memory),
        Suite(f"{name}-{ALONE}", alone, picked=ALONE),
    ]


CHECKED = (Suite("architecture", 60), Suite("unit", 60, workers=2))
TESTED = (
    Suite("contract", 240, workers=2, in_memory=True),
    Suite("scenarios", 60, workers=2, in_memory=True),
    Suite("kafka", 330, beside=True),
    Suite("bridges", 140, WORKERS, in_memory=True),
    Suite("behaviour", 160, WORKERS, in_memory=True),
    Suite("replay", 120, WORKERS, in_memory=True),
    *parted("doors", 380, 60, in_memory=True),
    Suite("sandbox", 90, workers=2),
    Suite("attacks", 90, WORKERS),
    *parted("faults", 240, 90),
    Suite("migration", 80, beside=True),
    Suite("coding", 160, WORKERS),
    Suite("package", 90),
    Suite("docs", 90, WORKERS, in_memory=True),
    *parted("page", 240, 70),
)
REQUIREMENTS = Tool("requirements", 10, (sys.executable, "-m", "tools.requirements", "--brief"))
PLAN_BUDGETS = {"check": 90.0, "test": 1500.0}
"""The aim for `test` is 1200; with every room of the house in it, it takes about as long, and more on a slow day."""


def plan(name: str) -> list[Tool | Suite]:
    """The steps of a plan. Suites that do not exist yet are left out."""
    match name:
        case "check":
            steps: list[Tool | Suite] = [*tools(), *CHECKED]
        case "test":
            steps = [*tools(), *CHECKED, *TESTED, REQUIREMENTS]
        case "faults":
            # The nightly tier does ten times the work of the fast one.
            nightly = os.environ.get("MOOT_TIER") == "nightly"
            steps = [*(parted("faults", 1440, 360) if nightly else parted("faults", 144, 60))]
            if nightly:
                # Ten thousand questions asked together, by every way to the hub.
                steps.append(Suite("asks", 900, within="contract/hub/test_asks.py"))
                # Hostile input and whatever the API's description allows, all of it.
                steps += [
                    Suite("hostile", 600, within="doors/http/test_hostile.py"),
                    Suite("schema", 900, within="doors/http/test_schema.py"),
                ]
                # Stores and logs on the oldest PostgreSQL that is supported, where Debian's is installed.
                steps += [
                    Suite("contract-oldest", 400, workers=2, within="contract/store"),
                    Suite("kafka-long", 1500),
                    # A hundred thousand messages, there and back.
                    Suite("migration-large", 600, within="migration/test_transfer.py"),
                    # All of it on PostgreSQL and Kafka; `make test` does a chosen part.
                    Suite("behaviour-elsewhere", 1200, workers=2, plugin="tests.support.on_both"),
                ]
        case "clis":
            # The real coding CLIs: apart from the rest because of their size, and because they change weekly.
            steps = [Suite("clis", 300, workers=2)]
        case _:
            raise SystemExit(f"error: no plan called {name!r}; there are: check, test, faults, clis")
    return [step for step in steps if isinstance(step, Tool) or step.exists]


def counts_of(report: Path) -> Counts:
    """Read pytest's own JUnit report; a run that died before writing one counted nothing."""
    if not report.exists():
        return Counts()
    total = failed = skipped = 0
    for suite in ET.parse(report).getroot().iter("testsuite"):
        total += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    return Counts(passed=max(0, total - failed - skipped), failed=failed, skipped=skipped)


@contextmanager
def surroundings(step: Tool | Suite) -> Iterator[Mapping[str, str]]:
    """The environment of a step. Most tests write a small home and throw it away; what they would wait for is a disk
    that says it has it. So it lies in memory, where that is large enough, and is gone with the step."""
    is_large = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM
    if isinstance(step, Tool) or not step.in_memory or not is_large:
        yield os.environ
        return
    with TemporaryDirectory(prefix="moot-", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        yield {**os.environ, "TMPDIR": folder}


def run(step: Tool | Suite, results: Path, marked: str = "") -> Outcome:
    """Run one step, its output going straight to the terminal; or, of one beside others, all of it at its end."""
    report = results / f"{step.name}.xml"
    command = list(step.command) if isinstance(step, Tool) else step.command(report, marked)
    apart = step.beside
    if not apart:
        print(f"\n── {step.name}", flush=True)
    started = time.perf_counter()
    out, err = (subprocess.PIPE, subprocess.STDOUT) if apart else (None, None)
    with surroundings(step) as environ:
        done = subprocess.run(command, cwd=ROOT, env=environ, check=False, text=True, stdout=out, stderr=err)
    seconds = time.perf_counter() - started
    if apart:
        print(f"\n── {step.name}\n{done.stdout}", end="", flush=True)
    code = done.returncode
    counts = counts_of(report) if isinstance(step, Suite) else Counts()
    budget = step.budget * scale()
    return Outcome(step.name, seconds, budget, counts, trouble(step, code, counts, over=seconds > budget))


def trouble(step: Tool | Suite, code: int, counts: Counts, *, over: bool) -> str:
    """Why a step failed, in words; empty when it did not."""
    if isinstance(step, Suite) and (code == NO_TESTS_RAN or (code == 0 and counts.total == 0)):
        return "the folder exists and no test ran"
    if code:
        return f"{counts.failed} failed" if counts.failed else f"exit code {code}"
    return "over its time budget" if over else ""


def scale() -> float:
    return float(os.environ.get("MOOT_BUDGET_SCALE", "1"))


def finished_mark(plan_name: str) -> Path:
    """Written last: results beside it are from a run that went through to its end."""
    return RESULTS / plan_name / "finished"


def summary(outcomes: Sequence[Outcome], seconds: float, budget: float | None) -> tuple[list[str], bool]:
    """The closing lines, the very last of which is `N passed, M failed`; and whether all is well. `seconds` is how
    long the whole took: less than the sum of its steps, as some run side by side."""
    lines = [
        f"{o.name:<14}{o.seconds:7.1f} s of {o.budget:4.0f} s  {o.counts.passed:>5}  {o.trouble or 'ok'}"
        for o in outcomes
    ]
    late = budget is not None and seconds > budget
    if budget is not None:
        lines.append(f"{'all':<14}{seconds:7.1f} s of {budget:4.0f} s         {'over' if late else 'ok'}")
    counts = sum((o.counts for o in outcomes), Counts())
    # A step that failed without a failing test (a type error, a budget) is a failure of its own.
    failed = counts.failed + sum(1 for o in outcomes if o.trouble and not o.counts.failed) + late
    skipped = f", {counts.skipped} skipped" if counts.skipped else ""
    lines.append(f"{counts.passed} passed, {failed} failed{skipped}")
    return lines, failed == 0


def run_all(steps: Sequence[Tool | Suite], results: Path, finished: Path) -> list[Outcome]:
    """Every step, in the order of the plan; see the top of this file for what runs beside what."""
    going: list[tuple[Tool | Suite, Future[Outcome]]] = []
    with ThreadPoolExecutor() as threads:
        for step in steps:
            wait([future for other, future in going if not may_go_on(other, step)])
            if step is REQUIREMENTS:
                # From here on every test of this run is on record.
                finished.touch()
            going.append((step, threads.submit(run, step, results)))
            if not step.beside:
                wait([going[-1][1]])
    return [future.result() for _, future in going]


def may_go_on(earlier: Tool | Suite, step: Tool | Suite) -> bool:
    """Whether an earlier step that runs beside others may still do so while this one runs."""
    if step is REQUIREMENTS or (isinstance(step, Suite) and step.measures):
        return False
    return isinstance(earlier, Suite) or isinstance(step, Tool) or not step.workers


def main(arguments: Sequence[str]) -> int:
    plan_name = arguments[0] if arguments else "check"
    steps = plan(plan_name)
    if not steps:
        raise SystemExit(f"error: nothing to run: the suites of {plan_name!r} do not exist yet")
    results = RESULTS / plan_name
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    started = time.perf_counter()
    outcomes = run_all(steps, results, finished_mark(plan_name))
    plan_budget = PLAN_BUDGETS.get(plan_name)
    seconds = time.perf_counter() - started
    lines, well = summary(outcomes, seconds, plan_budget * scale() if plan_budget else None)
    print("", *lines, sep="\n", flush=True)
    return 0 if well else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
