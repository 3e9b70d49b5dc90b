"""The owner's token: `run/token`, for the owner alone, made once and kept over restarts."""

import os
from pathlib import Path

from moot.errors import BadSettings
from moot.hub.tokens import fresh
from moot.settings import Home

PRIVATE = 0o600
SHORTEST = 32


def owner_token(home: Home) -> str:
    """The token in the home; a new one where there is none."""
    home.make()
    found = _read(home.token)
    if found is not None:
        return found
    draft = home.token.with_name(f"token.{os.getpid()}.new")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE)
    try:
        os.write(file, fresh("ow").encode() + b"\n")
        os.fsync(file)
    finally:
        os.close(file)
    try:
        os.link(draft, home.token)  # the first one wins, and nobody reads half a token
    except FileExistsError:
        pass
    finally:
        os.unlink(draft)
    return _read(home.token) or ""


def _read(path: Path) -> str | None:
    try:
        token = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        token = ""
    if len(token) < SHORTEST:
        raise BadSettings(
            f"{path} holds no token",
            detail="it is made when a hub first starts, and read by your other programs",
            fix=(f"rm {path}",),
            file=str(path),
            line=0,
            column=0,
            key="token",
        )
    if path.stat().st_mode & 0o077:
        path.chmod(PRIVATE)
    return token
