"""From a row of moot.toml to the plan of its CLI: driver, folder, environment, sandbox.

Above: wiring. Below: the drivers. What a CLI must not have is refused here: variables of the environment that are not
on the list, folders outside those that are allowed, flags that take its own brakes off.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from moot import files
from moot.brains.command.cli_sandbox import SandboxWrap, find_bwrap, no_sandbox, wrapper
from moot.brains.command.command_brain import CliPlan
from moot.brains.command.driver import Driver, Permissions
from moot.brains.command.drivers.acp import AcpDriver
from moot.brains.command.drivers.claude import ClaudeDriver
from moot.brains.command.drivers.codex import CodexDriver
from moot.brains.command.drivers.template import TemplateDriver, refused_flag, words_of
from moot.brains.command.repository.git_guard import GitGuard
from moot.brains.command.worktree_git import LinkedWorktree, find_worktree
from moot.brains.llm.keys import ANTHROPIC, OPENAI, KeyRing, Secret
from moot.errors import BadValue
from moot.model.hint import Act, Hint
from moot.settings import AgentSettings, Home
from moot.settings.values import CliCredential, CliSandbox, CodingSettings

ENVIRONMENT_NAMES: Final = frozenset(
    (
        *(
            "PATH",
            "HOME",
            "USER",
            "LOGNAME",
            "SHELL",
            "LANG",
            "LANGUAGE",
            "TERM",
            "TMPDIR",
            "TZ",
            "IS_SANDBOX",
        ),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE"),
        *(
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "NO_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
            "no_proxy",
        ),
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"),
        *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"),
    )
)
"""Variables that every CLI gets: they say where things are, and hold no credential."""
OWN_DRIVERS: Final[Mapping[str, Callable[[], Driver]]] = {"claude": ClaudeDriver, "codex": CodexDriver}
PROVIDERS: Final = {"claude": ANTHROPIC, "codex": OPENAI}
RUN_FOLDER: Final = "clis"
MIN_SECRET_CHARACTERS: Final = 8
"""Of a variable that moot.toml names. A shorter value is no key, and hiding it would make words unreadable."""


def plan_of(row: AgentSettings, coding: CodingSettings, home: Home, environ: Mapping[str, str]) -> CliPlan:
    """Raises BadValue, which says what is wrong and how to fix it."""
    project = _project(row, coding, home)
    variables = environment(environ, row.environment)
    prefix, _, line = row.brain.partition(":")
    words = _words(row, line)
    make = _driver(prefix, words)
    permissions = Permissions(row.permissions.value)
    worktree = find_worktree(project, home) if row.sandbox is CliSandbox.BWRAP else None
    wrap = _sandbox_wrap(row, project, variables, home, worktree)
    key = _key(row, words[0], home, environ)
    return CliPlan(
        agent=row.name,
        project=project,
        make=make,
        environ=variables,
        run_folder=home.run / RUN_FOLDER,
        permissions=permissions,
        wrap=wrap,
        worktree=worktree,
        guard=GitGuard(row.name, project, home, sandboxed=row.sandbox is CliSandbox.BWRAP),
        key=key if words[0] == "codex" else None,
        key_file=_key_file(row, key, home) if key is not None and words[0] == "claude" else None,
        secrets=_secrets(row, key, variables),
        runs_once=prefix == "command" and words[0] not in OWN_DRIVERS,
    )


def environment(environ: Mapping[str, str], extra_names: Sequence[str] = ()) -> dict[str, str]:
    """The part of the host's environment that a CLI gets."""
    return {
        name: value
        for name, value in environ.items()
        if name in ENVIRONMENT_NAMES or name.startswith("LC_") or name in extra_names
    }


def _secrets(row: AgentSettings, key: Secret | None, variables: Mapping[str, str]) -> tuple[Secret, ...]:
    named = [
        variables[name] for name in row.environment if len(variables.get(name, "")) >= MIN_SECRET_CHARACTERS
    ]
    return (*((key,) if key is not None else ()), *(Secret(value) for value in named))


def _key(row: AgentSettings, program: str, home: Home, environ: Mapping[str, str]) -> Secret | None:
    """The key that Moot keeps for the provider of a CLI; None if the CLI logs in by itself."""
    if row.credential is not CliCredential.API_KEY:
        return None
    if program not in PROVIDERS:
        raise BadValue(
            f"Moot does not know which key {program}, the program of {row.name}, takes",
            detail='credential = "api-key" is for claude and codex',
            fix=(f'name the variable of its key in environment of {row.name}: environment = ["…"]',),
        )
    return KeyRing(environ, home.keys).need(PROVIDERS[program], row.name).key


