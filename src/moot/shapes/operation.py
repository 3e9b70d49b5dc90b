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


class ModelProvider(Shape, frozen=True):
    """Who offers models, and which key there is for it."""

    name: str
    """`anthropic`, `openai`, or the host of a compatible server."""
    agents: tuple[str, ...]
    """Of moot.toml, that think with it."""
    source: str | None
    """`environment` or `keys.json`; None if there is no key."""
    variable: str | None
    """Of the environment, where the key comes from there."""
    ending: str | None
    """The last four characters of the key; all that is ever shown of it."""
    brain: str | None
    """What a new agent would think with; None for servers whose models are not known."""


class TriedProvider(Shape, frozen=True):
    """Whether a provider answers, and takes the key."""

    name: str
    answers: bool
    models: int = 0
    """That it offers."""
    problem: str = ""


class ListedBackup(Shape, frozen=True):
    name: str
    bytes: int
    at: str | None
    kind: str
    """`manual`, `automatic`, `before a restore` or `before a migration`."""


class MadeBackup(Shape, frozen=True):
    """A copy of the database that was read whole after it was written."""

    name: str
    bytes: int
    messages: int


class ImportedConversation(Shape, frozen=True):
    name: str
    """In the file."""
    called: str
    """Here."""
    id: str
    messages: int
    """That are added."""
    state: str
    """`new`, `resumed` or `there`."""


class ImportedParticipant(Shape, frozen=True):
    name: str
    kind: str
    called: str
    known: bool
    """Whether it was here before."""


class Imported(Shape, frozen=True):
    """What an import did, or would do."""

    conversations: tuple[ImportedConversation, ...]
    people: tuple[ImportedParticipant, ...]
    dry_run: bool


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
