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
from typing import Final, TypeAlias

from msgspec import Struct

from moot.errors import BadValue
from moot.rules.words.mentions import nearest

# A path goes on behind its first word: another slash, or a dot as in /etc.
_command = re.compile(r"/([A-Za-z][A-Za-z_-]*)(?:@[A-Za-z0-9_.-]+)?(?=\s|$)").match


class Say(Struct, frozen=True):
    """Words for the conversation."""

    text: str


class GroupCreate(Struct, frozen=True):
    names: tuple[str, ...]


class GroupAdd(Struct, frozen=True):
    names: tuple[str, ...]


class GroupRemove(Struct, frozen=True):
    names: tuple[str, ...]


class GroupList(Struct, frozen=True): ...


class GroupDissolve(Struct, frozen=True): ...


class GroupConfig(Struct, frozen=True):
    key: str = ""
    value: str = ""


class Ask(Struct, frozen=True):
    names: tuple[str, ...]
    text: str = ""
    """Empty: about the newest message of a person."""


class All(Struct, frozen=True):
    text: str


class Why(Struct, frozen=True):
    number: int = 0
    """0 is the newest message."""


class Continue(Struct, frozen=True): ...


class Stop(Struct, frozen=True):
    agent: str = ""
    """Empty: everybody who speaks here now."""


class Retry(Struct, frozen=True): ...


class Agents(Struct, frozen=True): ...


class Name(Struct, frozen=True):
    new: str
    agent: str = ""
    """Empty: the only agent here."""


class Inbox(Struct, frozen=True): ...


class Search(Struct, frozen=True):
    query: str


class Archive(Struct, frozen=True): ...


class Help(Struct, frozen=True):
    name: str = ""


class Quit(Struct, frozen=True): ...


