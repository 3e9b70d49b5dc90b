"""What holds for every test: how much chance it is given, and which requirements it says it proves."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.fresh_schema import copy_fresh_schema

# The fast tier repeats itself exactly, so that a red run is red for the next person too; the nightly tier
# looks for what nobody has thought of yet.
settings.register_profile(
    "fast", deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", settings.get_profile("fast"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("MOOT_TIER", "fast"))

# Where tools/bwrap.sh puts a bubblewrap that it may not install. What the system has comes first.
os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])


copy_fresh_schema()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Carry each test's requirement ids into the JUnit report, which survives xdist and separate runs."""
    for item in items:
        ids = sorted({str(id_) for marker in item.iter_markers("req") for id_ in marker.args})
        if ids:
            item.user_properties.append(("nodeid", item.nodeid))
            item.user_properties.extend(("req", id_) for id_ in ids)
