"""Lines that Moot prints for people to run, run as they are printed."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from tests.support.waiting import PATIENCE

CURL = f"""#!{sys.executable}
import sys
import urllib.request
words = sys.argv[1:]
headers = dict(words[n + 1].split(": ", 1) for n, word in enumerate(words) if word == "-H")
with urllib.request.urlopen(urllib.request.Request(words[-1], headers=headers), timeout={PATIENCE}) as answer:
    sys.stdout.write(answer.read().decode())
"""
"""For machines that have no curl; where there is one, it is used."""


def run_as_printed(line: str, folder: Path) -> str:
    """What the line prints, in a shell that finds curl."""
    path = os.environ["PATH"]
    if shutil.which("curl") is None:
        stand_in = folder / "curl"
        stand_in.write_text(CURL, encoding="utf-8")
        stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
        path = f"{folder}{os.pathsep}{path}"
    done = subprocess.run(
        ["sh", "-c", line],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
