"""What is asked of the shell tool, judged before anything runs: which program, with which words, in which folder.

Above: shell.py. Below: nothing.
Not here: running it. A line is split the way a shell would split it, but no shell ever sees it; whatever only a
shell could do is refused with what is possible instead.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

MAX_WORDS: Final = 1000
MAX_BYTES: Final = 100_000
_KEYS: Final = ("argv", "command", "cwd")
_ONE_PROGRAM: Final = "one program at a time, with its words in argv, such as {}"
_OPERATORS: Final = {
    "|": "a pipe",
    "&": "'&'",
    ";": "';'",
    "<": "a redirection",
    ">": "a redirection",
    "(": "a subshell",
    ")": "a subshell",
    "\n": "a second line",
}
_SUBSTITUTION: Final = re.compile(r"`|\$[A-Za-z_0-9{(@*#?$!'\"-]")


class CommandRefused(ValueError):
    """What was asked is not done; the words are for the model."""


class AskedCommand(Struct, frozen=True):
    argv: tuple[str, ...]
    cwd: Path
    """Resolved, inside the project."""


def checked(arguments: Mapping[str, object], allowed: tuple[str, ...], project: Path) -> AskedCommand:
    """What the model's arguments ask for, or Refused. `project` is resolved and there."""
    unknown = [str(key) for key in arguments if key not in _KEYS]
    if unknown:
        raise CommandRefused(f"{unknown[0][:40]!r} is not an argument of shell; it takes {', '.join(_KEYS)}.")
    argv = _words(arguments, _example(allowed))
    _check_words(argv)
    if argv[0] not in allowed:
        raise CommandRefused(_not_allowed(argv[0], allowed))
    return AskedCommand(argv, _folder(arguments.get("cwd"), project))


def _words(arguments: Mapping[str, object], example: str) -> tuple[str, ...]:
    argv, command = arguments.get("argv"), arguments.get("command")
    if (argv is None) == (command is None):
        raise CommandRefused(
            f"Give either argv or command, not {'neither' if argv is None else 'both'}: {example}."
        )
    if isinstance(command, str):
        return _split(command, example)
    if command is not None or not isinstance(argv, list) or not all(isinstance(word, str) for word in argv):
        raise CommandRefused(f"argv is a list of texts and command is one text: {example}.")
    if not argv:
        raise CommandRefused(f"argv is empty; its first word is the program: {example}.")
    return tuple(argv)


def _split(command: str, example: str) -> tuple[str, ...]:
    construct = _needs_a_shell(command.strip())
    if construct:
        raise CommandRefused(
            f"There is no shell here, and {construct} needs one. Ask for "
            f"{_ONE_PROGRAM.format(example)}; put literal characters in single quotes."
        )
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        raise CommandRefused(
            "The command has a quote that is never closed, or ends in a backslash."
        ) from None
    if not words:
        raise CommandRefused(f"The command is empty: {example}.")
    return words


def _needs_a_shell(command: str) -> str:
    """What in the line only a shell could do, in words; empty when nothing is."""
    quote, skip = "", False
    for at, letter in enumerate(command):
        if skip:
            skip = False
        elif letter == "\\" and quote != "'":
            skip = True
        elif quote:
            if letter == quote:
                quote = ""
            elif quote == '"' and _SUBSTITUTION.match(command, at):
                return "a substitution"
        elif letter in "'\"":
            quote = letter
        elif letter in _OPERATORS:
            return _OPERATORS[letter]
        elif _SUBSTITUTION.match(command, at):
            return "a substitution"
    return ""


def _check_words(argv: tuple[str, ...]) -> None:
    if len(argv) > MAX_WORDS:
        raise CommandRefused(f"That is {len(argv)} words; at most {MAX_WORDS} are allowed.")
    size = 0
    for word in argv:
        if "\0" in word:
            raise CommandRefused("A word contains a NUL character, which cannot be passed to a program.")
        try:
            size += len(word.encode())
        except UnicodeEncodeError:
            raise CommandRefused("A word is not valid Unicode (it has a lone surrogate).") from None
    if size > MAX_BYTES:
        raise CommandRefused(f"The words have {size} bytes; at most {MAX_BYTES} are allowed.")


def _not_allowed(program: str, allowed: tuple[str, ...]) -> str:
    shown = repr(program[:60])
    if "/" in program:
        return f"{shown} is a path; programs are called by their bare name. Allowed: {', '.join(allowed)}."
    if "=" in program:
        return f"{shown} sets a variable, which needs a shell. Allowed programs: {', '.join(allowed)}."
    return f"{shown} is not on this agent's list. Allowed: {', '.join(allowed)}."


def _folder(cwd: object, project: Path) -> Path:
    if cwd is None or cwd in ("", "."):
        return project
    if not isinstance(cwd, str) or "\0" in cwd:
        raise CommandRefused("cwd is the path of a folder inside the project, such as 'src'.")
    if cwd.startswith(("/", "~")):
        raise CommandRefused(
            f"cwd = {cwd[:80]!r} is not relative; give a folder inside the project, such as 'src'."
        )
    try:
        folder = (project / cwd).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):  # a loop of links is a RuntimeError before Python 3.13
        raise CommandRefused(f"cwd = {cwd[:80]!r} does not exist.") from None
    if not folder.is_relative_to(project):
        raise CommandRefused(f"cwd = {cwd[:80]!r} is outside the project.")
    if not folder.is_dir():
        raise CommandRefused(f"cwd = {cwd[:80]!r} is not a folder.")
    return folder


def _example(allowed: tuple[str, ...]) -> str:
    program = allowed[0] if allowed else "ls"
    words = {"git": '["git", "status"]', "ls": '["ls", "-la"]'}.get(program, f'["{program}", "--help"]')
    return f'{{"argv": {words}}}'
