"""Registers Moot with clients: a plan that can be shown, then its steps, each first recorded in the ledger."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct, structs

from moot.cli.mcp.clients import files
from moot.cli.mcp.clients.documents import Edit, holds, read, with_edits, without_edits
from moot.cli.mcp.clients.entry import Http, Way
from moot.cli.mcp.clients.files import Unreadable
from moot.cli.mcp.clients.known import Client, Scope, UserEnvironment
from moot.cli.mcp.clients.ledger import Change, Ledger, Touched
from moot.cli.mcp.hooks.events import hook_edits
from moot.errors import Conflict, McpClient
from moot.model.json import JsonObject
from moot.settings.home import Home

COMMAND_SECONDS: Final = 120
MAX_PRINTED_CHARACTERS: Final = 500


class InstallRequest(Struct, frozen=True):
    """What a person asked for, for one client."""

    client: Client
    program: str
    way: Way
    scope: Scope
    wake: bool
    home: Home
    place: UserEnvironment

    @property
    def agent(self) -> str:
        """The agent of its token; empty if the agent follows from client and folder."""
        return self.client.name if isinstance(self.way, Http) else ""

    @property
    def folder(self) -> str:
        return str(self.place.folder) if self.scope == "project" else ""


class Run(Struct, frozen=True):
    """The client's own commands, which rewrite its settings file."""

    path: Path
    commands: tuple[tuple[str, ...], ...]
    edits: tuple[Edit, ...]


class Write(Struct, frozen=True):
    """A file that is edited because no command does it."""

    path: Path
    edits: tuple[Edit, ...]


Step: TypeAlias = Run | Write


class InstallPlan(Struct, frozen=True):
    request: InstallRequest
    steps: tuple[Step, ...]
    """Empty if everything is as requested."""


def plan(request: InstallRequest, ledger: Ledger) -> InstallPlan:
    """Plan what has to be done. Nothing is changed; what cannot be done is refused here."""
    try:
        return InstallPlan(request, tuple(_steps(request, _change(request, ledger))))
    except Unreadable as trouble:
        raise Conflict(
            str(trouble),
            detail=(
                "Moot only changes files that it can read completely. Nothing was changed.\n"
                f"{by_hand(request)}"
            ),
            fix=(f"fix the file, then: moot mcp install {request.client.name}",),
        ) from None


def by_hand(request: InstallRequest) -> str:
    where = request.client.config(request.scope, request.place)
    return f"To add it by hand, in {where}:\n{request.client.snippet(request.way).rstrip()}"


def _steps(request: InstallRequest, change: Change | None) -> Iterator[Step]:
    yield from _registration_steps(request, change)
    hooks = request.client.hooks(request.scope, request.place) if request.wake else None
    if hooks is not None:
        edits = hook_edits(request.client, request.home, request.agent)
        if not _is_current(hooks, edits, change):
            yield _write_step(hooks, edits)


def _registration_steps(request: InstallRequest, change: Change | None) -> Iterator[Step]:
    client, path = request.client, request.client.config(request.scope, request.place)
    document = read(path, files.content(path))
    if client.is_set_up(document, request.way):
        return
    existing = client.knows(document)
    ours = change is not None and change.file(path) is not None
    if existing is not None and not ours:
        raise Conflict(
            f"{client.name} already has an MCP server called moot, which Moot did not add",
            detail=f"it is in {path}; nothing was changed",
            fix=(_removal_hint(client, request.scope, path), f"moot mcp install {client.name}"),
        )
    adding, removing = client.adding(request.way, request.scope), client.removing(request.scope)
    edits = client.edits(request.way)
    if adding is None:
        yield _write_step(path, edits)
    else:
        first = (removing,) if existing is not None and removing else ()
        yield Run(path, (*first, adding), edits)


def _write_step(path: Path, edits: tuple[Edit, ...]) -> Write:
    """Try the edits before promising them: a file that has no place for them is refused before anything is done."""
    with_edits(path, files.content(path), edits)
    return Write(path, edits)


