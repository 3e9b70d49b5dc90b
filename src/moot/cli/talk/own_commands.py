"""Commands about the person's own terminal and files, which no hub carries out: /export, /keys, /theme.

Above: the plain chat and the full-screen one, which has keys and colours to change and shows those itself.
"""

from pathlib import Path
from typing import Final

from moot import shapes
from moot.cli.data.export import write_markdown
from moot.cli.frame.hub_access import home_of
from moot.cli.frame.session import Session
from moot.cli.run.welcome import tilde_path
from moot.errors import BadValue
from moot.rules.words import slash
from moot.rules.words.names import slug

OWN: Final = (slash.ExportCommand, slash.KeysCommand, slash.ThemeCommand)
KEYS: Final = (
    "Enter sends; a line that ends with a backslash goes on in the next",
    "Ctrl+C stops the waiting, a second time leaves; Ctrl+D, exit and quit leave",
)


async def run_own_command(
    session: Session, where: shapes.Conversation, command: slash.Command
) -> tuple[str, ...]:
    """Carry out an own command; returns the lines to print in a plain chat."""
    match command:
        case slash.ExportCommand():
            return (await export_to_file(session, where, command.file),)
        case slash.ThemeCommand():
            raise BadValue(
                "the plain chat has the colours of your terminal; /theme is for the full-screen one"
            )
        case _:
            return KEYS


def _target(where: shapes.Conversation, file: str) -> Path:
    return Path(file).expanduser() if file else Path(f"{slug(where.name)}.md")


async def export_to_file(session: Session, where: shapes.Conversation, file: str) -> str:
    target = _target(where, file)
    export = await write_markdown(home_of(session), where.id, target)
    return f"✓ {tilde_path(target)}   {export.messages} messages"
