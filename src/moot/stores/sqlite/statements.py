"""SQL as it is written in the files beside this one: named statements, read once at import."""

import re
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)


def parse(text: str) -> dict[str, str]:
    """Name → statement, without the comment lines around it."""
    _, *parts = _NAME.split(text)
    return {name: _COMMENT.sub("", body).strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


class Statements:
    """The statements of one file as attributes."""

    def __init__(self, file: str) -> None:
        text = files("moot.stores.sqlite").joinpath("sql", file).read_text(encoding="utf-8")
        self.__dict__.update(parse(text))

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"there is no statement named {name}")

    def all(self) -> dict[str, str]:
        return dict(self.__dict__)


SHAPES = Statements("shapes.sql")
LOAD = Statements("load.sql")
WRITE = Statements("write.sql")
READ = Statements("read.sql")
SCHEMA = Statements("versions.sql")
SEARCH = Statements("search.sql")
BACKUP = Statements("backup.sql")
SOUND = Statements("sound.sql")
