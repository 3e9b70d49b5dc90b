"""Moving all that a store holds into another one: row by row, resumed after an interruption, compared at the end.

Above: wiring opens both ends. Below: each engine's holdings.py reads and writes rows. No verb is run, no clock read:
what arrives is what was there. The old store is only read.

Rows are read in the order of their keys, and each piece commits together with how many have arrived, so a move that
was interrupted goes on behind the last piece. Where the old store has changed meanwhile it begins anew.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final, Protocol

from msgspec import Struct, json

from moot.errors import Conflict, StoreDamaged
from moot.failpoints import failpoint
from moot.storage import Transferred
from moot.stores import rows
from moot.stores.statements import Statements


class KeptText(Struct, frozen=True):
    """A text under its fingerprint."""

    digest: str
    text: str


KINDS: Final[dict[str, rows.Rows[Any]]] = {**rows.CORE, "texts": rows.Rows(KeptText), **rows.RECORDS}
"""All that is moved, in this order. Indexes and counters are made anew by whoever takes them in."""
AT_ONCE: Final = 1000
"""Rows that are committed together."""


def put_statements(write: Statements, records: Mapping[str, Statements]) -> dict[str, str]:
    """The statement that stores a row of each kind, out of one engine's own."""
    return {
        "registry": write.put_participant,
        "conversations": write.put_conversation,
        "members": write.put_member,
        "messages": write.append_message,
        "revisions": write.append_revision,
        "turns": write.put_turn,
        "rounds": write.put_round,
        "roots": write.put_root,
        "pairs": write.put_pair,
        "quotas": write.put_quota,
        "hosts": write.put_host,
        "summaries": write.add_summary,
        "events": write.append_event,
        "texts": write.keep_text,
        **{name: statements.put for name, statements in records.items()},
    }


class InstanceFacts(Struct, frozen=True):
    """What makes it this instance and no other."""

    named: dict[str, str]
    """`id`, `secret` and what else is known under a name."""
    last_event: int
    horizon: int

    @property
    def id(self) -> str:
        return self.named["id"]


class TransferMark(Struct, frozen=True):
    """How far a move has come, as it is kept at its target."""

    origin: str
    """The instance that is moved."""
    as_of: str
    """The state of the old store when the move began."""
    done: dict[str, int]
    """Rows that have arrived, by kind."""


class Holdings(Protocol):
    """All that a store holds, to be read."""

    place: str

    async def facts(self) -> InstanceFacts: ...
    async def sizes(self) -> dict[str, int]: ...
    def values(self, kind: str) -> AsyncIterator[list[Any]]:
        """All of a kind in the order of their keys, some at a time."""
        ...

    async def close(self) -> None: ...


class EmptyHoldings(Holdings, Protocol):
    """A store that can take in everything. Until `finish` nobody else can open it."""

    async def mark(self) -> TransferMark | None: ...
    async def put(self, kind: str, values: list[Any], mark: TransferMark) -> None:
        """These rows and the mark, in one transaction."""
        ...

    async def empty(self, mark: TransferMark) -> None: ...
    async def problems(self) -> list[str]:
        """Read all of it, with every chain."""
        ...

    async def finish(self, facts: InstanceFacts) -> None: ...


Progress = Callable[[str, int, int], None]
"""What is done now, how many rows of how many."""


async def transfer(origin: Holdings, target: EmptyHoldings, progress: Progress) -> Transferred:
    """Everything from the one into the other. Raises where they are not the same afterwards."""
    facts, sizes = await origin.facts(), await origin.sizes()
    mark = await _begun(target, TransferMark(facts.id, _state(facts, sizes), {}))
    already = sum(mark.done.values())
    move = _Move(origin, target, progress, sum(sizes.values()))
    digests = {kind: await move.copy(kind, mark) for kind in KINDS}
    await move.compare(digests, mark)
    if problems := await target.problems():
        raise StoreDamaged(
            f"{target.place} does not verify after the move",
            detail="; ".join(problems[:3]),
            fix=("check the old store first; it was not changed",),
            path=target.place,
        )
    await target.finish(facts)
    return Transferred(
        origin.place, target.place, rows=move.total, messages=sizes["messages"], resumed=already
    )


async def _begun(target: EmptyHoldings, mark: TransferMark) -> TransferMark:
    """The mark of this move, or of the one that was interrupted and goes on."""
    found = await target.mark()
    if found is None:
        full = {kind: size for kind, size in (await target.sizes()).items() if size}
        if full:
            raise Conflict(
                f"{target.place} is not empty",
                detail="it holds " + ", ".join(f"{size} {kind}" for kind, size in full.items()),
                fix=("name an empty database, or another schema: ?schema=NAME",),
            )
    elif found.origin != mark.origin:
        raise Conflict(
            f"{target.place} holds an unfinished move of another store",
            detail=f"of instance {found.origin}, and this is {mark.origin}; nothing was changed",
            fix=("finish that one, or name an empty database",),
        )
    elif found.as_of == mark.as_of:
        return found
    await target.empty(mark)
    return mark


def _state(facts: InstanceFacts, sizes: Mapping[str, int]) -> str:
    return hashlib.sha256(json.encode((facts.last_event, sorted(sizes.items())))).hexdigest()


class _Move:
    """One move under way."""

    def __init__(self, origin: Holdings, target: EmptyHoldings, progress: Progress, total: int) -> None:
        self._origin = origin
        self._target = target
        self._progress = progress
        self.total = total
        self._seen = 0

    async def copy(self, kind: str, mark: TransferMark) -> str:
        """The rows of a kind that have not arrived yet; a digest of all of them."""
        digest = hashlib.sha256()
        done = skip = mark.done.get(kind, 0)
        async for values in self._origin.values(kind):
            _add(digest, kind, values)
            new, skip = values[skip:], max(0, skip - len(values))
            if new:
                done += len(new)
                mark.done[kind] = done
                await self._target.put(kind, new, mark)
                failpoint("transfer.piece")
            self._report("copied", len(values))
        return digest.hexdigest()

    async def compare(self, digests: Mapping[str, str], mark: TransferMark) -> None:
        """Read back what arrived."""
        self._seen = 0
        for kind, expected in digests.items():
            digest = hashlib.sha256()
            async for values in self._target.values(kind):
                _add(digest, kind, values)
                self._report("verified", len(values))
            if digest.hexdigest() != expected:
                await self._target.empty(TransferMark(mark.origin, "", {}))
                raise StoreDamaged(
                    f"the {kind} in {self._target.place} are not those of {self._origin.place}",
                    detail="the old store was changed meanwhile, or one is damaged; what had arrived was removed",
                    fix=("run it again: it begins anew",),
                    path=self._target.place,
                )

    def _report(self, what: str, count: int) -> None:
        self._seen += count
        self._progress(what, self._seen, self.total)


def _add(digest: Any, kind: str, values: list[Any]) -> None:
    for value in values:
        digest.update(json.encode(KINDS[kind].row(value)))
