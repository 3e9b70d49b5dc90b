"""What a CLI may do without being asked, what a person is asked for, and what is simply denied.

    read   looks, changes nothing
    edit   changes files of its project; anything else is denied at once, and a person may allow it for the next turn
    ask    the same, but waits for that person, two minutes at most
    all    anything, inside the sandbox

A denial never hangs: the model is told, the turn goes on. What was denied becomes a decision of the owner's; a yes is
good for that action, once, and calls the agent again. Above: cli_turn.py. Below: `turn.hub`, in the agent's voice.
"""

from pathlib import Path
from typing import Final

from moot.brain import CliHostedTurn
from moot.brains.command.driver import Permissions, Wish, WishAnswer
from moot.errors import MootError, TimedOut

ASK_SECONDS: Final = 120.0
MAX_SHOWN: Final = 4_000
"""Characters of an action: a person allows what they can read, and not what stands behind it."""
ALLOW, DENY = "allow once", "deny"
PRIVATE: Final = frozenset({".git", ".claude", ".codex", ".mcp.json", ".vscode", ".idea"})
"""Parts of a project that decide what runs in it later; changing them is more than an edit."""
LOOKING: Final = frozenset({"read", "search"})
THINKING: Final = "think"
CHANGING: Final = frozenset({"edit", "move"})
PASSED: Final = WishAnswer(allowed=True)


def is_inside(path: str, project: Path) -> bool:
    """Whether a path is a file of the project, links followed, and not one of its private parts."""
    place = (project / path).resolve()
    if not place.is_relative_to(project):
        return False
    return not PRIVATE & set(place.relative_to(project).parts)


def goes_without_asking(wish: Wish, permissions: Permissions, project: Path) -> bool:
    if permissions is Permissions.ALL:
        return True
    inside = all(is_inside(path, project) for path in wish.paths)
    if wish.kind == THINKING:
        return True
    if wish.kind in LOOKING:
        return bool(wish.paths) and inside
    may_edit = permissions in (Permissions.EDIT, Permissions.ASK)
    return may_edit and wish.kind in CHANGING and bool(wish.paths) and inside


class TurnPermissions:
    """Of one agent, in one turn."""

    def __init__(self, turn: CliHostedTurn, permissions: Permissions, project: Path) -> None:
        self._turn = turn
        self._permissions = permissions
        self._project = project

    async def verdict(self, wish: Wish) -> WishAnswer:
        if goes_without_asking(wish, self._permissions, self._project):
            return PASSED
        if self._permissions is Permissions.READ:
            return WishAnswer(
                allowed=False, words="You may only read here. Go on without it, and say what you would do."
            )
        if not wish.action.strip():
            return WishAnswer(
                allowed=False,
                words="Your program does not say what exactly this would do, so nobody can be asked for it. Go on "
                "without it, or do it with a command.",
            )
        if len(wish.action) > MAX_SHOWN:
            return WishAnswer(
                allowed=False,
                words=f"This is {len(wish.action)} characters long, and a person is asked for at most {MAX_SHOWN}, "
                "which they can read. Put it into a file of the project, and ask to run that.",
            )
        try:
            return await self._ask_owner(self._question(wish))
        except MootError as refusal:  # nobody can be asked: that is a denial, and the turn goes on
            return WishAnswer(allowed=False, words=f"You may not do this: {refusal.title}")

    def _question(self, wish: Wish) -> str:
        return f"May {self._turn.agent} do this in {self._project}?\n\n{wish.tool}: {wish.action}"

    async def _ask_owner(self, question: str) -> WishAnswer:
        decisions = self._turn.hub.decisions
        if await decisions.use(question, ALLOW):
            return PASSED
        if self._permissions is Permissions.ASK:
            return await self._ask_and_wait(question)
        if not await decisions.is_open(question):
            await decisions.propose(question, choices=(ALLOW, DENY))
        return WishAnswer(
            allowed=False,
            words="You may not do this by yourself. A person was asked, and you are called again if they allow it. "
            "Go on without it, or say what it is needed for.",
        )

    async def _ask_and_wait(self, question: str) -> WishAnswer:
        hub = self._turn.hub
        try:
            answer = await hub.ask(
                hub.settings.hub.user, question, timeout=ASK_SECONDS, choices=(ALLOW, DENY)
            )
        except TimedOut:
            return WishAnswer(
                allowed=False, words=f"Nobody answered within {ASK_SECONDS:.0f} s, so you may not do this."
            )
        if answer.text.strip() == ALLOW and await hub.decisions.use(question, ALLOW):
            return PASSED
        return WishAnswer(allowed=False, words="A person has denied this.")
