"""Who an agent is, in its own files: read fresh for every turn, so that an edit counts from the next one on."""

from pathlib import Path

import structlog

log = structlog.get_logger("moot.context")

FILES = ("SOUL.md", "IDENTITY.md", "USER.md", "ROLE.md")
MOST_BYTES = 64 * 1024


def read(workspace: Path) -> dict[str, str]:
    """The texts of the files that exist, by name without its ending, in a fixed order."""
    found: dict[str, str] = {}
    for name in FILES:
        text = _text(workspace / name)
        if text:
            found[name.removesuffix(".md").lower()] = text
    return found


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        log.warning(
            "identity file cannot be read", action="identity_unread", path=path.name, error=error.strerror
        )
        return ""
    if len(raw) > MOST_BYTES:
        log.warning("identity file is cut", action="identity_cut", path=path.name, most_bytes=MOST_BYTES)
    return raw[:MOST_BYTES].decode("utf-8", "replace").replace("\x00", "").strip()
