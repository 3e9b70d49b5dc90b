"""Start an agent from a template: what the template says, where it may work, and who may start it.

Above: hub.spawn. Below: flow/spawn.py decides, process/spawned_agents.py runs what was started.
"""

from collections.abc import Sequence
from pathlib import Path

import structlog
from msgspec import Struct, structs

from moot import shapes
from moot.errors import BadValue, NotFound
from moot.flow import spawn
from moot.flow.enrol import Newcomer
from moot.flow.spawn import SpawnedAgent
from moot.hub.commands.spawn_rights import beyond
from moot.hub.commands.values import check_described, check_project
from moot.hub.core import Core
from moot.hub.speaker import Speaker
from moot.model.hint import Act, Hint
from moot.model.participant import AgentConfig, Participant
from moot.model.records.spawned import SPAWNED, SpawnRecord
from moot.rules.brain_kinds import EXTERNAL, kind_of
from moot.settings import AgentSettings, Home, RunSettings, Settings, TemplateSettings
from moot.settings.problems import as_toml, near
from moot.settings.schema.constraints import EVERY_TEMPLATE
from moot.settings.schema.tools import toolbox
from moot.settings.values import CliPermissions
from moot.wiring import spec

log = structlog.get_logger("moot.spawn")

WRITERS = frozenset({"command", "acp"})
"""Brains that are programs, which edit files."""
HERE = "."
"""A template's project that means: where its spawner works."""


class SpawnOrder(Struct, frozen=True):
    """A request to start an agent."""

    template: str
    name: str
    project: str
    task: str
    key: str


async def spawned(speaker: Speaker, order: SpawnOrder) -> SpawnedAgent:
    core = speaker.core
    settings, home = core.parts.settings, core.parts.home
    author = await core.directory.participant(speaker.me)
    template = _template(settings, order.template)
    records = await core.parts.store.records(SPAWNED.all())
    behind = row_behind(settings, author, records)
    project = _project(core, author, template, order.project, behind)
    row = row_of(template, order.name or order.template, project)
    spec(row, home)  # what cannot be run is refused here
    command = spawn.Spawn(
        author=author.id,
        template=order.template,
        newcomer=_newcomer(template, order.name, project),
        allowed=allowed(core, author, records),
        beyond=tuple(beyond(row, behind)) if behind is not None else (),
        elsewhere=_elsewhere(core, author, template, project, behind),
        task=speaker.checked(order.task) if order.task else "",
        max_seconds=template.max_minutes * 60.0,
        idle_seconds=template.idle_minutes * 60.0,
        key=order.key,
        turn=speaker.turn.id if speaker.turn is not None else None,
        fence=speaker.turn.fence if speaker.turn is not None else 0,
    )
    done = await core.do(spawn, command)
    await core.directory.refresh()
    try:
        await core.run_spawned()
    except Exception as trouble:  # it is stored as started; the next look tries to run it again
        log.warning(
            "could not be run at once", action="spawn_not_run", agent=done.agent.name, error=repr(trouble)
        )
    return done


def _template(settings: Settings, name: str) -> TemplateSettings:
    template = settings.templates.get(name)
    if template is None:
        templates = list(settings.templates)
        raise NotFound(
            f'no template is called "{name}"',
            what="template",
            detail=f"templates: {', '.join(templates)}" if templates else "moot.toml has no [templates.NAME]",
            suggestions=near(name, templates),
            fix=(Hint(Act.EDIT_SETTINGS),),
            ref=name,
        )
    return template


def _newcomer(template: TemplateSettings, name: str, project: str) -> Newcomer:
    if kind_of(template.brain) is EXTERNAL:
        raise BadValue(
            "a template with an external brain cannot be started",
            detail="nobody would run it; such an agent comes by itself",
            fix=(Hint(Act.EDIT_SETTINGS),),
        )
    check_described(role=template.role, project=project)
    config = AgentConfig(template.on_busy.value, template.avatar)
    return Newcomer(name=name, role=template.role, brain=template.brain, project=project, config=config)


def can_write(template: TemplateSettings) -> bool:
    """Whether what is started from it may change files in its project."""
    is_program = template.brain.partition(":")[0] in WRITERS
    edits = is_program and template.permissions is not CliPermissions.READ
    return edits or bool(toolbox(template.tools).programs)


def row_of(template: TemplateSettings, name: str, project: str) -> AgentSettings:
    """A started agent, as moot.toml would describe it."""
    shared = {field: getattr(template, field) for field in RunSettings.__struct_fields__}
    return AgentSettings(**{**shared, "name": name, "project": project or HERE})


