"""What a typed line is: words for the conversation, or a command. One parser for every surface (SPEC G-12).

Above: the plain chat, later the terminal chat, the web and the bridges, each before it posts a person's line.
Below: nothing. Not here: carrying a command out (hub/commands/slash.py).

A line is a command when its first word is `/` and a name: `/why 3`. It stays text when it begins with `//`
(`//why` sends `/why`), with a path (`/usr/bin`, `/etc/hosts is wrong`) or with anything else, code included.
A name that nobody knows is refused and never sent; a lone `/` lists them all. `/group@some_bot add arya` is
`/group add arya`.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from msgspec import Struct

from moot.errors import BadValue
from moot.rules.words.mentions import nearest
from moot.rules.words.typed_commands import (
    AgentsCommand,
    AllCommand,
    AppendNoteCommand,
    ArchiveCommand,
    AskCommand,
    Command,
    ContinueCommand,
    ExportCommand,
    GroupAddCommand,
    GroupConfigCommand,
    GroupCreateCommand,
    GroupDissolveCommand,
    GroupListCommand,
    GroupRemoveCommand,
    HelpCommand,
    InboxCommand,
    KeysCommand,
    LinksCommand,
    NameCommand,
    QuitCommand,
    RetryCommand,
    Say,
    SearchCommand,
    ShowNoteCommand,
    SpawnCommand,
    StopCommand,
    SwitchCommand,
    ThemeCommand,
    TurnsCommand,
    WhyCommand,
)

__all__ = [
    "AgentsCommand",
    "AllCommand",
    "AppendNoteCommand",
    "ArchiveCommand",
    "AskCommand",
    "Command",
    "ContinueCommand",
    "ExportCommand",
    "GroupAddCommand",
    "GroupConfigCommand",
    "GroupCreateCommand",
    "GroupDissolveCommand",
    "GroupListCommand",
    "GroupRemoveCommand",
    "HelpCommand",
    "InboxCommand",
    "KeysCommand",
    "LinksCommand",
    "NameCommand",
    "QuitCommand",
    "RetryCommand",
    "Say",
    "SearchCommand",
    "ShowNoteCommand",
    "SpawnCommand",
    "StopCommand",
    "SwitchCommand",
    "ThemeCommand",
    "TurnsCommand",
    "WhyCommand",
]

# A path goes on behind its first word: another slash, or a dot as in /etc.
_command = re.compile(r"/([A-Za-z][A-Za-z_-]*)(?:@[A-Za-z0-9_.-]+)?(?=\s|$)").match


class Surface(StrEnum):
    """Where a person types."""

    TERMINAL = "terminal"
    PAGE = "page"
    CHAT_APP = "chat app"


EVERYWHERE: Final = frozenset(Surface)
AT_A_TERMINAL: Final = frozenset({Surface.TERMINAL})


class Row(Struct, frozen=True):
    """One command: how it is written, what it does, and what does the same elsewhere."""

    name: str
    arguments: str
    help: str
    shell: str
    """The same from a shell; empty where only a chat has it."""
    make: Callable[[str], Command]
    """From the words behind the name."""
    asks_first: bool = False
    """It takes something away: surfaces with somebody to ask, ask."""
    tool: str = ""
    """The MCP tool that does the same, once there is one."""
    route: str = ""
    """The HTTP route that does the same, once there is one."""
    on: frozenset[Surface] = EVERYWHERE
    """Which surfaces offer it."""

    @property
    def form(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()


def parse(line: str) -> Say | Command:
    """What a line means, or BadValue for a command that is unknown or lacks a word."""
    text = line.strip()
    if text.startswith("//"):
        return Say(text[1:])
    if text == "/":
        return HelpCommand()
    met = _command(text)
    if met is None:
        return Say(line)
    name, rest = met[1].lower(), text[met.end() :].strip()
    if name == "group":
        verb, _, rest = rest.partition(" ")
        name, rest = f"group {verb.lower()}".strip(), rest.strip()
    row = ROWS.get(ALIASES.get(name, name))
    if row is None:
        raise _unknown(name, text)
    return row.make(rest)


def _unknown(name: str, text: str) -> BadValue:
    near = nearest(name, ROWS)
    verbs = [row.name.partition(" ")[2] for row in ROWS.values() if row.name.startswith("group ")]
    expected = f"/group takes {', '.join(verbs)}" if name.startswith("group") else "/help lists all"
    return BadValue(
        f"unknown command /{name}; nothing was sent",
        detail=expected,
        fix=(*(f"/{other}" for other in near[:1]), f"to send it as text: /{text[:40]}"),
        suggestions=tuple(f"/{other}" for other in near),
        command=name,
    )


def lacks(name: str) -> BadValue:
    """A command without the words it needs."""
    return BadValue(f"/{name} needs {ROWS[name].arguments}", detail=ROWS[name].help, fix=(ROWS[name].form,))


def _names(rest: str) -> tuple[str, ...]:
    words = (word.lstrip("@") for word in rest.replace(",", " ").split())
    return tuple(dict.fromkeys(word for word in words if word))


def _some_names(name: str, make: Callable[[tuple[str, ...]], Command]) -> Callable[[str], Command]:
    def made(rest: str) -> Command:
        if not (names := _names(rest)):
            raise lacks(name)
        return make(names)

    return made


def _text(name: str, make: Callable[[str], Command]) -> Callable[[str], Command]:
    def made(rest: str) -> Command:
        if not rest:
            raise lacks(name)
        return make(rest)

    return made


def _alone(name: str, make: Callable[[], Command]) -> Callable[[str], Command]:
    def made(rest: str) -> Command:
        if rest:
            raise BadValue(f"/{name} takes no arguments; nothing was done", fix=(f"/{name}",))
        return make()

    return made


def _config(rest: str) -> Command:
    key, _, value = rest.partition(" ")
    return GroupConfigCommand(key, value.strip())


def _ask(rest: str) -> Command:
    """Names first, with or without `@` and commas; the text begins behind `--`, or as `with_names_found` reads it."""
    before, dashes, text = rest.partition("--")
    if dashes and before.strip():
        return AskCommand(_names(before), text.strip())
    if not rest:
        raise lacks("ask")
    return AskCommand((), rest)


def with_names_found(command: AskCommand, is_name: Callable[[str], bool]) -> AskCommand:
    """`/ask a b what now?` with the names told from the text: the first words that are somebody's."""
    if command.names:
        return command
    names: list[str] = []
    rest = command.text
    while rest:
        word, _, after = rest.partition(" ")
        name = word.strip("@,").lower()
        if not is_name(name) or (names and word.endswith(":")):
            break
        names.append(name)
        rest = after.lstrip()
    if not names:
        first = command.text.split()[0].lstrip("@")
        raise BadValue(
            f'nobody here is called "{first}"',
            detail="/ask starts with the names of the agents to ask",
            fix=(ROWS["ask"].form, "/agents"),
            ref=first,
        )
    return AskCommand(tuple(dict.fromkeys(names)), rest)