def _removal_hint(client: Client, scope: Scope, path: Path) -> str:
    command = client.removing(scope)
    return " ".join(command) if command else f"remove moot from {path}"


def _is_current(path: Path, edits: tuple[Edit, ...], change: Change | None) -> bool:
    """Whether all edits are there, and none of an earlier install."""
    document = read(path, files.content(path))
    touched = change.file(path) if change is not None else None
    stale = [edit for edit in touched.edits if edit not in edits] if touched else []
    return all(holds(document, edit) for edit in edits) and not any(holds(document, edit) for edit in stale)


# --- doing it --------------------------------------------------------------------------------------------


def carry_out(plan: InstallPlan, ledger: Ledger, at: str) -> Change | None:
    """Do the steps. If one fails, the steps before it stay in the ledger, so that `uninstall` undoes them."""
    request = plan.request
    change = _change(request, ledger)
    if not plan.steps:
        return change
    change = change or Change(request.client.name, request.scope, request.folder, request.way, at)
    change = structs.replace(change, way=request.way, wake=change.wake or request.wake)
    for step in plan.steps:
        touched = _ledger_entry(step, change)
        change = change.with_file(touched)
        ledger.keep(change)
        try:
            _do(step, request, touched)
        finally:
            # Also if it failed half-way: while nobody else writes to the file, its first content can be restored.
            left = files.fingerprint(files.content(step.path))
            change = change.with_file(structs.replace(touched, edits=step.edits, after=left))
            ledger.keep(change)
    return change


def _do(step: Step, request: InstallRequest, touched: Touched) -> None:
    if isinstance(step, Write):
        _edit(step, touched)
        return
    for command in step.commands:
        _run(request, command)
    _check_entry(request, step.path)


def _change(request: InstallRequest, ledger: Ledger) -> Change | None:
    return ledger.find(request.client.name, request.scope, request.folder)


def _ledger_entry(step: Step, change: Change) -> Touched:
    """The file without Moot: as first recorded or, if its owner changed it since, as it is now without our edits."""
    data = files.content(step.path)
    earlier = change.file(step.path)
    if earlier is None:
        folders = tuple(str(folder) for folder in files.missing_folders(step.path))
        return Touched(str(step.path), data, files.mode_of(step.path), step.edits, folders)
    if data is None or earlier.after == files.fingerprint(data):
        return structs.replace(earlier, after="")
    rest = without_edits(step.path, data, earlier.edits, earlier.before)
    return structs.replace(earlier, before=rest, mode=files.mode_of(step.path), after="")


def _edit(step: Write, touched: Touched) -> None:
    data = files.content(step.path)
    if data is not None:
        data = without_edits(step.path, data, touched.edits, touched.before)
    edited = with_edits(step.path, data, step.edits)
    files.write(step.path, edited, files.mode_of(step.path))


def _run(request: InstallRequest, command: tuple[str, ...]) -> None:
    """Run the client's own command; its output is shown only if it fails."""
    try:
        process = subprocess.run(
            (request.program, *command[1:]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=request.place.folder,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failure(request, command, str(error)) from None
    if process.returncode:
        printed = (process.stderr or process.stdout).decode(errors="replace").strip()
        raise _failure(
            request, command, printed[-MAX_PRINTED_CHARACTERS:] or f"exit code {process.returncode}"
        )


def _failure(request: InstallRequest, command: tuple[str, ...], reason: str) -> McpClient:
    return McpClient(
        f"{' '.join(command[:3])} failed: {reason}",
        detail=by_hand(request),
        fix=(f"moot mcp uninstall {request.client.name}",),
        client=request.client.name,
    )


def _check_entry(request: InstallRequest, path: Path) -> None:
    """Check the file: the client's command may succeed and do something else."""
    document: JsonObject = read(path, files.content(path))
    if not request.client.is_set_up(document, request.way):
        command = request.client.adding(request.way, request.scope) or ()
        raise _failure(request, command, f"it succeeded, but {path} does not contain the entry")
