"""The program on the page about WebSockets talks to a real hub, and goes on where it was."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.http.up import Up
from tests.support.waiting import PATIENCE

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "use-websockets.md"


@pytest.mark.req("K-11")
def test_the_program_on_the_page_runs_and_comes_back(tmp_path: Path) -> None:
    [program] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    home = tmp_path / "home"
    home.mkdir()
    (home / "moot.toml").write_text('[[agents]]\nname = "arya"\nbrain = "demo"\n')
    up = Up(home)
    up.start()
    try:
        token = up.token["Authorization"].split()[1]
        for count in ("1", "2"):
            done = subprocess.run(
                [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
                env={**os.environ, "MOOT": up.url, "TOKEN": token}, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert done.stdout.strip()
            assert (tmp_path / "seen.txt").read_text() == count
    finally:
        up.end(signal.SIGKILL)
