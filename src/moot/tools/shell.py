"""The shell tool: one allow-listed program at a time, in the agent's project, behind the wall.

Above: offer.py makes it, a model's brain calls it. Below: command.py judges, sandbox.py wraps, process.py runs,
output.py tells.
Not here: a shell. The list of programs is a sign that says what the agent is meant to use; the sandbox is the wall.
"""

import os
import shutil
import tempfile
from pathlib import Path

from moot.model.json import JsonObject
from moot.model.prompt import ToolResult, ToolSpec
from moot.tools import output, process
from moot.tools.command import AskedCommand, CommandRefused, checked
from moot.tools.process import USUAL, Bounds, Program, Ran
from moot.tools.sandbox import PATH, Sandbox, ShownFiles, environment, why_not_shown

_SEEN_INSIDE = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives")


class ShellTool:
    """`sandbox` None runs without a wall, which only the agent's settings may ask for."""

    def __init__(
        self,
        allowed: tuple[str, ...],
        project: Path,
        *,
        sandbox: Sandbox | None,
        hidden: tuple[Path, ...],
        bounds: Bounds = USUAL,
    ) -> None:
        """`hidden` begins with Moot's home; whatever is named there is never seen inside."""
        self.allowed = allowed
        self.project = project
        self._place = project.resolve()
        self.sandbox = sandbox
        self.hidden = hidden
        self.bounds = bounds
        self.spec = ToolSpec("shell", _description(allowed, bounds, walled=sandbox is not None), _PARAMETERS)

    @property
    def why_off(self) -> str:
        """Why nothing can be run, in one sentence; empty while it can. A tool that is off is not offered."""
        home = self.hidden[0].resolve()
        if self.sandbox is None:
            if self._place.is_relative_to(home):
                return self._off_here("is Moot's own home, or inside it")
            return ""
        if self.sandbox.why_off:
            return (
                f"shell is off: {self.sandbox.why_off}, or write shell-unsandboxed:{','.join(self.allowed)} "
                "to run without a sandbox."
            )
        reason = why_not_shown(self._place, home)
        return self._off_here(reason) if reason else ""

    def _off_here(self, reason: str) -> str:
        return (
            f"shell is off: the project {self.project} {reason}; use a folder that contains only the project."
        )

    async def run(self, arguments: JsonObject, turn: object) -> ToolResult:
        """Refusals and failures are results; only cancelling and bugs raise. Which turn it is does not matter."""
        if self.why_off:
            return ToolResult(self.why_off, failed=True)
        try:
            ask = checked(arguments, self.allowed, self._there())
            ran = await self._inside(ask) if self.sandbox is not None else await self._in_the_open(ask)
        except CommandRefused as refusal:
            return ToolResult(str(refusal), failed=True)
        except OSError as error:  # no process, no file descriptor, no memory left for one more
            return ToolResult(f"{self.spec.name} cannot start programs now: {error.strerror}.", failed=True)
        return output.to_result(ran, self.bounds)

    def _there(self) -> Path:
        """Where the project was when the tool was made: an agent whose project holds this one could move it since."""
        try:
            found = self.project.resolve(strict=True)
        except (OSError, RuntimeError):
            raise CommandRefused(
                f"The project folder {self.project} does not exist; its owner has to create it."
            ) from None
        if found != self._place or not found.is_dir():
            raise CommandRefused(
                f"The project {self.project} is no longer the same folder; its owner has to check it."
            )
        return found

    async def _inside(self, ask: AskedCommand) -> Ran:
        assert self.sandbox is not None
        hidden = _resolved(self.hidden)
        if any(ask.cwd.is_relative_to(path) and not self._place.is_relative_to(path) for path in hidden):
            raise CommandRefused("cwd does not exist.")
        shown = ShownFiles(self._place, ask.cwd, hidden, self.bounds.scratch_bytes)
        argv = (_found(ask.argv[0], seen_in=_SEEN_INSIDE), *ask.argv[1:])
        wrapped = self.sandbox.wrap(argv, shown, self.bounds.processes)
        try:
            # bubblewrap itself starts with an empty environment: a program inside can read its first process's.
            return await process.run(Program(wrapped.argv, Path("/"), {}, wrapped.fds), self.bounds)
        finally:
            wrapped.close()

    async def _in_the_open(self, ask: AskedCommand) -> Ran:
        argv = (_found(ask.argv[0]), *ask.argv[1:])
        with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as home:
            program = Program(argv, ask.cwd, environment(home), supervised=True)
            return await process.run(program, self.bounds)


def _found(name: str, seen_in: tuple[str, ...] = ()) -> str:
    """Where a program is, and whether it will be there inside."""
    program = shutil.which(name, path=PATH)
    if program is None:
        raise CommandRefused(f"{name} is allowed, but not installed in {PATH.replace(':', ', ')}.")
    real = os.path.realpath(program)
    if seen_in and not any(Path(real).is_relative_to(folder) for folder in seen_in):
        raise CommandRefused(
            f"{name} is allowed, but installed outside /usr, which the sandbox does not include."
        )
    return program


def _resolved(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Without those that lie in another: its cover is theirs."""
    found = dict.fromkeys(path.resolve() for path in paths)
    return tuple(path for path in found if found.keys().isdisjoint(path.parents))


def _description(allowed: tuple[str, ...], bounds: Bounds, *, walled: bool) -> str:
    return (
        f"Run one program in the project folder and get its exit code and output. Programs: {', '.join(allowed)}. "
        "There is no shell: no pipes, redirections, variables, wildcards or &&; call the tool once for each step. "
        + ("There is no network, and only the project can be written. " if walled else "")
        + f"A run may take {bounds.seconds:g} seconds; output past {bounds.output_bytes} bytes is cut."
    )


_PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {
        "argv": {
            "type": "array",
            "items": {"type": "string"},
            "description": 'The program and its words, such as ["git", "log", "-3"].',
        },
        "command": {
            "type": "string",
            "description": "Instead of argv: the same as one line, split at spaces, with quotes.",
        },
        "cwd": {"type": "string", "description": "Folder to run in, relative to the project."},
    },
    "additionalProperties": False,
}