def _why(rest: str) -> Command:
    number = rest.lstrip("#")
    if number and not (number.isascii() and number.isdigit()):
        raise BadValue(f'"{rest}" is not a message number', fix=(ROWS["why"].form,))
    return WhyCommand(int(number or 0))


def _name(rest: str) -> Command:
    match [word.lstrip("@") for word in rest.split()]:
        case [new]:
            return NameCommand(new)
        case [agent, new]:
            return NameCommand(new, agent)
        case _:
            raise lacks("name")


def _note(rest: str) -> Command:
    """`NAME`, or `NAME += TEXT`; the text may have lines of its own."""
    name, behind = [*rest.split(maxsplit=1), "", ""][:2]
    if not behind:
        return ShowNoteCommand(name)
    sign, text = behind[:2], behind[2:].strip()
    if sign != "+=" or not text:
        raise BadValue(
            f"/note {name} is followed by something else; nothing was done",
            detail="it shows a note, or adds a line to it",
            fix=(f"/note {name}", f"/note {name} += TEXT"),
        )
    return AppendNoteCommand(name, text)


def _spawn(rest: str) -> Command:
    template, _, task = rest.partition(" ")
    if not template:
        raise lacks("spawn")
    return SpawnCommand(template, task.strip())


def _turns(rest: str) -> Command:
    if rest and not (rest.isascii() and rest.isdigit() and 0 < int(rest) <= MAX_TURNS):
        raise BadValue(f'"{rest}" is not a number from 1 to {MAX_TURNS}', fix=(ROWS["turns"].form,))
    return TurnsCommand(int(rest)) if rest else TurnsCommand()


def _theme(rest: str) -> Command:
    if rest not in ("light", "dark"):
        raise BadValue(
            f"/theme is light or dark, not {rest or 'nothing'}", fix=("/theme light", "/theme dark")
        )
    return ThemeCommand(rest == "light")


