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
  moot init                          set up your own agents (three questions)
  moot agents new arya --role "…"    create another one; moot agents list shows all of them
  moot send arya "what changed?"     one question, one answer
  moot chat arya gendry              chat with both
  moot conv new build --with arya    create a named conversation
  moot why build:1                   why each agent answered or stayed silent
  moot open                          the same in your browser
  moot up                            keep the agents running
  moot doctor                        check that everything is in order"""
JSON = """\
Every command takes --json and then prints one document to standard output, without colour or truncation.
  lists      a bare array, [] if empty
  send, ask, chat with a text
             {"receipt", "replies": [Message], "outcome": "replied|passed|timed_out|failed|queued|owed"}
  conv show  Conversation with "messages", the newest 50
  errors     one line on standard error: {"error": {"code", "title", "fix", "suggestions", "exit", …}};
             a missing key is reported there too; the document says what became of the message
  streams    tail --jsonl: one Message per line
  --fields   id,name: only these fields of each object
Times are RFC 3339 in UTC. Fields are only ever added."""
CODES = {
    exit_codes.OK: (
        "success; also an empty list, a pass, or a message that is held, queued or waiting for an "
        "agent that is away"
    ),
    exit_codes.FAILED: "failed, or nobody can answer",
    exit_codes.USAGE: "usage error, or a confirmation is needed and there is no terminal",
    exit_codes.NOT_FOUND: "not found",
    exit_codes.NO_KEY: "a key is missing or was refused",
    exit_codes.REFUSED: "not permitted, or the conversation is archived",
    exit_codes.LIMITED: "rate limited",
    exit_codes.PAUSED: "paused by a brake",
    exit_codes.WAITED: "timed out, or the required delivery was not reached",
    exit_codes.HUB: "hub or port trouble: none is running, or one already is",
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
    "start": ("the first commands to try", start_topic),
    "slash": ("commands inside a chat", slash_topic),
    "exit-codes": ("what exit codes mean", codes_topic),
    "json": ("what --json prints", json_topic),
    "errors": ("what error codes mean", errors_topic),
}


@leaf("help", examples=("moot help", "moot help slash", "moot help conv new"))
@click.argument("words", nargs=-1, metavar="[TOPIC | COMMAND]")
@click.pass_context
def help_(ctx: click.Context, session: Session, words: tuple[str, ...]) -> None:
    """Show help on a command or a topic."""
    name = " ".join(words)
    root = ctx.find_root()
    if name in TOPICS:
        text = TOPICS[name][1]()
    elif not words:
        topic_lines = "\n".join(f"  moot help {topic:<12}{about}" for topic, (about, _) in TOPICS.items())
        text = f"{root.command.get_help(root)}\n\nTopics:\n{topic_lines}"
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
            names = [*TOPICS, *(command.list_commands(ctx) if isinstance(command, click.Group) else ())]
            raise NotFound(
                f'there is no help on "{" ".join(words)}"',
                detail=f"expected a command, or one of {', '.join(TOPICS)}",
                fix=("moot help",),
                suggestions=nearest(word, names),
                ref=word,
            )
        ctx, command = click.Context(below, info_name=below.name, parent=ctx), below
    return command.get_help(ctx)


@leaf("version", examples=("moot version", "moot version --json"))
def version(session: Session) -> None:
    """Print the version."""
    if session.json:
        session.screen.data({"version": __version__, "python": sys.version.split()[0]})
    else:
        session.screen.say(f"moot {__version__}")
