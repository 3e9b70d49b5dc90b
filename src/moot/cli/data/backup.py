"""`moot backup`: copies of the database, made while everybody goes on talking."""

import sys
from datetime import UTC, datetime

import click

from moot import shapes
from moot.cli.frame.exit_codes import FAILED, OK
from moot.cli.frame.hub_access import home_of, set_up_logs
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.cli.run.welcome import shown
from moot.hub.archive import backups
from moot.wiring import storage

KIB = 1024


@click.group(
    "backup",
    cls=Branch,
    examples=("moot backup create", "moot backup restore"),
    short_help="Make, check and restore backups.",
)
def backup() -> None:
    """Make, check and restore backups."""


@backup.command("create", examples=("moot backup create", "moot backup create --json"))
@click.pass_obj
def create(session: Session) -> None:
    """Copy the database, whoever writes to it, and verify the copy.

    moot.toml and the agents' identity files are put beside it. Keys and tokens are never part of a backup.
    """
    set_up_logs(session)
    made = backups.create(home_of(session))
    if session.json:
        session.screen.data({"path": str(made.path), "bytes": made.bytes, "messages": made.messages})
        return
    session.screen.say(f"✓ {shown(made.path)}   {made.messages} messages, {size(made.bytes)}, verified")
    session.screen.note("keys are not in it; to bring it back: moot backup restore")


@backup.command("list", examples=("moot backup list", "moot backup list --json"))
@click.pass_obj
def list_(session: Session) -> None:
    """All backups of this home, newest first."""
    home = home_of(session)
    found = backups.listed(home)
    if session.json:
        session.screen.data([
            {"path": str(b.path), "bytes": b.bytes, "at": shapes.when(b.at), "kind": b.kind} for b in found
        ])  # fmt: skip
    elif not found:
        session.screen.note(f"none in {shown(home.backups)}. Make one: moot backup create")
    else:
        rows = [(b.path.name, local(b.at), size(b.bytes), b.kind) for b in found]
        session.screen.table(("backup", "made", "size", "kind"), rows)


@backup.command(
    "verify", examples=("moot backup verify", "moot backup verify moot-20270115T080000000000Z.db --json")
)
@click.argument("path", required=False)
@click.pass_obj
def verify(session: Session, path: str | None) -> int:
    """Read a backup whole: its pages, and the chain of every conversation. Without PATH, every one."""
    set_up_logs(session)
    home = home_of(session)
    paths = [backups.find(home, path)] if path else [b.path for b in backups.listed(home)]
    found = [backups.verify(each) for each in paths]
    if session.json:
        session.screen.data([
            {
                "path": str(f.path), "sound": f.sound, "schema": f.schema, "messages": f.messages,
                "problems": list(f.problems),
            }
            for f in found
        ])  # fmt: skip
    for each in () if session.json else found:
        told = f"{each.messages} messages, all chains verified" if each.sound else each.problems[0]
        session.screen.say(f"{'✓' if each.sound else '✗'} {shown(each.path)}   {told}")
    if not found:
        session.screen.note(f"none in {shown(home.backups)}. Make one: moot backup create")
    return OK if all(each.sound for each in found) else FAILED


@backup.command(
    "restore",
    examples=("moot backup restore", "moot backup restore moot-20270115T080000000000Z.db --yes"),
)
@click.argument("path", required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def restore(session: Session, path: str | None, yes: bool) -> None:
    """Put a backup in the place of the database; without PATH, the newest that is sound.

    Nobody may be using the home. What is there now is kept as a backup of its own. Of moot.toml and the identity
    files, those come back that are missing; the moot.toml of a backup that is not in this home's own folder as
    moot.toml.restored, for you to read and rename.
    """
    set_up_logs(session)
    if not yes and (session.json or not sys.stdin.isatty()):
        raise click.UsageError("restoring asks first, and nobody is there to answer: add --yes")
    home = home_of(session)
    chosen = backups.choose(home, path)
    for each in () if session.json else chosen.passed_over:
        session.screen.say(f"✗ {shown(each.path)} is damaged and passed over: {each.problems[0]}")
    if not yes:
        question = f"Put {shown(chosen.path)} in the place of {shown(storage(home).place)}? What is there now is kept."
        click.confirm(question, abort=True, err=True)
    done = backups.restore(home, chosen.path)
    safety = str(done.safety) if done.safety else None
    if session.json:
        told = {
            "path": str(done.path),
            "messages": done.messages,
            "safety": safety,
            "files": list(done.files),
        }
        skipped = [{"path": str(each.path), "problems": list(each.problems)} for each in chosen.passed_over]
        session.screen.data({**told, "revoked_tokens": done.revoked, "passed_over": skipped})
        return
    session.screen.say(f"✓ restored {shown(done.path)}   {done.messages} messages, verified")
    if done.revoked:
        session.screen.say(f"  tokens in it that are not good here, and now open nothing: {done.revoked}")
    if done.safety:
        session.screen.say(f"  what was there before: {shown(done.safety)}")
    if done.files:
        session.screen.say(f"  came back too: {', '.join(done.files)}")
    if backups.FROM_ELSEWHERE in done.files:
        session.screen.say("  settings say what agents run, and these are from elsewhere: read them, then")
        session.screen.say(f"  mv {shown(home.path / backups.FROM_ELSEWHERE)} {shown(home.toml)}")


def size(count: int) -> str:
    """As people read it."""
    if count < KIB * KIB:
        return f"{count / KIB:.0f} KiB"
    return f"{count / KIB / KIB:.1f} MiB"


def local(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
