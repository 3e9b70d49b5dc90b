"""The runner of suites: what it counts as failure, and its last line."""

import os
from pathlib import Path

import pytest

from tests.support.on_both import LEFT_OUT
from tools import suites
from tools.suites import (
    NO_TESTS_RAN,
    ROOT,
    Counts,
    Outcome,
    Suite,
    Tool,
    counts_of,
    parted,
    plan,
    run,
    run_all,
    summary,
    trouble,
)

SUITE = Suite("unit", 10)
TOOL = Tool("types", 10, ("mypy",))


@pytest.mark.parametrize(
    ("step", "code", "counts", "over", "says"),
    [
        (SUITE, 0, Counts(3), False, ""),
        (SUITE, 0, Counts(skipped=1), False, ""),
        (SUITE, 0, Counts(), False, "no test ran"),
        (SUITE, NO_TESTS_RAN, Counts(), False, "no test ran"),
        (SUITE, 0, Counts(3), True, "budget"),
        (SUITE, 1, Counts(2, 1), False, "1 failed"),
        (SUITE, 2, Counts(), False, "exit code 2"),
        (TOOL, 0, Counts(), False, ""),
        (TOOL, 1, Counts(), False, "exit code 1"),
        (TOOL, 0, Counts(), True, "budget"),
    ],
)
def test_what_counts_as_trouble(step: Tool | Suite, code: int, counts: Counts, over: bool, says: str) -> None:
    told = trouble(step, code, counts, over=over)
    assert says in told
    assert bool(told) is bool(says)


@pytest.mark.parametrize(
    ("outcomes", "budget", "last"),
    [
        ([Outcome("unit", 1, 10, Counts(3))], 90, "3 passed, 0 failed"),
        (
            [Outcome("unit", 1, 10, Counts(3, 0, 1)), Outcome("types", 1, 10)],
            90,
            "3 passed, 0 failed, 1 skipped",
        ),
        ([Outcome("unit", 1, 10, Counts(2, 2), "2 failed")], None, "2 passed, 2 failed"),
        (
            [Outcome("unit", 1, 10, Counts(2)), Outcome("types", 1, 10, Counts(), "exit code 1")],
            None,
            "2 passed, 1 failed",
        ),
        ([Outcome("unit", 11, 10, Counts(2), "over its time budget")], None, "2 passed, 1 failed"),
        ([Outcome("unit", 50, 60, Counts(2)), Outcome("types", 50, 60)], 90, "2 passed, 1 failed"),
    ],
)
def test_the_last_line_is_plain(outcomes: list[Outcome], budget: float | None, last: str) -> None:
    lines, well = summary(outcomes, sum(one.seconds for one in outcomes), budget)
    assert lines[-1] == last
    assert well is (", 0 failed" in last)


def test_a_run_that_left_no_report_counted_nothing(tmp_path: Path) -> None:
    assert counts_of(tmp_path / "absent.xml") == Counts()


def test_the_full_plan_holds_the_quick_one_and_ends_with_the_requirements() -> None:
    quick, full = [step.name for step in plan("check")], [step.name for step in plan("test")]
    assert full[: len(quick)] == quick
    assert full[-1] == "requirements"
    assert "unit" in quick


def test_a_suite_in_parts_runs_each_test_in_one_of_them(tmp_path: Path) -> None:
    """Those of one requirement too."""
    report = tmp_path / "report.xml"
    most, alone = parted("faults", 10, 10)
    assert most.folder == alone.folder
    for marked, also in (("", ""), ("req", " and (req)")):
        assert most.command(report, marked)[-2:] == ["-m", f"(not alone){also}"]
        assert alone.command(report, marked)[-2:] == ["-m", f"(alone){also}"]
    assert not alone.workers, "what measures time has the machine to itself"


