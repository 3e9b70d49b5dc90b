"""State again, to a log outside, what was told there once: its rows go into the outbox, before everything new."""

from msgspec import Struct

from moot.model.change import Decision, PutRecord
from moot.model.moment import Moment
from moot.model.records.outbox import OUTBOX, OutboxRow
from moot.ports import Scope
from moot.rules.draft import Seen


class Restate(Struct, frozen=True, gc=False):
    rows: tuple[OutboxRow, ...]


def scope(command: Restate) -> Scope:
    return Scope()


def decide(command: Restate, seen: Seen, at: Moment) -> Decision[None]:
    return Decision([PutRecord(OUTBOX, row) for row in command.rows], None)
