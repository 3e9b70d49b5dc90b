"""The owner's token: `run/token`, for the owner alone, made once and kept over restarts."""

import os
from pathlib import Path

from moot import files
from moot.errors import BadSettings
from moot.hub.commands.tokens import fresh
from moot.settings import Home

MIN_CHARACTERS = 32
MAX_BYTES = 4096


def owner_token(home: Home) -> str:
    """The token in the home; a new one where there is none."""
    home.make()
    existing = _read(home.token)
    if existing is not None:
        return existing
    draft = home.token.with_name(f"token.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    files.create_below(draft.parent, (draft.name,), fresh("ow").encode() + b"\n")
    try:
        os.link(draft, home.token)  # the first one wins, and nobody reads half a token
    except FileExistsError:
        pass
    finally:
        os.unlink(draft)
    return _read(home.token) or ""


def _read(path: Path) -> str | None:
    try:
        with files.opened(path) as file:
            files.close_to_others(file)
            token = os.read(file, MAX_BYTES).decode("ascii").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise files.refused(path, error, "token") from None
    except UnicodeDecodeError:
        token = ""
    if len(token) < MIN_CHARACTERS:
        raise BadSettings(
            f"{path} does not contain a token",
            detail="it is created when a hub first starts, for your other programs to read",
            fix=(f"rm {path}",),
            file=str(path),
            line=0,
            column=0,
            key="token",
        )
    return token
