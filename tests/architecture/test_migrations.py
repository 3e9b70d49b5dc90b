"""Each step of a schema has a number of its own: of two with the same one, a database would take only one."""

from pathlib import Path

import pytest

import moot.stores

SCHEMAS = sorted(Path(moot.stores.__file__).parent.glob("*/schema"))


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.parent.name)
def test_the_steps_of_a_schema_are_numbered_from_one_each_once(schema: Path) -> None:
    numbers = sorted(int(step.name.partition("_")[0]) for step in schema.glob("*.sql"))
    assert numbers == list(range(1, len(numbers) + 1))
