"""The same verbs everywhere: shell ↔ slash ↔ MCP ↔ HTTP, row by row, each held against its own registry; and what each
surface that people type into offers of them."""

from types import SimpleNamespace
from typing import Any, cast

import click
import pytest

from moot.bridges.discord.messages import commands as discord_commands
from moot.bridges.telegram.menu import menu
from moot.cli.app import root
from moot.cli.tui.chat_state import ChatSnapshot
from moot.cli.tui.reducer import start_state
from moot.cli.tui.suggestions import suggestions
from moot.doors.http.api.routes import ROUTES
from moot.doors.http.page import commands as page_commands
from moot.doors.mcp import tools
from moot.rules.words import slash

pytestmark = pytest.mark.req("G-12")

NONE = ""
TOOLS = {tool.name for tool in tools.TOOLS}
SERVED = {route.key for route in ROUTES}

# shell, slash, MCP tool, HTTP route
PARITY = [
    ("send", NONE, "send_to_agent", "POST /api/agents/{name}/messages"),
    ("send --all", NONE, "broadcast", "POST /api/agents/broadcast"),
    ("send --conv", "all", NONE, NONE),
    ("ask", "ask", "ask", "POST /api/conversations/{id}/messages"),
    ("inbox", "inbox", "check_messages", "GET /api/agents/{name}/inbox"),
    ("search", "search", "search", "GET /api/search"),
    ("why", "why", "why", "GET /api/messages/{id}/why"),
    ("agents list", "agents", "list_agents", "GET /api/agents"),
    ("agents rename", "name", "set_name", "PUT /api/agents/{name}"),
    ("agents new", NONE, NONE, "POST /api/hosted-agents"),
    ("keys list", NONE, NONE, "GET /api/providers"),
    ("keys test", NONE, NONE, "POST /api/providers/{name}/test"),
    ("backup list", NONE, NONE, "GET /api/backups"),
    ("backup create", NONE, NONE, "POST /api/backups"),
    ("import --dry-run", NONE, NONE, "POST /api/imports"),
    ("agents spawn", "spawn", "spawn_agent", "POST /api/spawned"),
    ("agents tree", NONE, NONE, "GET /api/spawned"),
    ("group create", "group create", NONE, "POST /api/conversations"),
    ("group add", "group add", NONE, "POST /api/conversations/{id}/participants"),
    ("group remove", "group remove", NONE, "DELETE /api/conversations/{id}/participants/{name}"),
    ("group list", "group list", NONE, "GET /api/conversations/{id}"),
    ("group dissolve", "group dissolve", NONE, "DELETE /api/conversations/{id}"),
    ("group config", "group config", NONE, "PATCH /api/conversations/{id}"),
    ("conv continue", "continue", NONE, "POST /api/conversations/{id}/continue"),
    ("conv stop", "stop", NONE, "POST /api/agents/{name}/interrupt"),
    ("conv retry", "retry", NONE, NONE),
    ("notes show", "note", "read_shared_note", "GET /api/notes/{name}"),
    ("notes edit", NONE, "write_shared_note", "PUT /api/notes/{name}"),
    ("notes append", NONE, NONE, "POST /api/notes/{name}/append"),
    ("notes list", NONE, NONE, "GET /api/notes"),
    ("notes new", NONE, NONE, "POST /api/notes"),
    ("notes history", NONE, NONE, "GET /api/notes/{name}/history"),
    ("notes revert", NONE, NONE, "POST /api/notes/{name}/revert"),
    ("notes share --read --write --none", NONE, NONE, "PUT /api/notes/{name}/permissions"),
    ("notes rm", NONE, NONE, "DELETE /api/notes/{name}"),
    ("conv archive", "archive", NONE, "DELETE /api/conversations/{id}"),
    ("links list", "links", NONE, "GET /api/links"),
    ("links show", NONE, NONE, "GET /api/links/{id}"),
    ("links show --prompts", NONE, NONE, "GET /api/links/{id}/prompts"),
    ("links new", NONE, NONE, "POST /api/links"),
    ("links set", NONE, NONE, "PUT /api/links/{id}"),
    ("links enable", NONE, NONE, "PUT /api/links/{id}"),
    ("links disable", NONE, NONE, "PUT /api/links/{id}"),
    ("links rm --purge-history", NONE, NONE, "DELETE /api/links/{id}"),
    ("links log", NONE, NONE, "GET /api/links/{id}/messages"),
    ("topology show", NONE, NONE, "GET /api/topology"),
    ("topology apply --dry-run", NONE, NONE, "PUT /api/links"),
    ("limits show", NONE, NONE, "GET /api/limits"),
    ("limits reset", NONE, NONE, "POST /api/limits/reset"),
    ("guard status --conv", NONE, NONE, "GET /api/limits"),
    ("decisions list", NONE, NONE, "GET /api/decisions"),
    ("decisions show", NONE, NONE, "GET /api/decisions/{id}"),
    ("tasks list", NONE, NONE, "GET /api/tasks"),
    ("tasks show", NONE, NONE, "GET /api/tasks/{id}"),
    ("tokens new", NONE, NONE, "POST /api/agents/{name}/tokens"),
    ("tokens list", NONE, NONE, "GET /api/agents/{name}/tokens"),
    ("tokens revoke", NONE, NONE, "DELETE /api/agents/{name}/tokens/{id}"),
    ("status", NONE, NONE, "GET /api/now"),
    ("agents start", NONE, NONE, "POST /api/agents/{name}/start"),
    ("agents stop", NONE, NONE, "POST /api/agents/{name}/stop"),
    ("pause", NONE, NONE, "POST /api/agents/{name}/pause"),
    ("resume", NONE, NONE, "POST /api/agents/{name}/resume"),
    ("agents ping", NONE, NONE, "POST /api/agents/{name}/ping"),
    ("agents logs", NONE, NONE, "GET /api/logs"),
    ("logs", NONE, NONE, "GET /api/logs"),
    ("config list", NONE, NONE, "GET /api/settings"),
    ("config set", NONE, NONE, "PUT /api/settings/{id}"),
    ("open", NONE, NONE, "POST /api/agents/{name}/sign-in-codes"),
    ("people invite", NONE, NONE, "POST /api/agents/{name}/sign-in-codes"),
    ("tasks stop", NONE, "update_task", "PATCH /api/tasks/{id}"),
    ("tasks new", NONE, "delegate", "POST /api/tasks"),
    (NONE, NONE, "reply", NONE),
    (NONE, NONE, "wait_for_messages", NONE),
    ("conv show", NONE, "read_conversation", "GET /api/conversations/{id}/messages"),
    ("send --conv", NONE, "post", "POST /api/conversations/{id}/messages"),
    ("turns", "turns", NONE, NONE),
    ("export", "export", NONE, NONE),
    (NONE, "switch", NONE, NONE),
    (NONE, "theme", NONE, NONE),
    (NONE, "keys", NONE, NONE),
    ("help slash", "help", NONE, NONE),
    (NONE, "quit", NONE, NONE),
]


