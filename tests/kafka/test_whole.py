"""What holds on one machine holds on PostgreSQL and Kafka: the conformance suite, and behaviour that crosses both.

The tests are those of other suites. Here the environment says where store and log are, as it does for an operator.
"""

from types import ModuleType
from typing import Any

import pytest

from tests.behaviour import test_asking, test_conversing, test_tasks
from tests.behaviour.test_conversing import quick
from tests.contract.hub import test_conformance
from tests.contract.hub.conftest import hub
from tests.support.kafka import broker, fresh_prefix
from tests.support.postgres import empty_database

FIXTURES = (hub, quick)
BEHAVIOUR = {
    test_asking: ("five_questions_at_once", "who_awaits_an_answer", "an_interrupted_question"),
    test_conversing: ("a_set_of_names", "many_questions_at_once", "retry_asks", "stop_interrupts"),
    test_tasks: ("a_task_is_worked_on", "failure_and_silence"),
}


def chosen_from(module: ModuleType, *chosen: str) -> dict[str, Any]:
    """Those whose names begin so; all without any."""
    begins = tuple(f"test_{one}" for one in chosen or ("",))
    return {name: test for name, test in vars(module).items() if name.startswith(begins) and callable(test)}


globals().update(chosen_from(test_conformance))
for module, chosen in BEHAVIOUR.items():
    globals().update(chosen_from(module, *chosen))


@pytest.fixture(autouse=True)
async def on_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_STORE__URL", await empty_database())
    monkeypatch.setenv("MOOT_LOG__URL", f"kafka://{broker().address}")
    monkeypatch.setenv("MOOT_LOG__TOPIC_PREFIX", fresh_prefix())


@pytest.fixture
def way() -> str:
    """How the hub is reached."""
    return "in process"


@pytest.fixture
def kept_in() -> str:
    return ""


def test_nothing_that_was_chosen_is_missing() -> None:
    for module, names in BEHAVIOUR.items():
        assert all(len(chosen_from(module, name)) == 1 for name in names)
