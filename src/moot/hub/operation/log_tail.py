"""The end of a log: the hub's own, or that of an agent's daemon. What looks like a secret is redacted."""

import os

from moot import files, shapes
from moot.errors import NotFound
from moot.hub.agents import names_of
from moot.hub.core import Core
from moot.model.hint import Act, Hint
from moot.rules.words.redact import redacted

MAX_BYTES = 256 * 1024


async def last_lines(core: Core, agent: str | None, lines: int) -> shapes.LogTail:
    home = core.parts.home
    if agent is None:
        paths, missing = [home.logs / "hub.log"], "the hub has no log: it does not run in the background"
        fix: tuple[Hint, ...] = ()
    else:
        participant = await core.directory.participant(agent)
        paths = [
            home.log_of(name) for name in (participant.name, *participant.aliases, *names_of(participant))
        ]
        missing, fix = (
            f"{participant.name} has no log: it has never run as a daemon",
            (Hint(Act.START_AGENT, agent=participant.name),),
        )
    for path in paths:
        try:
            with files.opened(path) as file:
                size = os.fstat(file).st_size
                raw = os.pread(file, MAX_BYTES, max(0, size - MAX_BYTES))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise files.refused(path, error, path.name) from None
        all_lines = raw.decode("utf-8", "replace").splitlines()
        if size > MAX_BYTES:
            del all_lines[:1]  # its beginning was cut off
        return shapes.LogTail(str(path), tuple(redacted(line) for line in all_lines[-lines:]))
    raise NotFound(missing, fix=fix, ref=agent or "hub")
