"""The root command: global options, lazy look-up of the others, and what every end of a run looks like."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from moot import __version__
from moot.cli.commands import ALIASES, COMMANDS
from moot.cli.frame import errors, streams
from moot.cli.frame.exit_codes import INTERRUPTED, OK
from moot.cli.frame.params import UnknownCommand, global_options
from moot.cli.frame.session import Session
from moot.cli.run import welcome

if TYPE_CHECKING:
    from moot.cli.talk.no_wait import StoredPost

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class MootCommands(click.Group):
    """Finds commands in the table and imports only the one that is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(ALIASES.get(cmd_name, cmd_name))
        if entry is None:
            return None
        module, _, attribute = entry.where.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise UnknownCommand(args[0], COMMANDS, ctx)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table alone: nothing is imported to describe it."""
        formatter.write('Examples:\n  moot demo\n  moot send arya "what changed?"\n\n')
        self.format_usage(ctx, formatter)
        formatter.write(f"\n  {welcome.MOTTO}\n")
        for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            with formatter.section(section):
                formatter.write_dl(
                    [(name, entry.help) for name, entry in COMMANDS.items() if entry.section == section]
                )
        self.format_options(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = [param.get_help_record(ctx) for param in self.get_params(ctx)]
        with formatter.section("Options, before or after the command"):
            formatter.write_dl([record for record in records if record is not None])


@click.command(
    cls=MootCommands, invoke_without_command=True, context_settings=HELP, params=global_options(hidden=False)
)
@click.version_option(__version__, prog_name="moot", message="moot %(version)s")
@click.pass_context
def root(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        welcome.tell(ctx.ensure_object(Session))


def run(arguments: list[str], posted: StoredPost | None = None) -> int:
    """One command from its words to its exit code; `posted` if its message is stored. No error leaves here."""
    streams.prepare()
    session = Session()
    session.posted = posted
    try:
        answer: object = root.main(arguments, prog_name="moot", standalone_mode=False, obj=session)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        session.screen.before_writing()
        if session.left:
            click.echo(session.left, err=True)
        return INTERRUPTED
    except BrokenPipeError:
        streams.close_quietly()
        return OK
    except Exception as error:  # the border of the program: whatever it is, people get a sentence and a code
        return errors.tell(error, session, arguments)
    return answer if isinstance(answer, int) else OK
