"""What a bridge says of itself, and how it says what can be done: in commands that one types into a chat."""

from typing import Final

from moot.errors import MootError, Trouble
from moot.model.hint import Act, Hint, worded

COMMANDS: Final[dict[Act, str]] = {
    Act.LIST_AGENTS: "/agents",
    Act.JOIN: "/group add {agent}",
    Act.CONTINUE_CHAIN: "/continue",
    Act.DISSOLVE: "/group dissolve",
    Act.LIST_LINKS: "/links",
    Act.LIST_NOTES: "/note",
    Act.SHOW_NOTE: "/note {note}",
}
"""What can be done from a chat; for everything else one goes to the hub."""

UNPAIRED: Final = (
    "This chat is not paired yet, so nobody in it can wake an agent. "
    "Ask the owner of the hub for a pairing code and write here: /pair CODE"
)
PAIRED: Final = "Paired. This chat is now {name}, with {agents}. /help lists the commands."
NOT_FOR_GUESTS: Final = (
    "Guests cannot use {command}. "
    "The owner can link your account ({bridge} {account}) to a person of the hub."
)
TROUBLE: Final = (
    "The hub has trouble of its own and may not have done this. Its owner finds the reason in the log: "
    "look first, and then repeat it if need be."
)
INTERRUPTED: Final = (
    "The hub was interrupted while it carried out {command}. "
    "It may have been done: look first, and then repeat it if need be."
)
WAITING: Final = "⏳ Not answered yet: {names}."
WAITED: Final = "✓ No longer waiting; it took {seconds} s."


def say(hint: Hint) -> str:
    form = COMMANDS.get(hint.act, "")
    return form.format_map(hint._asdict()) if form else ""


def refusal(error: MootError) -> str:
    """What happened, why, what to do now. Trouble of the hub names addresses and files: only its owner reads them."""
    if isinstance(error, Trouble):
        return TROUBLE
    ways = worded(error.fix, say)
    lines = (error.title, error.detail, f"try: {' · '.join(ways)}" if ways else "")
    return "\n".join(line for line in lines if line)
