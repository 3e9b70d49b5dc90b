"""`moot notes`: what agents and people keep together, with its history, and which agents may read or write it."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.confirm import ask_first
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.params import AT_LEAST_0, AT_LEAST_1, Branch
from moot.cli.frame.session import Session
from moot.cli.manage.note_draft import draft_kept_on_conflict, edit_text
from moot.cli.terminal.screen import ago, safe
from moot.cli.terminal.standard_input import message_text

if TYPE_CHECKING:
    from moot.hub import Hub

EMPTY = "Notes are what agents remember together: moot notes new deploy-status"


@click.group(
    "notes",
    cls=Branch,
    examples=("moot notes new deploy-status", "moot notes share deploy-status arya --write"),
    short_help="Keep notes that agents and people share.",
    aliases={
        "add": "new",
        "create": "new",
        "delete": "rm",
        "remove": "rm",
        "log": "history",
        "write": "edit",
    },
)
def notes() -> None:
    """Keep notes that agents and people share."""


@notes.command("list", examples=("moot notes list", "moot notes list --json --fields name,version"))
@click.pass_obj
def list_(session: Session) -> None:
    """List all notes."""
    notes_listed = with_reading(session, lambda hub: hub.notes.list())
    if session.json:
        session.screen.data([note.to_dict() for note in notes_listed])
    elif not notes_listed:
        session.screen.note(EMPTY)
    else:
        rows = [
            (note.name, f"v{note.version}", note.updated_by, ago(note.updated_at)) for note in notes_listed
        ]
        session.screen.table(("note", "version", "by", "when"), rows)


@notes.command(
    "show", examples=("moot notes show deploy-status", "moot notes show deploy-status --version 3")
)
@click.argument("note")
@click.option("--version", type=AT_LEAST_1, help="An older version (default: the newest).")
@click.pass_obj
def show(session: Session, note: str, version: int | None) -> None:
    """Print a note."""
    note_found = with_reading(session, lambda hub: hub.notes.get(note, number=version))
    if session.json:
        session.screen.data(note_found.to_dict())
        return
    session.screen.note(
        f"{note_found.name}  v{note_found.version}, by {note_found.updated_by} {ago(note_found.updated_at)}"
    )
    whole = (
        note_found.text if note_found.text.endswith("\n") or not note_found.text else f"{note_found.text}\n"
    )
    if not sys.stdout.isatty():
        session.screen.raw(whole)  # a program gets it as it is
        return
    with session.screen.paged():
        session.screen.say(safe(whole), end="")


@notes.command("new", examples=("moot notes new deploy-status", 'moot notes new on-call "this week: gendry"'))
@click.argument("name")
@click.argument("text", nargs=-1)
@click.pass_obj
def new(session: Session, name: str, text: tuple[str, ...]) -> None:
    """Make a note, empty or with a text; what is piped in stands behind it."""
    words = message_text(session, text)
    _write_and_tell(session, lambda hub: hub.notes.create(name, words), "made")


@notes.command(
    "edit", examples=("moot notes edit deploy-status", "moot notes edit deploy-status < report.md")
)
@click.argument("note")
@click.argument("text", nargs=-1)
@click.option("--version", type=AT_LEAST_1, help="The version you read (default: the newest one now).")
@click.pass_obj
def edit(session: Session, note: str, text: tuple[str, ...], version: int | None) -> None:
    """Write a note in your editor; or give the whole text, or pipe it in.

    If somebody else writes meanwhile, nothing is overwritten: your text is kept in a file.
    """
    before = with_reading(session, lambda hub: hub.notes.get(note))
    words = edit_text(session, before, text)
    if words is None:
        session.screen.note(f"{before.name} is unchanged")
        return

    async def work(hub: Hub) -> shapes.Note:
        return await hub.notes.write(note, words, version=version or before.version)

    with draft_kept_on_conflict(session, before.name, words):
        _write_and_tell(session, work, "wrote")


@notes.command(
    "append",
    examples=('moot notes append deploy-status "canary: green"', "moot notes append deploy-status < log.txt"),
)
@click.argument("note")
@click.argument("text", nargs=-1)
@click.pass_obj
def append(session: Session, note: str, text: tuple[str, ...]) -> None:
    """Add lines at the end of a note; nobody else's are lost."""
    words = message_text(session, text)
    if not words:
        raise click.UsageError("nothing to append: add the text, or pipe it in")
    _write_and_tell(session, lambda hub: hub.notes.append(note, words), "wrote")


