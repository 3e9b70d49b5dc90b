"""`moot completion SHELL`: the script for a shell; and the tree of commands that answer.py reads."""

import json
from collections.abc import Iterator

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from moot.brains.llm.default_model import DEFAULTS
from moot.cli import COMPLETING
from moot.cli.app import root
from moot.cli.commands import ALIASES, COMMANDS
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.model.json import JsonObject
from moot.rules.palette import COLOUR_NAMES

SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
HOW = {
    "bash": "moot completion bash >> ~/.bashrc",
    "zsh": "moot completion zsh >> ~/.zshrc",
    "fish": "moot completion fish > ~/.config/fish/completions/moot.fish",
}
AGENTS = ("agent", "agents", "names", "speaker")
CONVERSATIONS = ("conv", "ref", "conversation")
KINDS: JsonObject = {
    **dict.fromkeys(AGENTS, "agent"),
    **dict.fromkeys(CONVERSATIONS, "conversation"),
    "note": "note",
    "file": "path",
    "home_option": "path",
    "color": list(COLOUR_NAMES),
    "brain": ["auto", "demo", *DEFAULTS.values()],
}
"""What a parameter of this name takes. Others are free text."""
NAMES_AN_AGENT = ("agents", "conv join", "conv leave", "mcp config")
"""Commands whose `name` is an agent's; elsewhere it is a new name."""


@leaf("completion", examples=tuple(HOW.values()))
@click.argument("shell", type=click.Choice(list(SHELLS)), required=False)
def completion(session: Session, shell: str | None) -> None:
    """Print the completion script for a shell."""
    if shell is None:
        raise click.UsageError(f"which shell? one of {', '.join(SHELLS)}")
    shell_complete = SHELLS[shell](root, {}, "moot", COMPLETING)
    script = shell_complete.source_template % shell_complete.source_vars()
    if session.json:
        session.screen.data({"shell": shell, "script": script, "install": HOW[shell]})
    else:
        session.screen.say(script)


def tree_text() -> str:
    """tree.json: one line per command, so that two changes rarely meet."""
    commands = dict(_leaves())
    options = _options("", root)
    branches = {
        name: entry.help
        for name, entry in COMMANDS.items()
        if any(p.startswith(f"{name} ") for p in commands)
    }
    lines = [
        '{"options": ' + json.dumps(options) + ",",
        '"aliases": ' + json.dumps(ALIASES) + ",",
        '"branches": ' + json.dumps(branches) + ",",
        '"commands": {',
        ",\n".join(f"{json.dumps(path)}: {json.dumps(entry)}" for path, entry in sorted(commands.items())),
        "}}",
    ]
    return "\n".join(lines) + "\n"


def _leaves() -> Iterator[tuple[str, JsonObject]]:
    ctx = click.Context(root)
    for name in COMMANDS:
        command = root.get_command(ctx, name)
        if isinstance(command, click.Group):
            for verb, below in command.commands.items():
                if below.hidden:
                    continue
                yield f"{name} {verb}", _entry(f"{name} {verb}", below)
        elif command is not None:
            yield name, _entry(name, command)


def _entry(path: str, command: click.Command) -> JsonObject:
    words = [param for param in command.params if isinstance(param, click.Argument)]
    own = [param for param in command.params if not getattr(param, "hidden", False)]
    kinds = [_kind(path, param) for param in words]
    if path in ("chat", "send"):
        kinds = ["agent"]
    return {
        "help": command.get_short_help_str(80),
        "options": _options(path, click.Command(path, params=own)),
        "words": kinds,
        "repeats": any(param.nargs == -1 for param in words) and path != "send",
        "text_after": ["--conv", "--all", "--reply-to"] if path in ("chat", "send") else [],
    }


def _options(path: str, command: click.Command) -> JsonObject:
    """Each option with the kind of its value; None for a flag."""
    return {
        name: None if param.is_flag else _kind(path, param)
        for param in command.params
        if isinstance(param, click.Option)
        for name in param.opts
    }


def _kind(path: str, param: click.Parameter) -> object:
    if isinstance(param.type, click.Choice):
        return list(param.type.choices)
    if param.name == "name" and path.startswith(NAMES_AN_AGENT) and path != "agents new":
        return "agent"
    if "--home" in param.opts:
        return "path"
    return KINDS.get(param.name or "", "")