Command: TypeAlias = (
    GroupCreate
    | GroupAdd
    | GroupRemove
    | GroupList
    | GroupDissolve
    | GroupConfig
    | Ask
    | All
    | Why
    | Continue
    | Stop
    | Retry
    | Agents
    | Name
    | Inbox
    | Search
    | Archive
    | Help
    | Quit
)


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

    @property
    def form(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()


def parse(line: str) -> Say | Command:
    """What a line means, or BadValue for a command that is unknown or lacks a word."""
    text = line.strip()
    if text.startswith("//"):
        return Say(text[1:])
    if text == "/":
        return Help()
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
    known = f"/group takes {', '.join(verbs)}" if name.startswith("group") else "/help lists all"
    return BadValue(
        f"unknown command /{name}; nothing was sent",
        detail=known,
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
            raise BadValue(f"/{name} stands alone; nothing was done", fix=(f"/{name}",))
        return make()

    return made


def _config(rest: str) -> Command:
    key, _, value = rest.partition(" ")
    return GroupConfig(key, value.strip())


def _ask(rest: str) -> Command:
    """Names first, with or without `@` and commas; the text begins behind `--`, or as `asked` reads it."""
    before, dashes, text = rest.partition("--")
    if dashes and before.strip():
        return Ask(_names(before), text.strip())
    if not rest:
        raise lacks("ask")
    return Ask((), rest)


def asked(command: Ask, known: Callable[[str], bool]) -> Ask:
    """`/ask a b what now?` with the names told from the text: the first words that are somebody's."""
    if command.names:
        return command
    names: list[str] = []
    rest = command.text
    while rest:
        word, _, after = rest.partition(" ")
        name = word.strip("@,").lower()
        if not known(name) or (names and word.endswith(":")):
            break
        names.append(name)
        rest = after.lstrip()
    if not names:
        first = command.text.split()[0].lstrip("@")
        raise BadValue(
            f'nobody here is called "{first}"',
            detail="/ask begins with the names of those who are to answer",
            fix=(ROWS["ask"].form, "/agents"),
            ref=first,
        )
    return Ask(tuple(dict.fromkeys(names)), rest)


def _why(rest: str) -> Command:
    number = rest.lstrip("#")
    if number and not (number.isascii() and number.isdigit()):
        raise BadValue(f'"{rest}" is no number of a message', fix=(ROWS["why"].form,))
    return Why(int(number or 0))


def _name(rest: str) -> Command:
    match [word.lstrip("@") for word in rest.split()]:
        case [new]:
            return Name(new)
        case [agent, new]:
            return Name(new, agent)
        case _:
            raise lacks("name")


_API: Final = "/api/conversations"
_ID: Final = f"{_API}/{{id}}"
ROWS: Final[dict[str, Row]] = {
    row.name: row
    for row in (
        Row(
            "ask",
            "NAME... TEXT",
            "make these agents answer; without TEXT, what was said last",
            "ask",
            _ask,
            tool="ask",
            route=f"POST {_ID}/messages",
        ),
        Row("all", "TEXT", "make everybody here answer", "send --conv", _text("all", All)),
        Row(
            "why",
            "[N]",
            "why each agent answered or was silent, of late or to message N",
            "why",
            _why,
            tool="why",
            route="GET /api/messages/{id}/why",
        ),
        Row(
            "continue",
            "",
            "let a stopped round or chain go on",
            "conv continue",
            _alone("continue", Continue),
            route=f"POST {_ID}/continue",
        ),
        Row(
            "stop",
            "[NAME]",
            "stop who is speaking here; what was said so far is kept",
            "conv stop",
            lambda rest: Stop(rest.lstrip("@")),
            route="POST /api/agents/{name}/interrupt",
        ),
        Row("retry", "", "ask those again whose turn failed", "conv retry", _alone("retry", Retry)),
        Row(
            "group create",
            "NAME...",
            "make a group with these agents and go there",
            "group create",
            _some_names("group create", GroupCreate),
            route=f"POST {_API}",
        ),
        Row(
            "group add",
            "NAME...",
            "bring agents in",
            "group add",
            _some_names("group add", GroupAdd),
            route=f"POST {_ID}/participants",
        ),
        Row(
            "group remove",
            "NAME...",
            "take agents out",
            "group remove",
            _some_names("group remove", GroupRemove),
            asks_first=True,
            route=f"DELETE {_ID}/participants/{{name}}",
        ),
        Row(
            "group list",
            "",
            "who is here, and how turns are taken",
            "group list",
            _alone("group list", GroupList),
            route=f"GET {_ID}",
        ),
        Row(
            "group dissolve",
            "",
            "end the group; what was said stays readable",
            "group dissolve",
            _alone("group dissolve", GroupDissolve),
            asks_first=True,
            route=f"DELETE {_ID}",
        ),
        Row(
            "group config",
            "[KEY [VALUE]]",
            "show how turns are taken, or set it",
            "group config",
            _config,
            route=f"PATCH {_ID}",
        ),
        Row(
            "agents",
            "",
            "who there is, and what each is doing",
            "agents list",
            _alone("agents", Agents),
            tool="list_agents",
            route="GET /api/agents",
        ),
        Row(
            "name",
            "[AGENT] NEW",
            "give an agent another name",
            "agents rename",
            _name,
            tool="set_name",
            route="PUT /api/agents/{name}",
        ),
        Row(
            "inbox",
            "",
            "what waits for you",
            "inbox",
            _alone("inbox", Inbox),
            tool="check_messages",
            route="GET /api/agents/{name}/inbox",
        ),
        Row(
            "search",
            "WORDS",
            "find messages by their words",
            "search",
            _text("search", Search),
            tool="search",
            route="GET /api/search",
        ),
        Row(
            "archive",
            "",
            "close this conversation; it stays readable",
            "conv archive",
            _alone("archive", Archive),
            asks_first=True,
            route=f"DELETE {_ID}",
        ),
        Row("help", "[COMMAND]", "this list", "help slash", lambda rest: Help(rest.lstrip("/"))),
        Row("quit", "", "leave; Ctrl+D does too, and exit or quit alone", "", _alone("quit", Quit)),
    )
}
ALIASES: Final = {
    "exit": "quit",
    "h": "help",
    "go": "continue",
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
