"""What a CLI may do without asking, what a person is asked for, and what is denied at once.

    read   looks, changes nothing
    edit   changes files of its project; anything else is denied at once, and a person may allow it for the next turn
    ask    the same, but waits for that person, two minutes at most
    all    anything, inside the sandbox

A denial never blocks: the model is told, and the turn goes on. A denied action becomes a decision for the owner; a yes
allows that action once, and calls the agent again. Above: cli_turn.py. Below: `turn.hub`, acting as the agent.
"""

from pathlib import Path
from typing import Final

from moot.brain import CliHostedTurn
from moot.brains.command.driver import PermissionAnswer, PermissionRequest, Permissions
from moot.errors import MootError, TimedOut

ASK_SECONDS: Final = 120.0
MAX_ACTION_CHARACTERS: Final = 4_000
"""A person can only allow what they can read in full."""
ALLOW, DENY = "allow once", "deny"
PROTECTED_PARTS: Final = frozenset({".git", ".claude", ".codex", ".mcp.json", ".vscode", ".idea"})
"""Parts of a project that decide what runs in it later; changing them is more than an edit."""
READ_KINDS: Final = frozenset({"read", "search"})
THINK_KIND: Final = "think"
EDIT_KINDS: Final = frozenset({"edit", "move"})
ALLOWED: Final = PermissionAnswer(allowed=True)


def is_inside(path: str, project: Path) -> bool:
    """Whether a path is a file of the project, links followed, and not one of its private parts."""
    target = (project / path).resolve()
    if not target.is_relative_to(project):
        return False
    return not PROTECTED_PARTS & set(target.relative_to(project).parts)


def is_allowed_at_once(request: PermissionRequest, permissions: Permissions, project: Path) -> bool:
    if permissions is Permissions.ALL:
        return True
    inside = all(is_inside(path, project) for path in request.paths)
    if request.kind == THINK_KIND:
        return True
    if request.kind in READ_KINDS:
        return bool(request.paths) and inside
    may_edit = permissions in (Permissions.EDIT, Permissions.ASK)
    return may_edit and request.kind in EDIT_KINDS and bool(request.paths) and inside


class TurnPermissions:
    """The permissions of one agent, in one turn."""

    def __init__(self, turn: CliHostedTurn, permissions: Permissions, project: Path) -> None:
        self._turn = turn
        self._permissions = permissions
        self._project = project

    async def answer_to(self, request: PermissionRequest) -> PermissionAnswer:
        if is_allowed_at_once(request, self._permissions, self._project):
            return ALLOWED
        if self._permissions is Permissions.READ:
            return PermissionAnswer(
                allowed=False, words="You may only read here. Go on without it, and say what you would do."
            )
        if not request.action.strip():
            return PermissionAnswer(
                allowed=False,
                words="Your program does not say what exactly this would do, so nobody can be asked for it. Go on "
                "without it, or do it with a command.",
            )
        if len(request.action) > MAX_ACTION_CHARACTERS:
            return PermissionAnswer(
                allowed=False,
                words=f"This is {len(request.action)} characters long, and a person is asked for at most "
                f"{MAX_ACTION_CHARACTERS}, which they can read. Put it into a file of the project, and ask to run "
                "that.",
            )
        try:
            return await self._ask_owner(self._question(request))
        except MootError as refusal:  # nobody can be asked: that is a denial, and the turn goes on
            return PermissionAnswer(allowed=False, words=f"You may not do this: {refusal.title}")

    def _question(self, request: PermissionRequest) -> str:
        return f"May {self._turn.agent} do this in {self._project}?\n\n{request.tool}: {request.action}"

    async def _ask_owner(self, question: str) -> PermissionAnswer:
        decisions = self._turn.hub.decisions
        if await decisions.use(question, ALLOW):
            return ALLOWED
        if self._permissions is Permissions.ASK:
            return await self._ask_and_wait(question)
        if not await decisions.is_open(question):
            await decisions.propose(question, choices=(ALLOW, DENY))
        return PermissionAnswer(
            allowed=False,
            words="You may not do this by yourself. A person was asked, and you are called again if they allow it. "
            "Go on without it, or say what it is needed for.",
        )

    async def _ask_and_wait(self, question: str) -> PermissionAnswer:
        hub = self._turn.hub
        try:
            answer = await hub.ask(
                hub.settings.hub.user, question, timeout=ASK_SECONDS, choices=(ALLOW, DENY)
            )
        except TimedOut:
            return PermissionAnswer(
                allowed=False, words=f"Nobody answered within {ASK_SECONDS:.0f} s, so you may not do this."
            )
        if answer.text.strip() == ALLOW and await hub.decisions.use(question, ALLOW):
            return ALLOWED
        return PermissionAnswer(allowed=False, words="A person has denied this.")
