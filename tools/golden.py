"""Make the golden home of this version: `make golden`, once, when a version is released.

It is kept in tests/migration/golden/, and every later version has to open it and read all of it (test_golden_homes.py).
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from moot import __version__
from tests.migration import golden_home, story


def main() -> int:
    version = ".".join(__version__.split(".")[:2])
    if version in golden_home.versions():
        print(f"there is a golden home of {version} already; a released home never changes")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        asyncio.run(story.write(home))
        golden_home.keep(home, version)
        golden_home.keep_reads(version, asyncio.run(golden_home.everything_read(home)))
    print(f"kept as {golden_home.FOLDER / version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
