"""The parts of a prompt that say where an agent stands: its place in the organisation, whom it talks to over a link,
and the task of the branch it works in.

All of it is read from the link graph and the tasks when the turn is built. Names stand as they are, since a name takes
neither line ends nor quotes; of roles only those the owner wrote are handed in, the others are framed in prompt.py.

Above: prompt.py. Below: rules/org_place.py, the templates.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from moot.context.templates import Templates
from moot.model.ids import ParticipantId
from moot.model.participant import Kind, Participant
from moot.model.records.link import Direction, Link, Policy, Relationship
from moot.model.records.task import TASKS, Task
from moot.ports import Records
from moot.rules.org_place import OrgPlace

GROUPS = {
    "superiors": Relationship.SUPERIOR,
    "reports": Relationship.SUBORDINATE,
    "peers": Relationship.PEER,
}
"""As the template calls them → what they are to the agent."""

ById = Callable[[ParticipantId], Participant | None]
RoleOf = Callable[[Participant], str]


async def org_place(reads: Records, policy: Policy, participant_id: ParticipantId) -> OrgPlace:
    """Where somebody stands now."""
    own = TASKS.where(open_to=participant_id), TASKS.where(open_by=participant_id)
    has_task = any([bool(await reads.records(lookup)) for lookup in own])
    return OrgPlace(participant_id, await reads.graph(), policy, has_task=has_task)


class Organisation:
    """Renders the parts."""

    def __init__(self, templates: Templates, by_id: ById, role: RoleOf) -> None:
        """`role` is what the owner wrote of somebody; empty where somebody else may have."""
        self._templates = templates
        self._by_id = by_id
        self._role = role

    def related(self, place: OrgPlace) -> list[Participant]:
        """Everybody whom a link that is on connects with it."""
        return [participant for group in GROUPS.values() for participant in self._group(place, group)]

    def place(self, place: OrgPlace) -> str:
        """Its place in the organisation; nothing where it has no links."""
        groups = {
            name: [
                self._described(participant, place.may_write_to(participant.id))
                for participant in self._group(place, group)
            ]
            for name, group in GROUPS.items()
        }
        relations = groups if any(groups.values()) else {}
        return self._templates.render("organisation.md.j2", relations=relations)

    def link(self, link: Link, end: ParticipantId) -> str:
        """In a link's channel: whom it talks to there, and what that one is to it."""
        other = self._by_id(link.other(end))
        if other is None or not link.enabled:
            return ""
        starts = "both" if link.direction is Direction.TWO_WAY else "you" if link.may_start(end) else "other"
        return self._templates.render(
            "link.md.j2",
            other={**self._described(other, link.may_start(end)), "is_your": link.seen_by(end).value},
            starts=starts,
        )

    def task(self, task: Task, agent: ParticipantId, *, may_update: bool) -> str:
        """In the branch of a task: for whom, until when, and how to report."""
        if agent != task.to or not task.is_open:
            return ""
        by = self._by_id(task.by)
        return self._templates.render(
            "task.md.j2",
            task={"id": task.id, "deadline": _moment(task.deadline)},
            by={
                "name": by.name if by is not None else task.by,
                "is_person": by is not None and by.kind is Kind.HUMAN,
            },
            may_update=may_update,
        )

    def _group(self, place: OrgPlace, group: Relationship) -> list[Participant]:
        found = (
            self._by_id(participant_id) for participant_id in place.graph.related(place.participant, group)
        )
        return sorted(
            (participant for participant in found if participant is not None and not participant.removed),
            key=lambda participant: participant.name,
        )

    def _described(self, participant: Participant, may_start: bool) -> dict[str, str | bool]:
        return {"name": participant.name, "role": self._role(participant), "may_start": may_start}


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC") if at else ""