def command_at(path: str) -> click.Command | None:
    """The command that the words lead to; an option or a topic behind it is checked too."""
    ctx, found = click.Context(root), root
    command: click.Command | None = found
    for word in path.split():
        if word.startswith("--"):
            assert command is not None
            assert any(word in param.opts for param in command.params), path
        elif isinstance(command, click.Group):
            command = command.get_command(ctx, word)
    return command


@pytest.mark.parametrize(("shell", "name", "tool", "route"), PARITY, ids=lambda value: value or "-")
def test_a_row_holds_on_every_side(shell: str, name: str, tool: str, route: str) -> None:
    if shell:
        command = command_at(shell)
        assert command is not None
        assert not isinstance(command, click.Group)
    if name:
        row = slash.ROWS[name]
        assert (row.shell, row.tool, row.route) == (shell, tool, route)
    assert not tool or tool in TOOLS
    assert not route or route in SERVED


def test_the_table_names_every_tool() -> None:
    assert {tool for _, _, tool, _ in PARITY if tool} == TOOLS


def test_the_table_names_every_slash_command() -> None:
    assert sorted(name for _, name, _, _ in PARITY if name) == sorted(slash.ROWS)


def test_group_has_the_same_verbs_in_the_shell_and_in_a_chat() -> None:
    group = command_at("group")
    assert isinstance(group, click.Group)
    typed = {row.name.split()[1] for row in slash.ROWS.values() if row.name.startswith("group ")}
    assert set(group.commands) == typed
    listed = {alias.split()[1]: row.split()[1] for alias, row in slash.ALIASES.items() if " " in alias}
    assert getattr(group, "aliases", {}) == listed


ON_A_SCREEN_OF_ONES_OWN = {"export", "theme", "keys", "quit"}
NOT_IN_CHAT_APPS = {*ON_A_SCREEN_OF_ONES_OWN, "switch"}


async def offered_by_the_page() -> set[str]:
    listed = await page_commands.commands(cast("Any", None))
    return {row.name for row in listed.commands}


def offered_by_the_terminal() -> set[str]:
    where = cast("Any", SimpleNamespace(participants=(), id="c1", settings={}))
    state = start_state(ChatSnapshot("user", where, (), (), ()), {})
    typed = (f"/{name[:-1]}" for name in slash.ROWS)
    found = [suggestions(text, state, 0.0) for text in typed]
    return {row.insert.removeprefix("/").strip() for one in found if one is not None for row in one.rows}


def offered_by_discord() -> set[str]:
    found: set[str] = set()
    for command in discord_commands():
        parts = [option.name for option in command.options if option.type == 1]  # type: ignore[attr-defined]
        found |= {f"{command.name} {part}" for part in parts} or {command.name}
    return found - {"pair"}


async def test_each_surface_offers_the_table_by_its_own_completion() -> None:
    """Terminal, page, Telegram, Discord; what is about one's own screen or files is only where there is one."""
    every = set(slash.ROWS)
    assert offered_by_the_terminal() == every
    assert await offered_by_the_page() == every - ON_A_SCREEN_OF_ONES_OWN
    assert offered_by_discord() == every - NOT_IN_CHAT_APPS
    words = {name.partition(" ")[0] for name in every - NOT_IN_CHAT_APPS}
    assert {command.command for command in menu()} == words, "Telegram offers words; /group says its parts"
    [group] = [command.description for command in menu() if command.command == "group"]
    parts = {name.partition(" ")[2] for name in every if name.startswith("group ")}
    assert all(part in group for part in parts)
