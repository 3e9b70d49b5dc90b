"""A list of links as a file of its own: `[[links]]` as in moot.toml, and nothing else.

Above: `moot topology export|diff|apply`. Below: load.py reads it, edits.py writes values. Not here: applying the
links (flow/sync_links.py).
"""

from collections.abc import Iterable
from pathlib import Path

from moot.errors import BadSettings
from moot.settings.load import SettingsFile, parse_file
from moot.settings.problems import SettingProblem
from moot.settings.toml import edits
from moot.settings.values import LinkSettings

KEY = "links"


def read_list(data: bytes, file: str) -> SettingsFile:
    """Read a file; an error points into it."""
    if data.lstrip()[:1] == b"{" or data.lstrip()[:2] == b"[{":
        raise BadSettings(
            f"{Path(file).name} is JSON; expected TOML",
            detail="a list of links is [[links]] tables, as `topology export` writes them",
            fix=(f"edit {file}",),
            file=file,
        )
    try:
        read = parse_file(data, {}, file=file, folder=Path(file).parent)
    except BadSettings as refusal:
        raise in_file(refusal, file) from None
    for path in read.where:
        if path[0] != KEY:
            words = f"{path[0]} does not belong here; expected [[links]] only"
            raise in_file(read.refusal(SettingProblem(path[:1], words)), file)
    return read


def in_file(refusal: BadSettings, file: str) -> BadSettings:
    """The error with a fix that names this file."""
    refusal.fix = (f"edit {file}",)
    return refusal


def text_of_list(links: Iterable[tuple[LinkSettings, str]]) -> str:
    """A file with these links, each with a comment of its own."""
    return "\n".join(_row(link, comment) for link, comment in links)


def _row(link: LinkSettings, comment: str) -> str:
    fields = {
        "from": link.sender,
        "to": link.to,
        "relationship": link.relationship.value,
        "direction": link.direction.value,
        **({} if link.enabled else {"enabled": False}),
    }
    lines = [f"{key} = {edits.literal(value)}" for key, value in fields.items()]
    return "\n".join([*([f"# {comment}"] if comment else []), f"[[{KEY}]]", *lines, ""])
