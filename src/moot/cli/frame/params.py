"""How commands are written: global options before and behind the command, examples first in every help."""

import math
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import click

from moot.cli.frame.session import Session


class Number(click.ParamType[Any]):
    """A number within bounds, which the refusal names, not every help."""

    def __init__(
        self, minimum: float, kind: type[int] | type[float] = int, maximum: float | None = None
    ) -> None:
        self.name = "number"
        self._minimum, self._kind, self._maximum = minimum, kind, maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        what = "whole number" if self._kind is int else "number"
        upto = "" if self._maximum is None else f" and at most {self._maximum}"
        try:
            number = self._kind(value)
        except ValueError:
            self.fail(f'"{value}" is not a {what}; expected at least {self._minimum}{upto}', param, ctx)
        if not self._minimum <= number <= (math.inf if self._maximum is None else self._maximum):
            self.fail(
                f"{value} is out of range; expected a {what} of at least {self._minimum}{upto}", param, ctx
            )
        return number


SECONDS = Number(0, float)
AT_LEAST_0 = Number(0)
AT_LEAST_1 = Number(1)
PORT = Number(0, maximum=65535)


class UnknownCommand(click.UsageError):
    """An unknown command, with similar ones."""

    def __init__(self, word: str, commands: Iterable[str], ctx: click.Context) -> None:
        super().__init__(f'{ctx.command_path} has no command "{word}"', ctx)
        self.known = tuple(commands)
        self.suggestions = tuple(get_close_matches(word, self.known, n=3))
        self.word = word


def _writes(
    field: str, read: Callable[[Any], Any] = lambda value: value
) -> Callable[[click.Context, click.Parameter, Any], None]:
    def write(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        if value:
            setattr(ctx.ensure_object(Session), field, read(value))

    return write


def _names(typed: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in typed.split(",") if name.strip()))
    if not names:
        raise click.UsageError("--fields is empty; expected for example --fields id,name")
    return names


def global_options(*, hidden: bool) -> list[click.Parameter]:
    """Options that work before the command and after it."""
    return [
        click.Option(
            ["--home"],
            metavar="DIR",
            hidden=hidden,
            expose_value=False,
            callback=_writes("home_option"),
            help="Home folder (default: MOOT_HOME, or ~/.moot).",
        ),
        _flag(["--json"], "json", "Print one JSON document.", hidden=False),
        click.Option(
            ["--fields"],
            metavar="A,B",
            hidden=hidden,
            expose_value=False,
            callback=_writes("fields", _names),
            help="With --json, only these fields of each object.",
        ),
        _flag(
            ["--no-color"],
            "no_color",
            "Turn colours off (also off for NO_COLOR, TERM=dumb and pipes).",
            hidden=hidden,
        ),
        _flag(["--debug"], "debug", "Show stack traces and logs.", hidden=hidden),
        _flag(["-q", "--quiet"], "quiet", "Print only the result: no notes, no status lines.", hidden=hidden),
    ]


def _flag(names: list[str], field: str, text: str, *, hidden: bool) -> click.Option:
    return click.Option(
        names, is_flag=True, hidden=hidden, expose_value=False, callback=_writes(field), help=text
    )


class Leaf(click.Command):
    """A command that does something: takes the global options, and its help begins with two examples."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.params += global_options(hidden=True)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            _refuse_contradictions(self, ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        session = ctx.ensure_object(Session)
        if session.fields and not session.json and not ctx.params.get("jsonl"):
            raise click.UsageError("--fields works only with --json", ctx)
        return super().invoke(ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)
        super().format_help(ctx, formatter)


def _refuse_contradictions(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Flags that set the same thing to different values (`--peer --superior`, `--autostart --no-autostart`)."""
    _, _, order = command.make_parser(ctx).parse_args(list(args))
    typed: dict[str, dict[str, None]] = {}
    for option in order:
        if isinstance(option, click.Option) and option.is_flag and option.name:
            both = [*option.opts[:1], *option.secondary_opts[:1]]
            flags_used = both[:1] if len(both) == 1 else [flag for flag in both if flag in args]
            typed.setdefault(option.name, {}).update(dict.fromkeys(flags_used))
    for flags in typed.values():
        if len(flags) > 1:
            raise click.UsageError(f"{' and '.join(flags)} contradict each other; use one of them", ctx)


class Branch(click.Group):
    """A noun with verbs below it."""

    command_class = Leaf

    def __init__(
        self,
        *args: Any,
        examples: tuple[str, ...] = (),
        aliases: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        if not self.invoke_without_command:
            self.invoke_without_command, self.no_args_is_help = True, False
            self.callback = _help_without_verb
        self.examples = examples
        self.aliases = dict(aliases or {})
        """Other words for verbs; they work, and are not listed."""
        self.params += global_options(hidden=True)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, self.aliases.get(cmd_name, cmd_name))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)
        super().format_help(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise UnknownCommand(args[0], list(self.commands), ctx)
        return super().resolve_command(ctx, args)


def _help_without_verb() -> None:
    """What a noun without a verb does: a person sees its verbs; for a program it is an error."""
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is not None or not isinstance(ctx.command, click.Group):
        return
    session = ctx.ensure_object(Session)
    if session.json:
        raise click.UsageError(
            f"{ctx.command_path} needs a subcommand: {', '.join(ctx.command.commands)}", ctx
        )
    session.screen.say(ctx.get_help())


def write_examples(examples: tuple[str, ...], formatter: click.HelpFormatter) -> None:
    if examples:
        formatter.write("Examples:\n" + "".join(f"  {line}\n" for line in examples) + "\n")


def leaf(name: str, *, examples: tuple[str, ...], **kwargs: Any) -> Callable[[Callable[..., Any]], Leaf]:
    """`@leaf("send", examples=(…))` in place of `@click.command`; the session is the first argument."""

    def decorate(work: Callable[..., Any]) -> Leaf:
        command: Leaf = click.command(name, cls=Leaf, examples=examples, **kwargs)(click.pass_obj(work))
        return command

    return decorate
