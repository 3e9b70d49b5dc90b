"""Seal chains: the entries so far become final, so that their hashes may be exported.

Above: hub/process/heads_export.py, once a minute.
"""

from msgspec import Struct, structs

from moot.model.change import Decision
from moot.model.moment import Moment
from moot.model.records.audit import CHAIN_HEADS
from moot.ports import Scope
from moot.rules import audit
from moot.rules.draft import Draft, Seen


class SealChains(Struct, frozen=True, gc=False):
    """All chains of acts and refusals that have grown."""


def scope(command: SealChains) -> Scope:
    return Scope(records=(CHAIN_HEADS.all(),))


def decide(command: SealChains, seen: Seen, at: Moment) -> Decision[int]:
    """Answers with how many had grown."""
    draft = Draft(seen, at)
    grown = [head for head in seen.records(CHAIN_HEADS.all()) if head.sealed < head.length]
    for head in grown:
        draft.put(CHAIN_HEADS, audit.with_digest(structs.replace(head, sealed=head.length)))
    return Decision(draft.changes(), len(grown))
