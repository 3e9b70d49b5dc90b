"""Attacks, each tried for real: what a hostile agent, token, file or backup would do, and what must come of it.

To add one: name what the attacker has and wants in the test's name, show in the same test that the honest way works, so
that a refusal cannot pass for the wrong reason, and break the defence once to see the test turn red. One file per way
in: `test_identity_files.py`, `test_backups.py`, … Ways out of the shell's sandbox are in tests/sandbox.
"""

from pathlib import Path

import pytest

from moot.settings import Home

SETTINGS = """
[groups]
cooldown_seconds = 0.0
reactive_round = false
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home of its own folder, so that there is an outside."""
    made = Home(tmp_path / "home")
    made.make()
    made.toml.write_text(SETTINGS)
    return made
