"""What a typed line can mean: words for the conversation, or one of these commands, with what stood behind its name.

Above: slash.py reads a line, hub/commands/slash.py carries it out. Below: nothing.
"""

from typing import TypeAlias

from msgspec import Struct


class Say(Struct, frozen=True):
    """Words for the conversation."""

    text: str


class GroupCreateCommand(Struct, frozen=True):
    names: tuple[str, ...]


class GroupAddCommand(Struct, frozen=True):
    names: tuple[str, ...]


class GroupRemoveCommand(Struct, frozen=True):
    names: tuple[str, ...]


class GroupListCommand(Struct, frozen=True): ...


class GroupDissolveCommand(Struct, frozen=True): ...


class GroupConfigCommand(Struct, frozen=True):
    key: str = ""
    value: str = ""


class AskCommand(Struct, frozen=True):
    names: tuple[str, ...]
    text: str = ""
    """Empty: about the newest message of a person."""


class AllCommand(Struct, frozen=True):
    text: str


class WhyCommand(Struct, frozen=True):
    number: int = 0
    """0 is the newest message."""


class ContinueCommand(Struct, frozen=True): ...


class StopCommand(Struct, frozen=True):
    agent: str = ""
    """Empty: everybody who speaks here now."""


class RetryCommand(Struct, frozen=True): ...


class AgentsCommand(Struct, frozen=True): ...


class NameCommand(Struct, frozen=True):
    new: str
    agent: str = ""
    """Empty: the only agent here."""


class InboxCommand(Struct, frozen=True): ...


class SearchCommand(Struct, frozen=True):
    query: str


class ShowNoteCommand(Struct, frozen=True):
    name: str = ""
    """Empty: which there are."""


class AppendNoteCommand(Struct, frozen=True):
    name: str
    text: str


class LinksCommand(Struct, frozen=True):
    agent: str = ""
    """Empty: all of them."""


class SpawnCommand(Struct, frozen=True):
    template: str
    task: str = ""


class ArchiveCommand(Struct, frozen=True): ...


class SwitchCommand(Struct, frozen=True):
    place: str


class TurnsCommand(Struct, frozen=True):
    number: int = 10
    """How many of the newest."""


class ExportCommand(Struct, frozen=True):
    file: str = ""
    """Empty: called after the conversation."""


class ThemeCommand(Struct, frozen=True):
    light: bool


class KeysCommand(Struct, frozen=True): ...


class HelpCommand(Struct, frozen=True):
    name: str = ""


class QuitCommand(Struct, frozen=True): ...


Command: TypeAlias = (
    GroupCreateCommand
    | GroupAddCommand
    | GroupRemoveCommand
    | GroupListCommand
    | GroupDissolveCommand
    | GroupConfigCommand
    | AskCommand
    | AllCommand
    | WhyCommand
    | ContinueCommand
    | StopCommand
    | RetryCommand
    | AgentsCommand
    | NameCommand
    | InboxCommand
    | SearchCommand
    | ShowNoteCommand
    | AppendNoteCommand
    | LinksCommand
    | SpawnCommand
    | ArchiveCommand
    | SwitchCommand
    | TurnsCommand
    | ExportCommand
    | ThemeCommand
    | KeysCommand
    | HelpCommand
    | QuitCommand
)