def test_what_runs_beside_others_ends_before_both_cores_are_needed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for the step after it, so that one after the other they would never end; then the suite comes."""
    met = tmp_path / "met"
    os.mkfifo(met)
    steps: list[Tool | Suite] = [
        Tool("waits", 60, ("sh", "-c", f"echo first; cat {met}; exit 1"), beside=True),
        Tool("comes", 60, ("sh", "-c", f"echo met > {met}")),
        Suite("none", 60, workers=2),
    ]
    monkeypatch.setattr(Suite, "command", lambda *_: ["sh", "-c", "echo the suite"])
    outcomes = run_all(steps, tmp_path, tmp_path / "finished")
    told = capfd.readouterr().out
    assert [one.name for one in outcomes] == ["waits", "comes", "none"]
    assert [one.trouble for one in outcomes[:2]] == ["exit code 1", ""]
    assert "\n── waits\nfirst\nmet\n" in told, "what it said stands together, under its name"
    assert told.index("met") < told.index("the suite")


def test_a_suite_that_waits_goes_on_beside_others_until_something_is_measured(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    met = tmp_path / "met"
    os.mkfifo(met)
    commands = {"waits": f"cat {met}", "comes": f"echo met > {met}", "none-alone": "echo measured"}
    monkeypatch.setattr(Suite, "command", lambda self, *_: ["sh", "-c", commands[self.name]])
    steps = [Suite("waits", 60, beside=True), Suite("comes", 60, workers=2), parted("none", 10, 10)[1]]
    run_all(steps, tmp_path, tmp_path / "finished")
    told = capfd.readouterr().out
    assert "\n── waits\nmet\n" in told, "what it said stands together, under its name"
    assert told.index("── waits") < told.index("measured")


def where_its_files_lie(step: Tool | Suite, capfd: pytest.CaptureFixture[str], results: Path) -> Path:
    run(step, results)
    return Path(capfd.readouterr().out.splitlines()[-1])


SHOW = ("sh", "-c", "mktemp -d")


def test_the_files_of_a_suite_lie_in_memory_and_are_gone_with_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for those that need a disk, and where there is too little memory, or none."""
    memory, disk = tmp_path / "memory", tmp_path / "disk"
    memory.mkdir()
    disk.mkdir()
    monkeypatch.setenv("TMPDIR", str(disk))
    monkeypatch.setattr(Suite, "command", lambda *_: [*SHOW])
    monkeypatch.setattr(suites, "MEMORY", memory)
    monkeypatch.setattr(suites, "ROOM", 0)
    most, alone = parted("none", 10, 10, in_memory=True)
    found = where_its_files_lie(most, capfd, tmp_path)
    assert found.parent.parent == memory
    assert not found.exists()
    others: list[Tool | Suite] = [alone, *parted("none", 10, 10), Tool("shows", 10, SHOW)]
    for step in others:
        assert where_its_files_lie(step, capfd, tmp_path).parent == disk
    for name, value in (("MEMORY", tmp_path / "none"), ("MEMORY", memory), ("ROOM", 1 << 80)):
        monkeypatch.setattr(suites, name, value)
        is_back = (name, value) == ("MEMORY", memory)
        assert (where_its_files_lie(most, capfd, tmp_path).parent == disk) is not is_back


def test_an_unknown_plan_is_refused_by_name() -> None:
    with pytest.raises(SystemExit, match="nightly"):
        plan("nightly")


@pytest.fixture
def at_night(monkeypatch: pytest.MonkeyPatch) -> list[Suite]:
    monkeypatch.setenv("MOOT_TIER", "nightly")
    return [step for step in plan("faults") if isinstance(step, Suite)]


def test_every_test_that_is_larger_at_night_is_run_at_night(at_night: list[Suite]) -> None:
    run = [suite.folder for suite in at_night]
    larger = [
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if any(
            sign in path.read_text(encoding="utf-8") for sign in ('environ.get("MOOT_TIER")', "if NIGHTLY")
        )
        and path != Path(__file__)
    ]
    assert larger
    for path in larger:
        assert any(path.is_relative_to(folder) for folder in run), path


def test_what_is_left_out_on_postgresql_and_kafka_is_there_and_says_why(at_night: list[Suite]) -> None:
    for name, reason in LEFT_OUT.items():
        file, _, test = name.partition("::")
        assert reason
        assert f"def {test.partition('[')[0]}(" in (ROOT / "tests" / "behaviour" / file).read_text()
    [suite] = [step for step in at_night if step.plugin]
    assert suite.folder == ROOT / "tests" / "behaviour"
    assert suite.command(Path("report"))[-2:] == ["-p", "tests.support.on_both"]
