"""The audit of a home as a process keeps it up: begun when the home is first opened, with what stands there.

Above: runtime.py at the opening, settings_in_force.py when moot.toml was read again. Below: flow/begin_audit.py.
"""

from moot.flow import begin_audit
from moot.model.records.audit import ACTS, AUDIT_ENTRIES, CHAIN_HEADS
from moot.model.records.note import NOTES
from moot.ports import HomeStore
from moot.settings import Settings


async def keep_up(store: HomeStore, settings: Settings) -> None:
    """Begin the audit where there is none, and enter the policy where it is another. Costs two reads otherwise."""
    begins = not await store.records(CHAIN_HEADS.one(ACTS))
    entered = await store.records(AUDIT_ENTRIES.where(subject=begin_audit.THE_POLICY))
    if not begins and begin_audit.policy_of(entered) is settings.hub.policy:
        return
    notes = tuple(note.name for note in await store.records(NOTES.all())) if begins else ()
    await store.transact(begin_audit, begin_audit.BeginAudit(notes, begins=begins))
