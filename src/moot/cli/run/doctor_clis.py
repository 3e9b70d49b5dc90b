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
    """Arguments that print its options."""
    flags: tuple[str, ...]
    """Flags that these options must include."""
    login: str
    """A file below the person's home that exists after login."""
    install: str
    log_in: str


KNOWN_CLIS: Final = {
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
    """One line per agent that is a CLI, or a line that there is none."""
    rows = [row for row in load(home).agents if is_cli(row.brain)]
    if not rows:
        programs = installed(os.environ)
        words = f"no agent is a coding CLI; installed: {', '.join(programs) or 'none'}"
        brain = next(iter(programs.values()), "")
        way = f"moot agents new NAME --model {shlex.quote(brain)} --project DIR" if brain else ""
        return [DoctorLine(TOPIC, OK, words, way)]
    return [line for lines in await asyncio.gather(*(_lines(row, home) for row in rows)) for line in lines]


async def _lines(row: AgentSettings, home: Home) -> list[DoctorLine]:
    program = program_of(row.brain)
    cli = KNOWN_CLIS.get(program) if row.brain.startswith("command:") else None
    if shutil.which(program) is None:
        fix = cli.install if cli is not None else f"install {program}"
        return [DoctorLine(TOPIC, BAD, f"{row.name}: {program} is not installed, or not on the PATH", fix)]
    try:
        plan_of(row, load(home).coding, home, os.environ)
    except MootError as refusal:
        return [DoctorLine(TOPIC, BAD, f"{row.name}: {refusal.title}", str(next(iter(refusal.fix), "")))]
    if cli is None:
        return [DoctorLine(TOPIC, OK, f"{row.name}: {program} is installed")]
    return await _check_cli(row, program, cli)


async def _check_cli(row: AgentSettings, program: str, cli: KnownCli) -> list[DoctorLine]:
    environ = environment(os.environ, row.environment)
    output = await _output_of([program, "--version"], environ)
    version = tuple(int(part) for part in re.findall(r"\d+", output)[:3])
    if version < cli.oldest:
        oldest = ".".join(map(str, cli.oldest))
        number = output.split()[0] if output else "says no version"
        words = f"{row.name}: {program} {number}; {oldest} or newer is needed"
        return [DoctorLine(TOPIC, BAD, words, cli.install)]
    offered = await _output_of([program, *cli.help], environ)
    missing = [flag for flag in cli.flags if flag not in offered]
    if missing:
        words = f"{row.name}: {program} {output.split()[0]} does not know {', '.join(missing)}"
        return [DoctorLine(TOPIC, BAD, words, cli.install)]
    if row.credential is CliCredential.LOGIN and not (Path.home() / cli.login).exists():
        words = f"{row.name}: {program} seems not to be logged in (no ~/{cli.login})"
        return [DoctorLine(TOPIC, WARN, words, cli.log_in)]
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
