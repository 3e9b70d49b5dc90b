"""SQL as it is written in files: named statements, each read once. Every engine keeps its own beside its code."""

import re
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)


def parse(text: str) -> dict[str, str]:
    """Name → statement, without the comment lines around it."""
    _, *parts = _NAME.split(text)
    return {name: _COMMENT.sub("", body).strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


class Statements:
    """The statements of one file as attributes; `package` is the engine's, and the file lies in its sql/."""

    def __init__(self, package: str, *path: str) -> None:
        text = files(package).joinpath("sql", *path).read_text(encoding="utf-8")
        self.__dict__.update(parse(text))

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"there is no statement named {name}")

    def all(self) -> dict[str, str]:
        return dict(self.__dict__)
