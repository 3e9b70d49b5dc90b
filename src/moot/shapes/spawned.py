"""Agents that were started from templates, as the outside sees them."""

from moot.model.records import spawned as model_spawned
from moot.shapes.shape import Names, Shape, when
from moot.shapes.tasks import Task


class Spawned(Shape, frozen=True):
    """An agent that was started from a template."""

    agent: str
    template: str
    by: str
    """Who started it, and is its superior if that is an agent."""
    depth: int
    """1 where it was started by somebody who was not."""
    project: str
    link: str | None
    task: Task | None
    """The first task, in the answer to whoever started it."""
    turn: str | None
    """The turn in which that is worked on."""
    until: str | None
    """When it retires at the latest."""
    created_at: str | None
    ended_at: str | None
    """When it retired; null while it is there."""
    ending: str | None
    """Why it retired."""

    @classmethod
    def of(cls, record: model_spawned.SpawnRecord, names: Names, *, link: str | None = None) -> "Spawned":
        return cls(
            agent=names(record.agent),
            template=record.template,
            by=names(record.by),
            depth=record.depth,
            project=record.project,
            link=link,
            task=None,
            turn=None,
            until=when(record.until),
            created_at=when(record.created_at),
            ended_at=when(record.ended_at),
            ending=record.ending or None,
        )
