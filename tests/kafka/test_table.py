"""Every row of the failure table (docs/explanation/kafka.md) and the test that holds it, so that none is forgotten."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
ROWS = {
    1: "faults/test_points.py::test_trouble_at_any_point_changes_nothing_in_the_end",
    2: "faults/test_points.py::test_trouble_at_any_point_changes_nothing_in_the_end",
    3: "faults/test_postgres.py::test_what_was_acknowledged_survives_a_server_that_is_killed",
    4: "kafka/test_failures.py::test_row_4_",
    5: "kafka/test_failures.py::test_row_5_",
    6: "kafka/test_failures.py::test_row_6_",
    7: "kafka/test_mutations.py::test_row_7_",
    8: "kafka/test_mutations.py::test_row_8_",
    9: "kafka/test_failures.py::test_row_9_and_10_",
    10: "kafka/test_failures.py::test_row_9_and_10_",
    11: "kafka/test_failures.py::test_row_8_and_11_",
    12: "kafka/test_failures.py::test_row_12_",
    13: "kafka/test_failures.py::test_row_13_",
    14: "kafka/test_failures.py::test_row_14_and_16_",
    15: "kafka/test_mutations.py::test_row_15_",
    16: "kafka/test_failures.py::test_row_14_and_16_",
    17: "unit/logs/test_relay.py::test_row_17_",
    18: "kafka/test_command.py::test_row_18_",
    19: "kafka/test_records.py::test_row_19_",
    20: "unit/logs/test_relay.py::test_row_20_",
}
"""The number of a failure, as in what this was built from: die before the commit, after it, not known whether … changed
partitions; and where it is tried."""


@pytest.mark.req("K-15")
@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_held_by_a_test(row: int) -> None:
    file, _, name = ROWS[row].partition("::")
    assert re.search(rf"^(async )?def {name}", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_there_are_twenty() -> None:
    assert list(ROWS) == list(range(1, 21))
