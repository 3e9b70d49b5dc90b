"""How an error looks on the command line: what happened, what comes near, what mends it, a code."""

import json
import shlex
import traceback
from collections.abc import Callable, Sequence

import click

from moot.cli.frame.exit_codes import FAILED, USAGE, exit_code
from moot.cli.frame.hints import command, commands
from moot.cli.frame.session import Session
from moot.cli.terminal.screen import safe
from moot.errors import BadValue, MootError, NotFound
from moot.model.json import Json

MAX_FIX_CHARACTERS = 100
GAP = " " * 10
CREATING = (" agents new ", " conv new ")
TO_EITHER = ("chat", "send")


def tell(error: Exception, session: Session, arguments: Sequence[str]) -> int:
    """Print an error on stderr and return the exit code."""
    if session.debug:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    moot_error = as_moot_error(error, arguments)
    code = USAGE if isinstance(error, click.UsageError) else exit_code(moot_error)
    if session.json or "--json" in arguments:
        ways = [session.screen.command(way) for way in fixes(moot_error, arguments)]
        fields = {**moot_error.to_dict(command), "fix": ways, "exit": code}
        click.echo(json.dumps({"error": fields}, ensure_ascii=False, default=str), err=True)
    else:
        click.echo(text(moot_error, arguments, command=session.screen.command), err=True)
    return code


def as_moot_error(error: Exception, arguments: Sequence[str]) -> MootError:
    """Every error as one of Moot's own."""
    if isinstance(error, MootError):
        return error
    if isinstance(error, click.UsageError):
        return _usage(error)
    if isinstance(error, click.ClickException):
        return BadValue(error.format_message())
    return MootError(
        f"internal error in Moot: {type(error).__name__}: {error}",
        fix=(f"moot --debug {shlex.join(arguments)}"[:MAX_FIX_CHARACTERS], "moot doctor"),
    )


def _usage(error: click.UsageError) -> BadValue:
    path = error.ctx.command_path if error.ctx is not None else "moot"
    suggestions = tuple(getattr(error, "suggestions", ()) or getattr(error, "possibilities", None) or ())
    known_commands = getattr(error, "known", ())
    message = error.message if hasattr(error, "word") else error.format_message()
    if isinstance(error, click.NoSuchOption):
        message = f"{path} has no option {error.option_name}"  # what comes near has a line of its own
    fix = tuple(f"{path} {word}" for word in suggestions[:1]) if known_commands else ()
    message = " ".join(message.split())  # click lists choices on lines of their own
    return BadValue(
        message[:1].lower() + message[1:].rstrip("."),
        detail=f"commands: {', '.join(known_commands)}" if known_commands else "",
        fix=(*fix, f"{path} -h"),
        suggestions=suggestions,
    )


def text(
    error: MootError,
    arguments: Sequence[str],
    *,
    more: bool = True,
    word: str = "error",
    command: Callable[[str], str] = str,
) -> str:
    """The lines of UX 2.6; in a chat without the command for more, which cannot be typed there."""
    lines = [f"{word}[{error.code}] {error.title}"]
    near = f"did you mean {' or '.join(error.suggestions[:3])}?" if error.suggestions else ""
    detail = error.detail.splitlines() or [""]
    if near and len(detail) == 1:
        lines.append(f"  {near}{GAP}{detail[0]}".rstrip())
    else:
        lines += [f"  {line}" for line in ([near] if near else []) + detail if line]
    ways = [command(way) for way in fixes(error, arguments)]
    if ways:
        lines.append("  fix   " + "      ".join([ways[0], *(f"{_or(way)} {way}" for way in ways[1:2])]))
    if more and error.code != MootError.code:
        lines.append(f"  more  moot explain {error.code}")
    return "\n".join(safe(line) for line in lines)


def _or(way: str) -> str:
    return "or create it:" if any(words in way for words in CREATING) else "or:"


def fixes(error: MootError, arguments: Sequence[str]) -> list[str]:
    """The fixes; for a mistyped name, first the same command with the name that was probably meant."""
    ways = commands(error.fix)
    corrected = _corrected_command(error, list(arguments)) if isinstance(error, NotFound) else None
    command = f"moot {shlex.join(corrected)}" if corrected is not None else ""
    if 0 < len(command) <= MAX_FIX_CHARACTERS:
        ways.insert(0, command)
    return list(dict.fromkeys(ways))


def _corrected_command(error: NotFound, arguments: list[str]) -> list[str] | None:
    """The same command with the most similar name; an agent in place of a conversation, or the reverse, as such."""
    ref = str(error.facts.get("ref") or "").lstrip("#@")
    at = [n for n, word in enumerate(arguments) if ref and word.lstrip("#@") == ref]
    if error.suggestions and at:
        return [error.suggestions[0] if n in at else word for n, word in enumerate(arguments)]
    other: Json = error.facts.get("other")
    if other is None or len(at) != 1:
        return None
    return _of_the_other_kind(other, arguments[: at[0]], arguments[at[0] + 1 :])


def _of_the_other_kind(name: str, before: list[str], behind: list[str]) -> list[str] | None:
    """`send` and `chat` take an agent, or a conversation by `--conv`; all other words are the message then, so the
    command is given only where they mean the same both ways."""
    command = next((word for word in before if word in TO_EITHER), None)
    if command is None:
        return None
    between = before[before.index(command) + 1 :]
    if between[-1:] != ["--conv"]:
        fits = command == "send" or not (between or behind)
        return [*before, "--conv", name, *behind] if fits else None
    fits = len(between) == 1 and (command == "send" or not behind)
    return [*before[:-1], name, *behind] if fits else None


__all__ = ["FAILED", "as_moot_error", "fixes", "tell", "text"]
