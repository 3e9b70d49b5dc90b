"""A brain string of a coding CLI as a brain: `command:…` and `acp:…`.

Above: wiring. Light to import: the drivers come with the first agent that needs one.
"""

import os
from pathlib import Path

from moot.brain import Tool
from moot.brains.command.cli_plan import missing_program, plan_of
from moot.brains.command.command_brain import CommandBrain
from moot.brains.command.process_pool import ProcessPool
from moot.brains.command.project_locks import ProjectLocks
from moot.errors import BadSettings
from moot.model.prompt import Offered
from moot.settings import AgentSettings, Home, load
from moot.settings.values import CodingSettings

_pools: dict[Path, ProcessPool] = {}
_projects: dict[Path, ProjectLocks] = {}
"""One of each for a home in this process."""
_in_force: dict[Path, CodingSettings] = {}
"""What each home's file said when it could last be read."""


def brain_of(row: AgentSettings, home: Home, tools: tuple[Tool, ...]) -> tuple[CommandBrain, Offered]:
    coding = _coding(home)
    plan = plan_of(row, coding, home, os.environ)
    projects = _projects.setdefault(home.path, ProjectLocks(plan.run_folder))
    brain = CommandBrain(plan, pool_of(home, coding), projects, {tool.spec.name: tool for tool in tools})
    return brain, Offered(tuple(tool.spec for tool in tools))


def check_program(row: AgentSettings) -> None:
    """Raise where its program is not installed."""
    missing = missing_program(row, os.environ)
    if missing is not None:
        raise missing


def pool_of(home: Home, coding: CodingSettings) -> ProcessPool:
    """What is set holds for those that run already, too."""
    fresh = ProcessPool(coding.max_processes, coding.idle_minutes * 60)
    pool = _pools.setdefault(home.path, fresh)
    pool.most, pool.idle_seconds = fresh.most, fresh.idle_seconds
    return pool


def _coding(home: Home) -> CodingSettings:
    """While the file is broken what it said before holds. Where that is not known no CLI is started: a misspelt line
    must not open every folder."""
    try:
        _in_force[home.path] = load(home).coding
    except BadSettings:
        if home.path not in _in_force:
            raise
    return _in_force[home.path]
