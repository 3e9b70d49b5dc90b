"""What whoever looks after the hub is shown."""

from typing import Any

from moot.shapes.shape import Shape


class PingedAgent(Shape, frozen=True):
    """How far an agent can be reached."""

    agent: str
    known: bool
    reachability: str
    kind: str
    woken: bool
    """Whether its process answered, or an outside agent waits for messages."""
    pid: int | None
    milliseconds: float | None


class RoleFile(Shape, frozen=True):
    name: str
    text: str
    """Empty if there is no such file."""
    version: str
    """Changes with the text; empty if there is none."""


class LogTail(Shape, frozen=True):
    path: str
    lines: tuple[str, ...]


class ListedSetting(Shape, frozen=True):
    key: str
    value: Any
    """As it is written in the file: references to secrets are not filled in."""
    source: str
    """`default`, `file` or `environment`; the environment wins."""
    meaning: str
    takes: str
    needs_restart: bool


class ChangedValue(Shape, frozen=True):
    key: str
    value: Any
    previous: Any
    needs_restart: bool
