"""One run of a hook: the client's input, a quick check whether there is anything to do, and a log for errors.

Light on purpose: a person waits for it at the end of every turn. The rest is in answer_hook.py, for when it is needed.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from moot import files
from moot.model.json import JsonObject
from moot.peek import anything_to_do, is_there
from moot.settings.home import Home

LOG_BYTES: Final = 1 << 20
VARIABLE: Final = "MOOT_AGENT"
Say: TypeAlias = Callable[[JsonObject], None]
"""Writes to the client; when it returns, the client has it, and otherwise it raises."""


class HookMoment(Struct, frozen=True):
    """The event that a client runs a hook for."""

    event: str
    client: str
    folder: Path
    name: str = ""
    """The session's agent, if a person set it; otherwise it follows from client and folder."""
    again: bool = False
    """The turn was already prolonged by a hook: nothing more is added to it."""


def read_moment(
    event: str, client: str, raw: bytes, environ: Mapping[str, str], name: str = ""
) -> HookMoment:
    """Read the client's input; if it is not what is expected, use what can be used."""
    try:
        facts = json.loads(raw)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        facts = {"stop_hook_active": True}
    # Where the session began; the shell in it may have gone elsewhere since.
    folder = environ.get("CLAUDE_PROJECT_DIR") or facts.get("cwd") or os.getcwd()
    return HookMoment(
        event=event,
        client=client,
        folder=Path(os.path.realpath(str(folder))),
        # Codex keeps a person's variables from the servers it starts, so there the name is not the server's.
        name=name or ("" if client == "codex" else environ.get(VARIABLE, "")),
        again=facts.get("stop_hook_active", False) is not False,
    )


def run(folder: Path, moment: HookMoment, say: Say) -> None:
    """Deliver to the client what waits for it. Whatever goes wrong, the session goes on."""
    home = Home(folder)
    try:
        if not is_there(home.path) or _is_idle(home, moment):
            return
        from moot.cli.mcp.hooks.answer_hook import answer  # noqa: PLC0415  most turns end before this is needed

        answer(home, moment, say)
    except Exception as error:  # a person's session must not fail because of us
        _log(home, moment, error)


def _is_idle(home: Home, moment: HookMoment) -> bool:
    """Whether there is nothing to do; a session that starts is always told its name."""
    return moment.event != "SessionStart" and not anything_to_do(
        home.path, client=moment.client, folder=str(moment.folder), name=moment.name
    )


def _log(home: Home, moment: HookMoment, error: Exception) -> None:
    """Write a line to logs/hooks.log, which is emptied when it is too long."""
    line = {
        "at": time.time(),
        "client": moment.client,
        "event": moment.event,
        "error": f"{type(error).__name__}: {error}",
    }
    try:
        path = home.logs / "hooks.log"
        file = files.open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with os.fdopen(file, "a", encoding="utf-8") as log:
            if os.fstat(file).st_size > LOG_BYTES:
                os.ftruncate(file, 0)
            log.write(f"{json.dumps(line)}\n")
    except OSError:  # there is nobody to report it to
        return