# --- which templates ------------------------------------------------------------------------------------------


def allowed(core: Core, participant: Participant, records: Sequence[SpawnRecord]) -> tuple[str, ...]:
    """The templates an agent may start from: those of its row, or of the template it was started from, limited to those
    of its spawner. People may use all of them."""
    return tuple(sorted(_allowed(core, participant, records)))


def _allowed(core: Core, participant: Participant, records: Sequence[SpawnRecord]) -> frozenset[str]:
    settings = core.parts.settings
    if not participant.speaks_in_turns:
        return frozenset(settings.templates)
    record = _record(settings, participant, records)
    if record is None:
        row = row_behind(settings, participant, records)
        if row is None and participant.removed:
            return frozenset()  # its spawner is no longer on record
        return _named(settings, row.spawns if row is not None else settings.spawn.outside_agents)
    template, above = settings.templates.get(record.template), core.directory.by_id(record.by)
    if template is None or above is None:
        return frozenset()
    return _named(settings, template.spawns) & _allowed(core, above, records)


def row_behind(
    settings: Settings, participant: Participant, records: Sequence[SpawnRecord]
) -> AgentSettings | None:
    """What moot.toml says of an agent: its row, or the template it was started from. None for people, and for agents
    that come from outside."""
    record = _record(settings, participant, records)
    if record is None:
        return _row(settings, participant)
    template = settings.templates.get(record.template)
    return row_of(template, participant.name, record.project) if template is not None else None


def _row(settings: Settings, participant: Participant) -> AgentSettings | None:
    return next(
        (
            row
            for row in settings.agents
            if row.name in (participant.id, participant.name, *participant.aliases)
        ),
        None,
    )


def _record(
    settings: Settings, participant: Participant, records: Sequence[SpawnRecord]
) -> SpawnRecord | None:
    """How it was started, even if it has retired: the agents it started keep its rules. None if moot.toml has a row for
    it by now."""
    record = next((each for each in records if each.agent == participant.id), None)
    return record if record is None or record.lives or _row(settings, participant) is None else None


def _named(settings: Settings, names: tuple[str, ...]) -> frozenset[str]:
    every = frozenset(settings.templates)
    return every if EVERY_TEMPLATE in names else every & frozenset(names)


# --- where it works -------------------------------------------------------------------------------------------


def _project(
    core: Core, author: Participant, template: TemplateSettings, requested: str, behind: AgentSettings | None
) -> str:
    """The folder it gets; for an agent that starts one, inside what the owner's settings open to it."""
    home = core.parts.home
    if requested:
        check_described(project=requested)
        check_project(home, str(home.folder(requested)))
        if not home.folder(requested).is_dir():
            raise BadValue(
                f"project = {as_toml(requested)} is no folder", detail="expected a folder that exists"
            )
        return str(home.folder(requested))
    if own := _own(home, template.project):
        return own
    theirs = _own(home, author.project)
    if behind is None and _elsewhere(core, author, template, theirs, behind):
        return ""  # where an agent from outside says it works is no folder of ours
    return theirs


def _own(home: Home, project: str) -> str:
    return str(home.folder(project)) if project not in ("", HERE) else ""


def _elsewhere(
    core: Core, author: Participant, template: TemplateSettings, project: str, behind: AgentSettings | None
) -> str:
    """What is wrong with a folder for this author: an agent to which moot.toml gives a folder starts others in there,
    or where the owner opens more to all; any other where the template says. What an agent says of its own folder
    opens nothing."""
    home = core.parts.home
    if not author.speaks_in_turns or not project:
        return ""
    own_project = _own(home, behind.project) if behind is not None else ""
    first = own_project or _own(home, template.project)
    roots = [home.folder(root) for root in (first, *core.parts.settings.spawn.directories) if root]
    if any(Path(project).is_relative_to(root) for root in roots):
        return ""
    return f"expected a folder in {', '.join(map(str, roots))}" if roots else "spawn.directories opens none"


# --- what is said of it ---------------------------------------------------------------------------------------


async def shape_of(core: Core, done: SpawnedAgent) -> shapes.Spawned:
    """The answer to its spawner, with its first task and the turn for it."""
    names = core.directory.name
    link = done.link.id if done.link is not None else None
    shape = shapes.Spawned.of(done.record, names, link=link)
    if done.task is None:
        return shape
    turns = await core.parts.store.turns(conversation=done.task.conversation, agent=done.agent.id)
    first = str(turns[0].id) if turns else None
    return structs.replace(shape, task=shapes.Task.of(done.task, names), turn=first)
