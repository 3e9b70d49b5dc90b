"""What each slash command does to the hub, as access is decided: the same on the page and in every chat app.

Above: doors and bridges ask it before they have a command carried out. Below: rules/access.py.
"""

from typing import Any, Final

from moot.rules.access import Action
from moot.rules.words import slash

ACTIONS: Final[dict[type[Any], Action]] = {
    slash.AskCommand: Action.POST,
    slash.AllCommand: Action.POST,
    slash.RetryCommand: Action.POST,
    slash.WhyCommand: Action.READ,
    slash.ContinueCommand: Action.MANAGE,
    slash.StopCommand: Action.MANAGE,
    slash.GroupCreateCommand: Action.CREATE,
    slash.GroupAddCommand: Action.MANAGE,
    slash.GroupRemoveCommand: Action.MANAGE,
    slash.GroupListCommand: Action.READ,
    slash.GroupDissolveCommand: Action.MANAGE,
    slash.GroupConfigCommand: Action.MANAGE,
    slash.ArchiveCommand: Action.MANAGE,
    slash.AgentsCommand: Action.LOOK,
    slash.NameCommand: Action.RULE,
    slash.SpawnCommand: Action.RULE,
    slash.InboxCommand: Action.LOOK,
    slash.SearchCommand: Action.LOOK,
    slash.ShowNoteCommand: Action.LOOK,
    slash.AppendNoteCommand: Action.CREATE,
    slash.LinksCommand: Action.LOOK,
    slash.SwitchCommand: Action.LOOK,
    slash.TurnsCommand: Action.READ,
    slash.ExportCommand: Action.LOOK,
    slash.ThemeCommand: Action.LOOK,
    slash.KeysCommand: Action.LOOK,
    slash.HelpCommand: Action.LOOK,
    slash.QuitCommand: Action.LOOK,
}