MAX_TURNS: Final = 100
_API: Final = "/api/conversations"
_ID: Final = f"{_API}/{{id}}"
ROWS: Final[dict[str, Row]] = {
    row.name: row
    for row in (
        Row(
            "ask", "NAME... TEXT", "ask these agents; without TEXT, about the last message", "ask", _ask,
            tool="ask", route=f"POST {_ID}/messages",
        ),
        Row("all", "TEXT", "ask all agents here", "send --conv", _text("all", AllCommand)),
        Row(
            "why", "[N]", "why each agent answered or stayed silent, for the last question or message N", "why",
            _why, tool="why", route="GET /api/messages/{id}/why",
        ),
        Row(
            "continue", "", "resume a round or chain that a brake stopped", "conv continue",
            _alone("continue", ContinueCommand), route=f"POST {_ID}/continue",
        ),
        Row(
            "stop", "[NAME]", "stop the agents that are speaking; what they said so far is kept", "conv stop",
            lambda rest: StopCommand(rest.lstrip("@")), route="POST /api/agents/{name}/interrupt",
        ),
        Row("retry", "", "retry the turns that failed", "conv retry", _alone("retry", RetryCommand)),
        Row(
            "group create", "NAME...", "create a group with these agents and switch to it", "group create",
            _some_names("group create", GroupCreateCommand), route=f"POST {_API}",
        ),
        Row(
            "group add", "NAME...", "add agents", "group add", _some_names("group add", GroupAddCommand),
            route=f"POST {_ID}/participants",
        ),
        Row(
            "group remove", "NAME...", "remove agents", "group remove",
            _some_names("group remove", GroupRemoveCommand), asks_first=True,
            route=f"DELETE {_ID}/participants/{{name}}",
        ),
        Row(
            "group list", "", "show the members and the turn-taking settings", "group list",
            _alone("group list", GroupListCommand), route=f"GET {_ID}",
        ),
        Row(
            "group dissolve", "", "dissolve the group; its history stays readable", "group dissolve",
            _alone("group dissolve", GroupDissolveCommand), asks_first=True, route=f"DELETE {_ID}",
        ),
        Row(
            "group config", "[KEY [VALUE]]", "show the turn-taking settings, or change one", "group config",
            _config, route=f"PATCH {_ID}",
        ),
        Row(
            "agents", "", "list all agents and what they are doing", "agents list",
            _alone("agents", AgentsCommand), tool="list_agents", route="GET /api/agents",
        ),
        Row(
            "name", "[AGENT] NEW", "rename an agent", "agents rename", _name, tool="set_name",
            route="PUT /api/agents/{name}",
        ),
        Row(
            "inbox", "", "show messages waiting for you", "inbox", _alone("inbox", InboxCommand),
            tool="check_messages", route="GET /api/agents/{name}/inbox",
        ),
        Row(
            "search", "WORDS", "search messages", "search", _text("search", SearchCommand), tool="search",
            route="GET /api/search",
        ),
        Row(
            "note", "[NAME [+= TEXT]]", "show a shared note, or add a line to it", "notes show", _note,
            tool="read_shared_note", route="GET /api/notes/{name}",
        ),
        Row(
            "links", "[AGENT]", "show who may write to whom, and who stands above whom", "links list",
            lambda rest: LinksCommand(rest.lstrip("@")), route="GET /api/links",
        ),
        Row(
            "spawn", "TEMPLATE [TASK]", "start an agent from a template, and give it a task", "agents spawn",
            _spawn, tool="spawn_agent", route="POST /api/spawned",
        ),
        Row(
            "archive", "", "archive this conversation; it stays readable", "conv archive",
            _alone("archive", ArchiveCommand), asks_first=True, route=f"DELETE {_ID}",
        ),
        Row(
            "switch", "CONVERSATION", "go to another conversation", "", _text("switch", SwitchCommand),
            on=frozenset({Surface.TERMINAL, Surface.PAGE}),
        ),
        Row("turns", "[N]", "show the newest turns here and how each ended", "turns", _turns),
        Row(
            "export", "[FILE]", "write this conversation to a file, as Markdown", "export",
            ExportCommand, on=AT_A_TERMINAL,
        ),
        Row("theme", "light|dark", "choose colours for a light or a dark background", "", _theme, on=AT_A_TERMINAL),
        Row("keys", "", "show the keys", "", _alone("keys", KeysCommand), on=AT_A_TERMINAL),
        Row("help", "[COMMAND]", "show this list", "help slash", lambda rest: HelpCommand(rest.lstrip("/"))),
        Row(
            "quit", "", "leave the chat; also Ctrl+D, exit or quit", "", _alone("quit", QuitCommand),
            on=AT_A_TERMINAL,
        ),
    )
}  # fmt: skip
ALIASES: Final = {
    "exit": "quit",
    "h": "help",
    "go": "continue",
    "notes": "note",
    "link": "links",
    "group": "group list",
    "group new": "group create",
    "group rm": "group remove",
    "group show": "group list",
    "group set": "group config",
}
LITERAL: Final = ("//TEXT", "a message that begins with /")
FORM_WIDTH: Final = 29


def help_lines(name: str = "") -> list[tuple[str, str]]:
    """Form and meaning of each command, or of those that begin with a name."""
    rows = [(row.form, row.help) for row in ROWS.values() if row.name.startswith(name)]
    if not rows:
        raise _unknown(name, f"/{name}")
    return [*rows, LITERAL] if not name else rows
