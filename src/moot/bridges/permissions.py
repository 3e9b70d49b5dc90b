"""Who may give which command in a chat: guests may talk, others may do what they may do everywhere.

Above: intake.py. Below: rules/access.py, which each decision of a person's command passes. A person in a chat
app is not the owner: an account that is not linked is a guest's.
"""

from typing import Final

from moot.flow.steps.admission import THE_HUB, Admission, InConversation
from moot.hub import Hub
from moot.hub.commands.slash_actions import ACTIONS
from moot.model.entrance import DoorName
from moot.model.records.chat_apps.bridge import BridgeAccount
from moot.rules.access import Action
from moot.rules.words import slash

FOR_GUESTS: Final = frozenset(
    {slash.AskCommand, slash.AllCommand, slash.WhyCommand, slash.AgentsCommand, slash.HelpCommand}
)
ON_THE_HUB: Final = frozenset({Action.CREATE, Action.LOOK, Action.RULE})


def may(account: BridgeAccount, command: slash.Command) -> bool:
    return account.linked or type(command) in FOR_GUESTS


def voice(hub: Hub, account: BridgeAccount, door: DoorName, command: slash.Command, place: str) -> Hub:
    """The hub as the person who gives the command; every decision is checked, unless it is the owner."""
    speaker = hub.voice_of(account.participant, door)
    if account.linked and account.participant == hub.bridges.records.owner:
        return speaker
    action = ACTIONS[type(command)]
    subject = THE_HUB if action in ON_THE_HUB else InConversation(place)
    return speaker.admitted(Admission(account.participant, action, subject))
