"""Slash commands over HTTP, for surfaces that have a person's line and no parser of their own: the page.

Below: rules/words/slash.py reads the line, hub/commands/slash.py carries it out. Not here: what a command does.
"""

from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import CommandDone, CommandList, CommandRow
from moot.errors import NotPermitted
from moot.hub.commands.slash import At, carry_out
from moot.hub.commands.slash_actions import ACTIONS
from moot.rules.access import Action, Standing
from moot.rules.words import slash


async def commands(call: ApiCall) -> CommandList:
    offered = [row for row in slash.ROWS.values() if slash.Surface.PAGE in row.on]
    return CommandList([CommandRow(row.name, row.form, row.help) for row in offered])


async def run_command(call: ApiCall) -> CommandDone:
    command = slash.parse(call.body.line)
    if isinstance(command, slash.Say):
        return CommandDone(say=command.text)
    row = _row(call.body.line)
    if ACTIONS[type(command)] is Action.RULE and call.caller.standing is not Standing.OWNER:
        raise NotPermitted(f"only the owner may use /{row.name if row is not None else 'this'}")
    if row is not None and row.asks_first and not call.body.confirmed:
        return CommandDone(asks=f"{row.form}: {row.help}?")
    result = await carry_out(command, At(call.hub, call.where))
    moved_to = None if result.moved is None else result.moved.id
    return CommandDone(lines=list(result.lines), moved=moved_to, left=result.left)


def _row(line: str) -> slash.Row | None:
    """The row of a line that was read as a command."""
    words = line.strip().removeprefix("/").lower().split()
    names = (" ".join(words[:2]), *words[:1])
    full_names = [slash.ALIASES.get(name, name) for name in names]
    return next((slash.ROWS[name] for name in full_names if name in slash.ROWS), None)
