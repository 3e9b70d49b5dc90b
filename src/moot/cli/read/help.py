"""`moot help` and `moot version`: words for people who look for a word."""

import sys
from collections.abc import Callable

import click

from moot import __version__
from moot.cli.frame import exit_codes
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.cli.read.explain import meanings
from moot.errors import NotFound
from moot.rules.words import slash
from moot.rules.words.mentions import nearest

START = """\
  moot demo                          watch three offline demo agents talk (no key)
  moot agents new arya --role "…"    make an agent; moot agents list shows who is here
  moot send arya "what changed?"     one question, one answer
  moot chat arya gendry              talk with both, line by line
  moot conv new build --with arya    a conversation with a name
  moot why build:1                   why each agent answered, or was silent
  moot up                            keep the agents running"""
JSON = """\
Every command takes --json and then writes one document to standard output, without colour or truncation.
  lists      a bare array, [] where there is nothing
  send, ask, chat with a text
             {"receipt", "replies": [Message], "outcome": "replied|passed|timed_out|failed|queued|owed"}
  conv show  Conversation with "messages", the newest 50
  errors     one line on standard error: {"error": {"code", "title", "fix", "suggestions", "exit", …}};
             a missing key comes beside the document, which says what became of the message
  streams    tail --jsonl: one Message per line
  --fields   id,name: only these fields of each object
Times are RFC 3339 in UTC. Fields are only ever added."""
CODES = {
    exit_codes.OK: "done; also an empty list, a pass, and a message that is held, queued or waits for somebody away",
    exit_codes.FAILED: "it failed, or nobody can answer",
    exit_codes.USAGE: "the command cannot be understood, or would have to ask and nobody is there",
    exit_codes.NOT_FOUND: "nothing goes by that name",
    exit_codes.NO_KEY: "a key is missing or was refused",
    exit_codes.REFUSED: "refused by a link, or because it is archived",
    exit_codes.LIMITED: "too much in too short a time",
    exit_codes.PAUSED: "paused by a brake",
    exit_codes.WAITED: "waited too long, or not delivered as far as was required",
    exit_codes.HUB: "the hub: another one runs, or none does",
    exit_codes.INTERRUPTED: "interrupted",
}


def start_topic() -> str:
    return START


def codes_topic() -> str:
    return "\n".join(f"  {code:>3}  {meaning}" for code, meaning in CODES.items())


def json_topic() -> str:
    return JSON


def slash_topic() -> str:
    return "\n".join(f"  {form:<{slash.FORM_WIDTH}}{meaning}" for form, meaning in slash.help_lines())


def errors_topic() -> str:
    return "\n".join(f"  {each.code}  {each.meaning}" for each in meanings().values())


TOPICS: dict[str, tuple[str, Callable[[], str]]] = {
    "start": ("the first things to type", start_topic),
    "slash": ("what can be typed into a chat", slash_topic),
    "exit-codes": ("what an exit code tells", codes_topic),
    "json": ("what --json gives", json_topic),
    "errors": ("what error codes mean", errors_topic),
}


@leaf("help", examples=("moot help", "moot help slash", "moot help conv new"))
@click.argument("words", nargs=-1, metavar="[TOPIC | COMMAND]")
@click.pass_context
def help_(ctx: click.Context, session: Session, words: tuple[str, ...]) -> None:
    """Help on a command or a topic."""
    name = " ".join(words)
    root = ctx.find_root()
    if name in TOPICS:
        text = TOPICS[name][1]()
    elif not words:
        listed = "\n".join(f"  moot help {topic:<12}{about}" for topic, (about, _) in TOPICS.items())
        text = f"{root.command.get_help(root)}\n\nTopics:\n{listed}"
    else:
        text = _of_command(root, words)
    if session.json:
        session.screen.data({"topic": name or None, "text": text, "topics": list(TOPICS)})
        return
    with session.screen.paged():
        session.screen.say(text)


def _of_command(root: click.Context, words: tuple[str, ...]) -> str:
    ctx, command = root, root.command
    for word in words:
        below = command.get_command(ctx, word) if isinstance(command, click.Group) else None
        if below is None:
            known = [*TOPICS, *(command.list_commands(ctx) if isinstance(command, click.Group) else ())]
            raise NotFound(
                f'there is no help on "{" ".join(words)}"',
                detail=f"topics are {', '.join(TOPICS)}; or any command",
                fix=("moot help",),
                suggestions=nearest(word, known),
                ref=word,
            )
        ctx, command = click.Context(below, info_name=below.name, parent=ctx), below
    return command.get_help(ctx)


@leaf("version", examples=("moot version", "moot version --json"))
def version(session: Session) -> None:
    """Which version this is."""
    if session.json:
        session.screen.data({"version": __version__, "python": sys.version.split()[0]})
    else:
        session.screen.say(f"moot {__version__}")
