"""moot.toml as bytes on disk: read with its own line ends, written whole or not at all.

Above: catalogue.py and agents.py, which change it. Below: home.py says where it is.
Not here: what it means (load.py), where things stand in it (positions.py).
"""

import os
from contextlib import suppress
from typing import Final

from moot.errors import BadSettings
from moot.settings.home import Home
from moot.settings.load import load

PRIVATE: Final = 0o600
_BOM = "\ufeff"


def text_of(home: Home) -> tuple[str, str]:
    """The text with plain line ends, and the line end it has."""
    try:
        text = home.toml.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return "", "\n"
    except (OSError, UnicodeDecodeError):
        load(home)  # raises, and says what is wrong
        raise
    line_end = "\r\n" if "\r\n" in text else "\n"
    return text.removeprefix(_BOM).replace("\r\n", "\n"), line_end


def keep(home: Home, data: bytes) -> None:
    """Replace the file in one step; a link stays a link, and the file keeps its mode."""
    home.make()
    target = home.toml.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    mode = target.stat().st_mode & 0o777 if target.exists() else PRIVATE
    try:
        file = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE)
        try:
            os.write(file, data)
            os.fchmod(file, mode)
            os.fsync(file)
        finally:
            os.close(file)
        draft.replace(target)
    except OSError as error:
        raise BadSettings(
            f"cannot write {home.toml}: {error.strerror}", file=str(home.toml), line=0, column=0, key=""
        ) from error
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