def _key_file(row: AgentSettings, key: Secret, home: Home) -> Path:
    """Write the key for claude, which reads it from the output of a command and not over its pipe."""
    run = home.run / RUN_FOLDER
    for folder in (home.run, run):
        folder.mkdir(mode=0o700, exist_ok=True)
    file = run / f"{row.name}.key"
    files.replace(file, key.reveal().encode())
    return file


def program_of(brain: str) -> str:
    """The program that a brain string runs."""
    try:
        return words_of(brain.partition(":")[2])[0]
    except ValueError:
        return ""


def _words(row: AgentSettings, line: str) -> list[str]:
    try:
        words = words_of(line)
    except ValueError as problem:
        raise BadValue(f"the command of {row.name} {problem}", detail=f"brain = {row.brain!r}") from None
    flag = refused_flag(words)
    if flag and row.sandbox is CliSandbox.NONE:
        raise BadValue(
            f"the command of {row.name} has {flag}, which takes the program's own brakes off",
            detail="that is only possible in a sandbox",
            fix=(f'leave {flag} out, or set sandbox = "bwrap" for {row.name}',),
        )
    if words[0] in OWN_DRIVERS and len(words) > 1:
        raise BadValue(
            f"the command of {row.name} has words behind {words[0]}",
            detail=f"expected command:{words[0]} alone: Moot speaks its protocol, and sets what that needs",
            fix=(f'brain = "command:{words[0]}"',),
        )
    return words


def _driver(prefix: str, words: list[str]) -> Callable[[], Driver]:
    if prefix == "acp":
        return lambda: AcpDriver(words)
    if words[0] in OWN_DRIVERS:
        return OWN_DRIVERS[words[0]]
    return lambda: TemplateDriver(words)


def _project(row: AgentSettings, coding: CodingSettings, home: Home) -> Path:
    project = home.folder(row.project)
    if how := home.overlaps(project):
        raise BadValue(
            f"the project of {row.name}, {project}, {how}",
            detail="a program there could change an agent's identity or read the owner's files",
            fix=(f"set project of {row.name} to a folder outside it",),
        )
    if not project.is_dir():
        raise BadValue(f"the project of {row.name}, {project}, is not a folder", fix=(f"mkdir -p {project}",))
    allowed = [home.folder(folder) for folder in coding.directories]
    places = [*allowed, home.worktrees.resolve()]  # checkouts of projects that were allowed
    if allowed and not any(project.is_relative_to(folder) for folder in places):
        raise BadValue(
            f"the project of {row.name}, {project}, is outside the folders in which coding CLIs may work",
            detail=f"directories of [coding] are {', '.join(map(str, allowed))}",
            fix=(f"move the project, or add {project} to directories",),
        )
    return project


def _sandbox_wrap(
    row: AgentSettings,
    project: Path,
    environ: Mapping[str, str],
    home: Home,
    worktree: LinkedWorktree | None,
) -> SandboxWrap:
    if row.sandbox is CliSandbox.NONE:
        if row.permissions.value == Permissions.ALL:
            raise BadValue(
                f"{row.name} may do everything and has no sandbox",
                detail='permissions = "all" is only possible with sandbox = "bwrap"',
                fix=(f'set sandbox = "bwrap" for {row.name}, or permissions = "ask"',),
            )
        return no_sandbox
    bwrap = find_bwrap()
    if bwrap is None:
        raise BadValue(
            f"the sandbox of {row.name} needs bubblewrap, which is not installed",
            fix=("apt install bubblewrap",),
        )
    return wrapper(bwrap, project, environ, home.path.resolve(), worktree)


def missing_program(row: AgentSettings, environ: Mapping[str, str]) -> BadValue | None:
    """The error if the program of this agent is not installed; else None."""
    program = program_of(row.brain)
    if not program or shutil.which(program, path=environ.get("PATH")) is not None:
        return None
    return BadValue(
        f"agent {row.name}: {program} is not installed, or not on the PATH",
        detail=f"brain = {row.brain.split()[0]}",
        fix=(f"install {program}", Hint(Act.USE_DEMO, agent=row.name)),
    )
