"""What is installed before something can be tried: the demo waits for no tools of the tests."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("goal", "installs"),
    [
        (["run"], "tools/venv.sh run"),
        (["run", "STORE=postgres"], "tools/venv.sh"),
        (["run", "LOG=kafka"], "tools/venv.sh"),
        (["check"], "tools/venv.sh"),
        (["install"], "tools/venv.sh"),
    ],
)
def test_make_installs_what_its_goal_needs(goal: list[str], installs: str) -> None:
    command = ["make", "-n", "--no-print-directory", "-W", "pyproject.toml", *goal]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line for line in told.stdout.splitlines() if line.startswith("tools/venv.sh")] == [installs]
