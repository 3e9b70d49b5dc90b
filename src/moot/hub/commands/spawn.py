"""Start an agent from a template: what the template says, where it may work, and who may start it.

Above: hub.spawn. Below: flow/spawn.py decides, process/spawned_agents.py runs what was started.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct, structs

from moot import shapes
from moot.errors import BadValue, NotFound, NotPermitted
from moot.flow import spawn
from moot.flow.enrol import Newcomer
from moot.flow.spawn import SpawnedAgent
from moot.hub.commands.values import check_described, check_project
from moot.hub.core import Core
from moot.hub.speaker import Speaker
from moot.model.hint import Act, Hint
from moot.model.participant import AgentConfig, Participant
from moot.model.records.spawned import SPAWNED, SpawnRecord
from moot.rules.brain_kinds import EXTERNAL, kind_of
from moot.settings import AgentSettings, Home, Settings, TemplateSettings
from moot.settings.problems import near, shown
from moot.settings.schema.constraints import EVERY_TEMPLATE
from moot.settings.schema.tools import toolbox
from moot.settings.values import CliPermissions
from moot.wiring import spec

WRITERS = frozenset({"command", "acp"})
"""Brains that are programs, which edit files."""
HERE = "."
"""A template's project that says nothing: it works where whoever starts it works."""


class SpawnOrder(Struct, frozen=True):
    """What somebody wants started."""

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
    kept = await core.parts.store.records(SPAWNED.all())
    project = _project(core, author, template, order.project)
    spec(row_of(template, order.name or order.template, project), home)  # what cannot be run is refused here
    command = spawn.Spawn(
        author=author.id,
        template=order.template,
        newcomer=_newcomer(template, order.name, project),
        allowed=allowed(core, author, kept),
        task=speaker.checked(order.task) if order.task else "",
        max_seconds=template.max_minutes * 60.0,
        idle_seconds=template.idle_minutes * 60.0,
        key=order.key,
        turn=speaker.turn.id if speaker.turn is not None else None,
        fence=speaker.turn.fence if speaker.turn is not None else 0,
    )
    done = await core.do(spawn, command)
    await core.directory.refresh()
    await core.run_spawned()
    return done


def _template(settings: Settings, name: str) -> TemplateSettings:
    found = settings.templates.get(name)
    if found is None:
        known = list(settings.templates)
        raise NotFound(
            f'no template is called "{name}"',
            what="template",
            detail=f"templates: {', '.join(known)}" if known else "moot.toml has no [templates.NAME]",
            suggestions=near(name, known),
            fix=(Hint(Act.EDIT_SETTINGS),),
            ref=name,
        )
    return found


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
    shared = {
        field: getattr(template, field)
        for field in TemplateSettings.__struct_fields__
        if field in AgentSettings.__struct_fields__
    }
    return AgentSettings(**{**shared, "name": name, "project": project or HERE})


# --- which templates ------------------------------------------------------------------------------------------


def allowed(core: Core, who: Participant, kept: Sequence[SpawnRecord]) -> tuple[str, ...]:
    """The templates that an agent may start from: what its row says, or the template it was started from, and then no
    more than whoever started it may. People may start from all of them."""
    return tuple(sorted(_allowed(core, who, kept)))


def _allowed(core: Core, who: Participant, kept: Sequence[SpawnRecord]) -> frozenset[str]:
    settings = core.parts.settings
    if not who.speaks_in_turns:
        return frozenset(settings.templates)
    record = next((one for one in kept if one.agent == who.id and one.lives), None)
    if record is None:
        row = next((row for row in settings.agents if row.name in (who.id, who.name, *who.aliases)), None)
        return _named(settings, row.spawns if row is not None else settings.spawn.outside_agents)
    template, above = settings.templates.get(record.template), core.directory.known(record.by)
    if template is None or above is None:
        return frozenset()
    return _named(settings, template.spawns) & _allowed(core, above, kept)


def _named(settings: Settings, names: tuple[str, ...]) -> frozenset[str]:
    every = frozenset(settings.templates)
    return every if EVERY_TEMPLATE in names else every & frozenset(names)


# --- where it works -------------------------------------------------------------------------------------------


def _project(core: Core, author: Participant, template: TemplateSettings, wanted: str) -> str:
    """The folder it gets; for an agent that starts one, inside what the owner's settings open to it."""
    home = core.parts.home
    own = "" if template.project == HERE else str(home.folder(template.project))
    theirs = str(home.folder(author.project)) if author.project not in ("", HERE) else ""
    if not wanted:
        return own or theirs
    check_described(project=wanted)
    folder = home.folder(wanted)
    check_project(home, str(folder))
    if not folder.is_dir():
        raise BadValue(f"project = {shown(wanted)} is no folder", detail="expected a folder that exists")
    if author.speaks_in_turns:
        _refuse_elsewhere(home, folder, (own, theirs, *core.parts.settings.spawn.directories), author)
    return str(folder)


def _refuse_elsewhere(home: Home, folder: Path, open_to: Iterable[str], author: Participant) -> None:
    roots = [home.folder(root) for root in open_to if root]
    if not any(folder.is_relative_to(root) for root in roots):
        inside = ", ".join(map(str, roots))
        raise NotPermitted(
            f"{author.name} may not start an agent in {folder}",
            detail=f"expected a folder in {inside}" if inside else "spawn.directories opens none",
            fix=(Hint(Act.SHOW_SETTING, setting="spawn.directories"),),
            rule="spawn",
        )


# --- what is said of it ---------------------------------------------------------------------------------------


async def shape_of(core: Core, done: SpawnedAgent) -> shapes.Spawned:
    """The answer to whoever started it, with its first task and the turn for that."""
    names = core.directory.name
    link = done.link.id if done.link is not None else None
    shape = shapes.Spawned.of(done.record, names, link=link)
    if done.task is None:
        return shape
    turns = await core.parts.store.turns(conversation=done.task.conversation, agent=done.who.id)
    first = str(turns[0].id) if turns else None
    return structs.replace(shape, task=shapes.Task.of(done.task, names), turn=first)
