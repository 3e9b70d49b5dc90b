"""A plugin that puts every home of a run onto PostgreSQL and Kafka: `pytest -p tests.support.on_both tests/behaviour`.

The environment says where store and log are, as it does for an operator. Each test has an empty database and topics of
its own; all homes that it opens share them, as those of several machines do. What is about something else is left out,
by name and with the reason.
"""

import asyncio

import pytest

from tests.support.kafka import broker, fresh_prefix
from tests.support.postgres import empty_database

READS_SQLITE = "it looks into the file of SQLite"
BACKS_UP = "backups of PostgreSQL are made with its own tools"
SETTINGS = "its subject is store.url in moot.toml, which the environment rules here"
SEVERAL_HOMES = "it opens homes that have nothing to do with each other"
LEFT_OUT = {
    "test_audit_heads.py::test_a_tail_that_was_cut_off_is_found_by_what_stands_outside": READS_SQLITE,
    "test_audit_heads.py::test_a_conversation_that_vanished_is_missed_unless_somebody_erased_it": READS_SQLITE,
    "test_audit_heads.py::test_after_a_restore_the_file_is_set_aside": BACKS_UP,
    "test_refusals.py::test_a_store_or_log_this_version_lacks_is_refused_and_nothing_is_kept_elsewhere": SETTINGS,
    "test_reload.py::test_a_broken_file_changes_nothing_and_is_told[a store that is not built]": SETTINGS,
    "test_demo_brain.py::test_nobody_is_called_who_is_not_there": SEVERAL_HOMES,
    "test_demo_brain.py::test_same_words_and_same_seed_give_the_same_replies_and_another_seed_others": SEVERAL_HOMES,
    "test_sdk.py::test_the_database_reads_well_with_plain_sql": READS_SQLITE,
    "test_sdk.py::test_every_message_is_a_node_whose_context_names_its_author_for_good": READS_SQLITE,
    "test_housekeeping.py::test_backups_are_made_as_often_as_asked_and_the_oldest_go": BACKS_UP,
    "test_served_agents.py::test_a_turn_has_what_a_turn_in_process_has": SEVERAL_HOMES,
    "test_tails.py::test_what_is_kept_is_what_is_stored": SEVERAL_HOMES,
    "test_team_kit.py::test_a_team_that_behaves_has_no_findings": SEVERAL_HOMES,
    "test_team_kit.py::test_who_fails_who_strays_and_who_blabs_is_found": SEVERAL_HOMES,
    "test_tokens.py::test_only_a_hash_is_kept": READS_SQLITE,
}


def is_left_out(nodeid: str) -> bool:
    name = nodeid.rpartition("/")[2]
    return name in LEFT_OUT or name.partition("[")[0] in LEFT_OUT


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if is_left_out(item.nodeid)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def on_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_STORE__URL", asyncio.run(empty_database()))
    monkeypatch.setenv("MOOT_LOG__URL", f"kafka://{broker().address}")
    monkeypatch.setenv("MOOT_LOG__TOPIC_PREFIX", fresh_prefix())
