"""Entering what was done into the audit, in the same decision.

A verb that enters an act asks for `HEAD` in its scope; a task brings its own chain with it. The draft refuses a
decision that changes a link, a task or a permission without an entry. Above: verbs, obligations.py. Below:
rules/audit.py chains. Not here: what is refused (record_refusal.py).
"""

from typing import Final

from msgspec import structs

from moot.model.entrance import DoorName
from moot.model.ids import SYSTEM, ParticipantId
from moot.model.json import JsonObject
from moot.model.records.audit import ACTS, AUDIT_ENTRIES, CHAIN_HEADS, OF_TASK, AuditedAct, AuditEntry
from moot.model.records.link import LINKS, Link, LinkOrigin
from moot.model.records.note import NOTE_PERMISSIONS, NoteName, NotePermission
from moot.model.records.task import TASKS, Task
from moot.rules import audit, links
from moot.rules.draft import Draft

HEAD: Final = CHAIN_HEADS.one(ACTS)
"""What a decision must see to enter an act."""


def enter(
    draft: Draft,
    act: AuditedAct,
    by: ParticipantId,
    subject: str,
    detail: JsonObject | None = None,
    *,
    digest: str = "",
    door: DoorName | None = None,
) -> None:
    """One more act at the end of the instance's chain."""
    entry = made(draft, act, by, subject, detail, digest=digest, door=door)
    entry = structs.replace(entry, chain=ACTS)
    entry, head = audit.appended(draft.record(CHAIN_HEADS, ACTS), entry)
    draft.put(AUDIT_ENTRIES, entry)
    draft.put(CHAIN_HEADS, head)


def made(
    draft: Draft,
    act: AuditedAct,
    by: ParticipantId,
    subject: str,
    detail: JsonObject | None = None,
    *,
    digest: str = "",
    door: DoorName | None = None,
) -> AuditEntry:
    """An entry for some chain, as this decision came in. Where the owner spoke for somebody, both are named."""
    came, now = draft.at.entrance, draft.at.now
    for_another = came.owner is not None and came.owner != by
    return AuditEntry(
        chain="",
        place=0,
        at=now,
        by=came.owner if came.owner is not None and for_another else by,
        on_behalf_of=by if for_another else "",
        door=door or came.door,
        act=act,
        subject=subject,
        detail=detail or {},
        digest=digest,
        last_at=now,
    )


# --- links ------------------------------------------------------------------------------------------------------


def put_link(draft: Draft, act: AuditedAct, link: Link, by: ParticipantId) -> None:
    draft.put_link(link)
    _enter_link(draft, act, link, by, audit.row_digest(LINKS, link))


def drop_link(draft: Draft, link: Link, by: ParticipantId) -> None:
    draft.drop_link(link)
    _enter_link(draft, AuditedAct.LINK_DELETED, link, by, "")


def adopt_link(draft: Draft, link: Link) -> None:
    _enter_link(draft, AuditedAct.LINK_ADOPTED, link, SYSTEM, audit.row_digest(LINKS, link))


def _enter_link(draft: Draft, act: AuditedAct, link: Link, by: ParticipantId, digest: str) -> None:
    detail: JsonObject = {
        "from": link.source,
        "to": link.target,
        "direction": link.direction.value,
        "relationship": link.relationship.value,
        "enabled": link.enabled,
        "sentence": links.sentence(link, draft.name),
        **({"place": link.place} if link.place else {}),
    }
    by_file = link.origin is LinkOrigin.CONFIG and draft.at.entrance.door is DoorName.SDK
    door = DoorName.CONFIG if by_file else None
    enter(draft, act, by, LINKS.subject((link.id,)), detail, digest=digest, door=door)


# --- notes ------------------------------------------------------------------------------------------------------


def put_permission(draft: Draft, given: NotePermission, by: ParticipantId) -> NotePermission:
    draft.put(NOTE_PERMISSIONS, given)
    _enter_permission(draft, AuditedAct.NOTE_SHARED, given, by)
    return given


def adopt_permission(draft: Draft, given: NotePermission) -> None:
    _enter_permission(draft, AuditedAct.PERMISSION_ADOPTED, given, SYSTEM)


def _enter_permission(draft: Draft, act: AuditedAct, given: NotePermission, by: ParticipantId) -> None:
    subject = NOTE_PERMISSIONS.subject((given.note, given.participant))
    detail: JsonObject = {"note": given.note, "agent": given.participant, "access": given.access.value}
    enter(draft, act, by, subject, detail, digest=audit.row_digest(NOTE_PERMISSIONS, given))


def drop_permission(draft: Draft, note: NoteName, agent: ParticipantId, by: ParticipantId) -> None:
    draft.drop(NOTE_PERMISSIONS, note, agent)
    detail: JsonObject = {"note": note, "agent": agent, "access": "none"}
    enter(draft, AuditedAct.NOTE_SHARED, by, NOTE_PERMISSIONS.subject((note, agent)), detail)


# --- tasks ------------------------------------------------------------------------------------------------------


def put_task(draft: Draft, act: AuditedAct, task: Task, by: ParticipantId) -> Task:
    """Store a task as it is from now on, with the reason, in its own audit chain."""
    subject = TASKS.subject((task.id,))
    detail: JsonObject = {"by": task.by, "to": task.to, "state": task.state.value}
    entry = made(draft, act, by, subject, detail, digest=audit.row_digest(TASKS, task))
    entry = structs.replace(entry, chain=f"{OF_TASK}{task.id}", place=task.chain_length + 1)
    entry = structs.replace(entry, hash=audit.entry_hash(task.chain, entry))
    task = structs.replace(task, chain=entry.hash, chain_length=entry.place)
    draft.put(AUDIT_ENTRIES, entry)
    return draft.put(TASKS, task)
