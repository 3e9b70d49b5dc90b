"""The requirements tool: what it believes, what it refuses, and that marks survive a real pytest run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import requirements, suites
from tools.requirements import BadManifest, Proof, Requirement, judge, manifest, proofs

COUNTS = {"A": 14, "S": 17, "G": 16, "K": 15, "J": 13, "P": 8, "M": 10}


def known(state: str) -> dict[str, Requirement]:
    return {"A-01": Requirement("A-01", "It lasts.", state)}


def proven(*outcomes: str) -> dict[str, list[Proof]]:
    return {"A-01": [Proof(f"test_{n}", outcome) for n, outcome in enumerate(outcomes)]}


@pytest.mark.parametrize(
    ("state", "outcomes", "problems"),
    [
        ("done", ["passed"], 0),
        ("done", ["passed", "skipped"], 0),
        ("done", [], 1),
        ("done", ["skipped"], 1),
        ("done", ["failed"], 1),
        ("done", ["passed", "failed"], 1),
        ("open", [], 0),
        ("open", ["passed"], 0),
        ("open", ["failed"], 0),
    ],
)
def test_a_done_requirement_needs_a_passing_test_and_no_failing_one(
    state: str, outcomes: list[str], problems: int
) -> None:
    assert len(judge(known(state), proven(*outcomes)).problems) == problems


def test_an_id_nobody_knows_is_refused_with_the_test_that_named_it() -> None:
    [problem] = judge(known("open"), {"A-99": [Proof("tests/unit/test_x.py::test_y", "passed")]}).problems
    assert "A-99" in problem
    assert "test_y" in problem


def test_every_requirement_is_listed_with_its_tests() -> None:
    verdict = judge(known("done"), proven("passed"))
    assert verdict.lines == ["A-01  done  It lasts.", "      passed  test_0"]


def test_the_manifest_lists_every_id_of_the_specification() -> None:
    expected = [f"{letter}-{n:02}" for letter, count in COUNTS.items() for n in range(1, count + 1)]
    assert list(manifest(requirements.MANIFEST)) == expected


@pytest.mark.parametrize(
    "row", ['state = "open"', 'sentence = "x"\nstate = "finished"', 'sentence = " "\nstate = "open"']
)
def test_a_manifest_row_without_sentence_or_state_is_refused(row: str, tmp_path: Path) -> None:
    path = tmp_path / "requirements.toml"
    path.write_text(f"[A-01]\n{row}\n")
    with pytest.raises(BadManifest, match="A-01"):
        manifest(path)


SAMPLE = """
import pytest

@pytest.mark.req("A-01", "A-02")
def test_good(): pass

@pytest.mark.req("A-02")
def test_bad(): assert False

@pytest.mark.req("A-03")
@pytest.mark.skip
def test_later(): pass

@pytest.mark.req("A-04")
class TestGroup:
    @pytest.mark.req("A-05")
    @pytest.mark.parametrize("n", [1, 2])
    def test_each(self, n): pass

@pytest.fixture
def broken(): raise RuntimeError

@pytest.mark.req("A-06")
def test_set_up(broken): pass

def test_unmarked(): pass
"""


@pytest.mark.timeout(300)  # it starts three processes that load pytest, which a busy machine does slowly
@pytest.mark.parametrize("workers", ["0", "2"])
def test_marks_reach_the_report_of_a_real_run(workers: str, tmp_path: Path) -> None:
    shutil.copy(suites.ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = req(*ids): proves\n")
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    report = tmp_path / "out.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        workers,
        f"--junitxml={report}",
        "-c",
        "pytest.ini",
    ]
    env = {**os.environ, "PYTHONPATH": str(suites.ROOT)}  # conftest.py takes from there what it needs
    subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=False, timeout=240)

    found = {id_: sorted((p.test, p.outcome) for p in tests) for id_, tests in proofs([report]).items()}

    each = [(f"test_sample.py::TestGroup::test_each[{n}]", "passed") for n in (1, 2)]
    assert found == {
        "A-01": [("test_sample.py::test_good", "passed")],
        "A-02": [("test_sample.py::test_bad", "failed"), ("test_sample.py::test_good", "passed")],
        "A-03": [("test_sample.py::test_later", "skipped")],
        "A-04": each,
        "A-05": each,
        "A-06": [("test_sample.py::test_set_up", "failed")],
    }
    assert suites.counts_of(report) == suites.Counts(passed=4, failed=2, skipped=1)
