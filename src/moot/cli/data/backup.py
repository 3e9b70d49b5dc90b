"""`moot backup`: copies of the database, made while everybody goes on talking."""

import sys
from datetime import UTC, datetime

import click

from moot import shapes
from moot.cli.frame.exit_codes import FAILED, OK
from moot.cli.frame.hub_access import home_of, set_up_logs
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.cli.run.welcome import tilde_path
from moot.hub.archive import backups
from moot.wiring import storage

KIB = 1024


@click.group(
    "backup",
    cls=Branch,
    examples=("moot backup create", "moot backup restore"),
    short_help="Create, verify and restore backups.",
)
def backup() -> None:
    """Create, verify and restore backups."""


@backup.command("create", examples=("moot backup create", "moot backup create --json"))
@click.pass_obj
def create(session: Session) -> None:
    """Back up the database, even while it is in use, and verify the copy.

    moot.toml and the agents' identity files are included. Keys and tokens never are.
    """
    set_up_logs(session)
    copy = backups.create(home_of(session))
    if session.json:
        session.screen.data({"path": str(copy.path), "bytes": copy.bytes, "messages": copy.messages})
        return
    session.screen.say(f"✓ {tilde_path(copy.path)}   {copy.messages} messages, {size(copy.bytes)}, verified")
    session.screen.note("keys are not included; to restore it: moot backup restore")


@backup.command("list", examples=("moot backup list", "moot backup list --json"))
@click.pass_obj
def list_(session: Session) -> None:
    """List the backups of this home, newest first."""
    home = home_of(session)
    copies = backups.list_backups(home)
    if session.json:
        session.screen.data([
            {"path": str(b.path), "bytes": b.bytes, "at": shapes.when(b.at), "kind": b.kind} for b in copies
        ])  # fmt: skip
    elif not copies:
        session.screen.note(f"no backups in {tilde_path(home.backups)}. Create one: moot backup create")
    else:
        rows = [(b.path.name, local(b.at), size(b.bytes), b.kind) for b in copies]
        session.screen.table(("backup", "made", "size", "kind"), rows)


@backup.command(
    "verify", examples=("moot backup verify", "moot backup verify moot-20270115T080000000000Z.db --json")
)
@click.argument("path", required=False)
@click.pass_obj
def verify(session: Session, path: str | None) -> int:
    """Verify a backup: its pages, and the hash chain of every conversation. Without PATH, verify all of them."""
    set_up_logs(session)
    home = home_of(session)
    paths = [backups.find(home, path)] if path else [b.path for b in backups.list_backups(home)]
    reports = [backups.verify(home, each) for each in paths]
    if session.json:
        session.screen.data([
            {
                "path": str(f.path), "sound": f.sound, "schema": f.schema, "messages": f.messages,
                "problems": list(f.problems),
            }
            for f in reports
        ])  # fmt: skip
    for each in () if session.json else reports:
        verdict = f"{each.messages} messages, all chains verified" if each.sound else each.problems[0]
        session.screen.say(f"{'✓' if each.sound else '✗'} {tilde_path(each.path)}   {verdict}")
    if not reports:
        session.screen.note(f"no backups in {tilde_path(home.backups)}. Create one: moot backup create")
    return OK if all(each.sound for each in reports) else FAILED


@backup.command(
    "restore",
    examples=("moot backup restore", "moot backup restore moot-20270115T080000000000Z.db --yes"),
)
@click.argument("path", required=False)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def restore(session: Session, path: str | None, yes: bool) -> None:
    """Replace the database with a backup; without PATH, with the newest intact one.

    The home must not be in use. The current database is saved as another backup first. moot.toml and identity files
    are restored only where they are missing. If the backup lies outside this home's backup folder, its moot.toml is
    written as moot.toml.restored, for you to read and rename.
    """
    set_up_logs(session)
    if not yes and (session.json or not sys.stdin.isatty()):
        raise click.UsageError("restoring needs confirmation, and there is no terminal to ask on: add --yes")
    home = home_of(session)
    choice = backups.choose(home, path)
    for each in () if session.json else choice.passed_over:
        session.screen.say(f"✗ skipped {tilde_path(each.path)}, which is damaged: {each.problems[0]}")
    if not yes:
        question = (
            f"Replace {tilde_path(storage(home).place)} with {tilde_path(choice.path)}? The current database is "
            "kept as a backup."
        )
        click.confirm(question, abort=True, err=True)
    restored = backups.restore(home, choice.path)
    safety = str(restored.safety) if restored.safety else None
    if session.json:
        result = {
            "path": str(restored.path),
            "messages": restored.messages,
            "safety": safety,
            "files": list(restored.files),
        }
        skipped = [{"path": str(each.path), "problems": list(each.problems)} for each in choice.passed_over]
        session.screen.data({**result, "revoked_tokens": restored.revoked, "passed_over": skipped})
        return
    session.screen.say(f"✓ restored {tilde_path(restored.path)}   {restored.messages} messages, verified")
    if restored.revoked:
        session.screen.say(f"  revoked {restored.revoked} tokens in it that are not valid in this home")
    if restored.safety:
        session.screen.say(f"  the previous database is kept as {tilde_path(restored.safety)}")
    if restored.files:
        session.screen.say(f"  also restored: {', '.join(restored.files)}")
    if backups.FROM_ELSEWHERE in restored.files:
        session.screen.say(
            "  this backup is from elsewhere, and its settings decide what agents run: read them, then"
        )
        session.screen.say(f"  mv {tilde_path(home.path / backups.FROM_ELSEWHERE)} {tilde_path(home.toml)}")


def size(count: int) -> str:
    """As people read it."""
    if count < KIB * KIB:
        return f"{count / KIB:.0f} KiB"
    return f"{count / KIB / KIB:.1f} MiB"


def local(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
