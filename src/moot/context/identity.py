"""Who an agent is, in its own files: read fresh for every turn, so that an edit counts from the next one on.

The files are the owner's words and stand in the system prompt as such. So only plain files count, and no part of the
way to them may be a link: whoever could put one there would choose what the next prompt says (moot/files.py).
"""

from pathlib import Path

import structlog

from moot import files

log = structlog.get_logger("moot.context")

FILES = ("SOUL.md", "IDENTITY.md", "USER.md", "ROLE.md")
MAX_BYTES = 64 * 1024


def read(workspaces: Path, agent: str) -> dict[str, str]:
    """The texts of the files that exist, by name without its ending, in a fixed order."""
    found: dict[str, str] = {}
    for name in FILES:
        text = _text(workspaces, agent, name)
        if text:
            found[name.removesuffix(".md").lower()] = text
    return found


def _text(workspaces: Path, agent: str, name: str) -> str:
    try:
        raw = files.read_below(workspaces.parent, (workspaces.name, agent, name), MAX_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        reason = files.why(error)
        log.warning("identity file ignored", action="identity_unread", agent=agent, path=name, error=reason)
        return ""
    if len(raw) > MAX_BYTES:
        log.warning("identity file truncated", action="identity_cut", path=name, most_bytes=MAX_BYTES)
    return raw[:MAX_BYTES].decode("utf-8", "replace").replace("\x00", "").strip()
