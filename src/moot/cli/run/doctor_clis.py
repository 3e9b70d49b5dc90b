"""What `moot doctor cli` says of the coding CLIs that agents are: installed, new enough, logged in, with the flags
Moot uses.

Above: doctor.py. Below: the programs themselves, asked for `--version` and `--help`; nothing is prompted, no token
used.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from moot.brains.command.cli_plan import environment, plan_of, program_of
from moot.brains.command.installed_clis import installed
from moot.cli.run.doctor_line import BAD, OK, WARN, DoctorLine
from moot.errors import MootError
from moot.rules.brain_kinds import is_cli
from moot.settings import AgentSettings, Home, load
from moot.settings.values import CliCredential

SECONDS: Final = 20.0
TOPIC: Final = "coding CLIs"


class KnownCli(Struct, frozen=True):
    """What Moot needs of a CLI that it speaks to by its own protocol."""

    oldest: tuple[int, ...]
    help: tuple[str, ...]
    """Words that show what it can do …"""
    flags: tuple[str, ...]
    """… and what has to be among it."""
    login: str
    """A file that is there once somebody has logged in, below the person's home."""
    install: str
    log_in: str


KNOWN: Final = {
    "claude": KnownCli(
        (2, 1, 259),
        ("--help",),
        ("--input-format", "--strict-mcp-config", "--setting-sources", "--permission-mode", "--session-id"),
        ".claude/.credentials.json",
        "npm install -g @anthropic-ai/claude-code",
        "claude, and there /login",
    ),
    "codex": KnownCli(
        (0, 160),
        ("--help",),
        ("app-server",),
        ".codex/auth.json",
        "npm install -g @openai/codex",
        "codex login",
    ),
}


async def coding_clis(home: Home) -> list[DoctorLine]:
    """One line per agent that is a CLI; where there is none, that."""
    rows = [row for row in load(home).agents if is_cli(row.brain)]
    if not rows:
        found = installed(os.environ)
        words = f"no agent is a coding CLI; installed: {', '.join(found) or 'none'}"
        brain = next(iter(found.values()), "")
        way = f"moot agents new NAME --model {shlex.quote(brain)} --project DIR" if brain else ""
        return [DoctorLine(TOPIC, OK, words, way)]
    return [line for lines in await asyncio.gather(*(_lines(row, home) for row in rows)) for line in lines]


async def _lines(row: AgentSettings, home: Home) -> list[DoctorLine]:
    program = program_of(row.brain)
    known = KNOWN.get(program) if row.brain.startswith("command:") else None
    if shutil.which(program) is None:
        fix = known.install if known is not None else f"install {program}"
        return [DoctorLine(TOPIC, BAD, f"{row.name}: {program} is not installed, or not on the PATH", fix)]
    try:
        plan_of(row, load(home).coding, home, os.environ)
    except MootError as refusal:
        return [DoctorLine(TOPIC, BAD, f"{row.name}: {refusal.title}", str(next(iter(refusal.fix), "")))]
    if known is None:
        return [DoctorLine(TOPIC, OK, f"{row.name}: {program} is installed")]
    return await _checked(row, program, known)


async def _checked(row: AgentSettings, program: str, known: KnownCli) -> list[DoctorLine]:
    environ = environment(os.environ, row.environment)
    output = await _output_of([program, "--version"], environ)
    version = tuple(int(part) for part in re.findall(r"\d+", output)[:3])
    if version < known.oldest:
        wanted = ".".join(map(str, known.oldest))
        number = output.split()[0] if output else "says no version"
        words = f"{row.name}: {program} {number}; {wanted} or newer is needed"
        return [DoctorLine(TOPIC, BAD, words, known.install)]
    offered = await _output_of([program, *known.help], environ)
    missing = [flag for flag in known.flags if flag not in offered]
    if missing:
        words = f"{row.name}: {program} {output.split()[0]} does not know {', '.join(missing)}"
        return [DoctorLine(TOPIC, BAD, words, known.install)]
    if row.credential is CliCredential.LOGIN and not (Path.home() / known.login).exists():
        words = f"{row.name}: {program} seems not to be logged in (no ~/{known.login})"
        return [DoctorLine(TOPIC, WARN, words, known.log_in)]
    return [DoctorLine(TOPIC, OK, f"{row.name}: {program} {output.split()[0]} in {row.project}")]


async def _output_of(words: Sequence[str], environ: dict[str, str]) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            env=environ,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        out, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    except (OSError, TimeoutError):
        return ""
    return out.decode("utf-8", "replace").strip()
