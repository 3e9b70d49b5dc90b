"""Peers whose libraries would not agree with ours: each in an environment of its own, made when first asked for.

They are kept in `.venv/peers` until `make clean`. Where one cannot be installed its workload runs without it.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from bench.processes import with_bytecode

ENVIRONMENTS = Path(sys.prefix) / "peers"
MAX_INSTALL_SECONDS = 600.0
DONE = ".installed"


def python_with(requirement: str) -> Path | None:
    """A Python that can import this; None where it could not be installed."""
    folder = ENVIRONMENTS / requirement.replace("==", "-")
    python = folder / "bin" / "python"
    if (folder / DONE).exists():
        return python
    sys.stderr.write(f"installing {requirement} into {folder.name}, once\n")
    shutil.rmtree(folder, ignore_errors=True)
    if not _ran([sys.executable, "-m", "venv", folder]):
        return None
    # uv takes seconds where pip takes minutes; where only pip knows the way to the package index, pip goes.
    uv = shutil.which("uv")
    by_uv: list[str | Path] = [
        uv or "",
        "pip",
        "install",
        "--quiet",
        "--compile-bytecode",
        "--python",
        python,
    ]
    by_pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not (uv and _ran([*by_uv, requirement])) and not _ran([*by_pip, requirement]):
        return None
    (folder / DONE).touch()
    return python


def _ran(command: list[str | Path]) -> bool:
    try:
        done = subprocess.run(command, env=with_bytecode(), timeout=MAX_INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
