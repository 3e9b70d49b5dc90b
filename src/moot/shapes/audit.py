"""The audit, as the outside sees it."""

from moot.model.json import JsonObject
from moot.model.records import audit as model_audit
from moot.ports import AuditReport as StoreReport
from moot.rules.audit_walk import Purged as PurgedChain
from moot.shapes import audit_sentence
from moot.shapes.shape import Names, Shape, when


class AuditEntry(Shape, frozen=True):
    """One thing that was done, or refused."""

    chain: str
    place: int
    at: str | None
    by: str
    on_behalf_of: str | None
    """In whose name, where the owner spoke for somebody."""
    door: str
    act: str
    subject: str
    detail: JsonObject
    count: int
    last_at: str | None
    """Of refusals: when it was last counted."""
    sentence: str
    hash: str

    @classmethod
    def of(cls, entry: model_audit.AuditEntry, names: Names) -> "AuditEntry":
        return cls(
            chain=entry.chain,
            place=entry.place,
            at=when(entry.at),
            by=names(entry.by),
            on_behalf_of=audit_sentence.name_of(entry.on_behalf_of, names) if entry.on_behalf_of else None,
            door=entry.door.value,
            act=entry.act.value,
            subject=entry.subject,
            detail=entry.detail,
            count=entry.count,
            last_at=when(entry.last_at),
            sentence=audit_sentence.sentence(entry, names),
            hash=entry.hash,
        )


class PurgedRecord(Shape, frozen=True):
    """What somebody erased on purpose."""

    what: str
    name: str
    entries: int
    """That its chain had."""
    head: str
    by: str
    at: str | None

    @classmethod
    def of(cls, gone: PurgedChain, names: Names) -> "PurgedRecord":
        by = audit_sentence.name_of(gone.by, names)
        return cls(gone.what, gone.name, gone.length, gone.head, by, when(gone.at))


class AuditReport(Shape, frozen=True):
    """What verifying the audit found."""

    ok: bool
    messages: int
    entries: int
    """Of acts, refusals and tasks."""
    chains: int
    compared: int
    """Chains that were compared with the file of hashes outside the database."""
    problems: tuple[str, ...]
    purged: tuple[PurgedRecord, ...]

    @classmethod
    def of(cls, report: StoreReport, names: Names) -> "AuditReport":
        return cls(
            ok=not report.problems,
            messages=report.messages,
            entries=report.entries,
            chains=report.chains,
            compared=report.compared,
            problems=report.problems,
            purged=tuple(PurgedRecord.of(gone, names) for gone in report.purged),
        )
