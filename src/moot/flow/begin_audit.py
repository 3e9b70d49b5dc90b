"""Begin the audit, and see whether the policy is another: when a home is opened, and when moot.toml was read again.

What was made before there was an audit is adopted as it stands, so that whoever verifies knows what it stood like.
Above: hub/process/audit_log.py. Below: steps/acts.py.
"""

from msgspec import Struct

from moot.flow.steps import acts
from moot.model.change import Decision
from moot.model.entrance import DoorName
from moot.model.ids import SYSTEM
from moot.model.moment import Moment
from moot.model.records.audit import ACTS, AUDIT_ENTRIES, CHAIN_HEADS, AuditedAct, AuditEntry
from moot.model.records.link import LINKS, Policy
from moot.model.records.note import NOTE_PERMISSIONS, NoteName
from moot.model.records.task import TASKS, TaskState
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

THE_POLICY = "policy hub"
"""What the audit calls `hub.policy`."""


class BeginAudit(Struct, frozen=True, gc=False):
    notes: tuple[NoteName, ...] = ()
    """All there are, as the caller found them, where there is no audit yet."""
    begins: bool = False


def scope(command: BeginAudit) -> Scope:
    lookups = (acts.HEAD, AUDIT_ENTRIES.where(subject=THE_POLICY))
    if not command.begins:
        return Scope(records=lookups)
    return Scope(
        records=(
            *lookups,
            LINKS.all(),
            *(TASKS.where(state=state.value) for state in TaskState),
            *(NOTE_PERMISSIONS.where(note=note) for note in command.notes),
        ),
        everyone=True,
    )


def decide(command: BeginAudit, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    if seen.record(CHAIN_HEADS, ACTS) is None:
        if not command.begins:
            raise LookupError("the audit has not begun, and what stands here is not at hand")
        _adopt(draft, command)
    before = policy_of(seen.records(AUDIT_ENTRIES.where(subject=THE_POLICY)))
    policy = at.terms.policy
    if policy is not before:
        detail = {"policy": policy.value, "was": before.value if before is not None else None}
        acts.enter(draft, AuditedAct.POLICY_SET, SYSTEM, THE_POLICY, detail, door=DoorName.CONFIG)
    return Decision(draft.changes(), None)


def policy_of(entries: list[AuditEntry]) -> Policy | None:
    """As it was last entered."""
    newest = max(entries, key=lambda entry: entry.place, default=None)
    return None if newest is None else Policy(str(newest.detail["policy"]))


def _adopt(draft: Draft, command: BeginAudit) -> None:
    acts.enter(draft, AuditedAct.AUDIT_BEGAN, SYSTEM, "home")
    for link in draft.seen.records(LINKS.all()):
        acts.adopt_link(draft, link)
    for note in command.notes:
        for given in draft.seen.records(NOTE_PERMISSIONS.where(note=note)):
            acts.adopt_permission(draft, given)
    for state in TaskState:
        for task in draft.seen.records(TASKS.where(state=state.value)):
            if not task.chain:
                acts.put_task(draft, AuditedAct.TASK_ADOPTED, task, SYSTEM)