def _write_and_tell(session: Session, work: Callable[[Hub], Awaitable[shapes.Note]], did: str) -> None:
    note = with_hub(session, work)
    if session.json:
        session.screen.data(note.to_dict())
    else:
        session.screen.say(f"✓ {did} {note.name} v{note.version}")


@notes.command(
    "history", examples=("moot notes history deploy-status", "moot notes history on-call --limit 5")
)
@click.argument("note")
@click.option("--limit", type=AT_LEAST_1, default=20, help="Maximum number of versions (default 20).")
@click.pass_obj
def history(session: Session, note: str, limit: int) -> None:
    """List who wrote which version, newest first, with the lines added and removed."""
    versions = with_reading(session, lambda hub: hub.notes.history(note, limit=limit))
    if session.json:
        session.screen.data([version.to_dict() for version in versions])
        return
    session.screen.table(
        ("version", "by", "when", "lines"),
        [(f"v{v.version}", v.by, ago(v.at), f"+{v.added} -{v.removed}") for v in versions],
    )


@notes.command("diff", examples=("moot notes diff deploy-status", "moot notes diff deploy-status 3 7"))
@click.argument("note")
@click.argument("old", type=AT_LEAST_0, required=False)
@click.argument("new", type=AT_LEAST_1, required=False)
@click.pass_obj
def diff(session: Session, note: str, old: int | None, new: int | None) -> None:
    """Show what changed: in the last version, since OLD, or from OLD to NEW."""
    diff_text = with_reading(session, lambda hub: hub.notes.diff(note, old, new))
    if session.json:
        session.screen.data({"note": note, "diff": diff_text})
    elif not diff_text:
        session.screen.note("nothing changed")
    else:
        with session.screen.paged():
            session.screen.say(safe(diff_text), end="")


@notes.command("revert", examples=("moot notes revert deploy-status 3", "moot notes revert on-call 1 --json"))
@click.argument("note")
@click.argument("version", type=AT_LEAST_1)
@click.pass_obj
def revert(session: Session, note: str, version: int) -> None:
    """Write the text of an old version as the newest one; nothing is lost."""
    _write_and_tell(session, lambda hub: hub.notes.revert(note, version), "wrote")


@notes.command("rm", examples=("moot notes rm deploy-status", "moot notes rm deploy-status --yes"))
@click.argument("note")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def rm(session: Session, note: str, yes: bool) -> None:
    """Delete a note with all its versions."""
    ask_first(yes=yes, what="deleting a note")
    note_found = with_reading(session, lambda hub: hub.notes.get(note))
    if not yes:
        versions = f"its {note_found.version} versions" if note_found.version > 1 else "its only version"
        click.confirm(
            f"Delete {note_found.name} with {versions}? This cannot be undone", abort=True, err=True
        )
    _write_and_tell(session, lambda hub: hub.notes.delete(note_found.name), "deleted")


@notes.command(
    "share",
    examples=("moot notes share deploy-status arya --write", "moot notes share deploy-status arya --none"),
)
@click.argument("note")
@click.argument("agent", required=False)
@click.option("--read", "access", flag_value="read", help="Allow it to read the note.")
@click.option("--write", "access", flag_value="read_write", help="Allow it to read and write the note.")
@click.option("--none", "access", flag_value="none", help="Hide the note from it.")
@click.pass_obj
def share(session: Session, note: str, agent: str | None, access: str | None) -> None:
    """Say what an agent may do with a note, or list who may what. People may everything."""
    if (agent is None) is not (access is None):
        raise click.UsageError("say what the agent may do: add --read, --write or --none")

    async def change(hub: Hub) -> list[shapes.NoteShare]:
        return await hub.notes.share(note, await resolve.agent(hub, agent or ""), access or "")

    if agent is None:
        granted = with_reading(session, lambda hub: hub.notes.permissions(note))
    else:
        granted = with_hub(session, change)
    if session.json:
        session.screen.data([each.to_dict() for each in granted])
    elif not granted:
        session.screen.say(f"{note}: no agent may read it")
    else:
        words = {"read": "reads", "read_write": "reads and writes"}
        session.screen.table(("agent", "may", "by"), [(p.agent, words[p.access], p.by) for p in granted])
