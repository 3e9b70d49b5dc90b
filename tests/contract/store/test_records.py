"""Records of every kind, on every store: put, changed, dropped, looked up in each way their tables declare.

A new kind needs a sample of its own in samples.py; everything else is tried here.
"""

from enum import StrEnum
from functools import partial
from typing import Any

import pytest
from msgspec import Struct, structs

from moot.model.change import DropConversation, DropRecord, PutConversation, PutRecord
from moot.model.ids import ParticipantId
from moot.model.records.chat_apps.bridge import ARRIVALS
from moot.model.records.link import LINKS
from moot.model.records.note import NOTES
from moot.model.records.outbox import OUTBOX
from moot.model.records.record import Key, Lookup, Table
from moot.model.records.tables import TABLES
from moot.model.records.task import TASKS
from moot.rules.draft import Seen
from tests.contract.store import samples
from tests.contract.store.places import Place, WholeStore
from tests.contract.store.verbs import conversation, look, put

SAMPLES = {type(value): value for value in vars(samples).values() if isinstance(value, Struct)}


MORE = {LINKS.name: {"source", "target"}, TASKS.name: {"link", "asked_in"}, ARRIVALS.name: {"seq"}}
"""Fields that lookups are made from besides those they are called by."""


def sample(table: Table[Any]) -> Any:
    return SAMPLES[table.of]


def other(table: Table[Any]) -> Any:
    """Another record that agrees with the sample in nothing it could be looked up by."""
    names = {*table.key_fields, *table.by, *MORE.get(table.name, ())}
    names &= set(table.of.__struct_fields__)  # what is made of several fields follows them
    return structs.replace(sample(table), **{name: _another(getattr(sample(table), name)) for name in names})


def _another(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return next(each for each in type(value) if each is not value)
    return value + 1 if isinstance(value, int) else f"{value}2"


def lookups(table: Table[Any], record: Any) -> list[Lookup[Any]]:
    """Every way to find a record but by taking all."""
    return [
        table.one(*table.key(record)),
        *(table.where(**{name: getattr(record, name)}) for name in table.by),
    ]


def _records(lookup: Lookup[Any], seen: Seen) -> Any:
    return seen.records(lookup)


def _record(table: Table[Any], key: Key, seen: Seen) -> Any:
    return seen.record(table, *key)


every_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


@every_table
async def test_a_record_is_found_by_its_key_and_by_whatever_its_table_says(
    place: Place, table: Table[Any]
) -> None:
    store = await place.open()
    mine, theirs = sample(table), other(table)
    await put(store, PutRecord(table, mine), PutRecord(table, theirs))
    for _ in range(2):
        for lookup in lookups(table, mine):
            assert await store.records(lookup) == [mine]
            assert await look(store, partial(_records, lookup), records=(lookup,)) == [mine]
        key = table.key(mine)
        alone = (table.one(*key),)
        assert await look(store, partial(_record, table, key), records=alone) == mine
        store = await place.reopen()


@every_table
async def test_records_are_found_by_the_beginning_of_their_key_where_the_table_says_so(
    store: WholeStore, table: Table[Any]
) -> None:
    if not table.by_beginning:
        with pytest.raises(LookupError, match=table.name):
            table.beginning("x")
        return
    first, second, third = (
        structs.replace(sample(table), id=f"x{number}") for number in ("ab1", "ab2", "b3")
    )
    await put(store, *(PutRecord(table, record) for record in (first, second, third)))
    for beginning, expected in (("xab", [first, second]), ("xb3", [third]), ("xc", []), ("xab1x", [])):
        assert await store.records(table.beginning(beginning)) == expected, beginning


async def test_notes_are_counted(store: WholeStore) -> None:
    assert await store.note_count() == 0
    await put(store, PutRecord(NOTES, sample(NOTES)), PutRecord(NOTES, other(NOTES)))
    assert await store.note_count() == 2


@every_table
async def test_several_lookups_of_one_decision_are_answered_together(
    store: WholeStore, table: Table[Any]
) -> None:
    mine, theirs = sample(table), other(table)
    await put(store, PutRecord(table, mine), PutRecord(table, theirs))
    both = (*lookups(table, mine), *lookups(table, theirs))

    def found(seen: Any) -> list[Any]:
        return [seen.records(lookup) for lookup in both]

    expected = [[record] for record in (mine, theirs) for _ in lookups(table, mine)]
    assert await look(store, found, records=both) == expected


@every_table
async def test_all_of_a_small_table_are_found_at_once(store: WholeStore, table: Table[Any]) -> None:
    if not table.all_at_once:
        with pytest.raises(LookupError, match=table.name):
            table.all()
        return
    mine, theirs = sample(table), other(table)
    await put(store, PutRecord(table, mine), PutRecord(table, theirs))
    assert {table.key(record) for record in await store.records(table.all())} == {
        table.key(mine),
        table.key(theirs),
    }
    found = await look(store, lambda seen: seen.records(table.all()), records=(table.all(),))
    assert len(found) == 2


@every_table
async def test_what_was_dropped_is_gone_and_may_come_again(place: Place, table: Table[Any]) -> None:
    store = await place.open()
    record = sample(table)
    await put(store, PutRecord(table, record))
    await put(store, DropRecord(table, table.key(record)))
    assert await store.records(table.one(*table.key(record))) == []
    await put(store, DropRecord(table, table.key(record)), PutRecord(table, record))
    store = await place.reopen()
    assert await store.records(table.one(*table.key(record))) == [record]


@every_table
async def test_what_was_not_asked_for_is_not_seen(store: WholeStore, table: Table[Any]) -> None:
    await put(store, PutRecord(table, sample(table)))
    key = table.key(sample(table))
    assert await look(store, lambda seen: seen.record(table, *key)) is None


@every_table
async def test_a_record_goes_with_its_conversation_where_its_table_says_so(
    store: WholeStore, table: Table[Any]
) -> None:
    record = sample(table)
    ends = table.ends_with_conversation
    where = (
        conversation("room") if not ends else structs.replace(conversation("room"), id=record.conversation)
    )
    await put(store, PutConversation(where), PutRecord(table, record))
    await put(store, DropConversation(where.id))
    left = [table.remnant(record)] if table.remnant is not None else []
    assert await store.records(table.one(*table.key(record))) == (left if ends else [record])


def test_a_table_is_looked_up_only_by_what_it_declares() -> None:
    with pytest.raises(LookupError, match="tokens are not looked up by parent"):
        TABLES[0].where(parent="x")


async def test_what_is_to_be_published_comes_oldest_first_and_without_the_topics_that_are_held_back(
    store: WholeStore,
) -> None:
    rows = [
        structs.replace(samples.OUTBOX, event=n, topic=who) for n, who in enumerate(("a", "b", "a", "c"), 1)
    ]
    await put(store, *[PutRecord(OUTBOX, row) for row in reversed(rows)])
    a, b = ParticipantId("a"), ParticipantId("b")
    assert await store.unpublished(3) == rows[:3]
    assert await store.unpublished(1, [a]) == [rows[1]]
    assert await store.unpublished(9, [a, b]) == [rows[3]]
