"""Make the brain that a brain string names: `command:…` and `acp:…`.

Above: wiring. Light to import: the drivers are loaded with the first agent that needs one.
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
"""One of each per home in this process."""
_last_settings: dict[Path, CodingSettings] = {}
"""The settings of each home when its file could last be read."""


def brain_of(row: AgentSettings, home: Home, tools: tuple[Tool, ...]) -> tuple[CommandBrain, Offered]:
    coding = _coding_settings(home)
    plan = plan_of(row, coding, home, os.environ)
    projects = _projects.setdefault(home.path, ProjectLocks(plan.run_folder))
    brain = CommandBrain(plan, pool_of(home, coding), projects, {tool.spec.name: tool for tool in tools})
    return brain, Offered(tuple(tool.spec for tool in tools))


def check_program(row: AgentSettings) -> None:
    """Raise BadValue if the program of this agent is not installed."""
    missing = missing_program(row, os.environ)
    if missing is not None:
        raise missing


def pool_of(home: Home, coding: CodingSettings) -> ProcessPool:
    """New limits apply to an existing pool, too."""
    wanted = ProcessPool(coding.max_processes, coding.idle_minutes * 60)
    pool = _pools.setdefault(home.path, wanted)
    pool.max_processes, pool.idle_seconds = wanted.max_processes, wanted.idle_seconds
    return pool


def _coding_settings(home: Home) -> CodingSettings:
    """While the file cannot be read, its last settings stay in force. Without any, no CLI is started: a misspelt line
    must not open every folder."""
    try:
        _last_settings[home.path] = load(home).coding
    except BadSettings:
        if home.path not in _last_settings:
            raise
    return _last_settings[home.path]
