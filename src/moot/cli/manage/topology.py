"""`moot topology`: all links at once, shown, written to a file, compared with one, and made to be as one says."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame.confirm import ask_first
from moot.cli.frame.hub_access import with_hub, with_links
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.cli.terminal.phrases import where_set
from moot.cli.terminal.screen import Screen, count_words, safe
from moot.errors import BadSettings, Conflict, MootError, NotFound

if TYPE_CHECKING:
    from moot.cli.terminal.org_chart import OrgChart
    from moot.settings import SettingsFile

FORMATS = ("tree", "table", "dot", "mermaid", "json")
STANDARD = "-"
DIFFERENT = 1
NO_LINKS = "no links: agents write to each other freely (hub.policy)"


@click.group(
    "topology",
    cls=Branch,
    examples=("moot topology show", "moot topology export team.toml"),
    short_help="Show, compare and apply all links at once.",
)
def topology() -> None:
    """Show, compare and apply all links at once."""


@topology.command("show", examples=("moot topology show", "moot topology show --format mermaid"))
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="tree", help="How to draw it (default tree)."
)
@click.pass_obj
def show(session: Session, form: str) -> None:
    """Everybody, and how they are linked."""
    from moot.cli.terminal import org_chart  # noqa: PLC0415  other verbs draw nothing

    graph = with_links(session, lambda hub: hub.topology())
    screen = session.screen
    if session.json or form == "json":
        screen.data(graph.to_dict())
        return
    chart = org_chart.OrgChart(graph)
    with screen.paged():
        match form:
            case "tree":
                org_chart.draw_tree(screen, chart)
            case "table":
                _table(screen, chart)
            case _:
                lines = org_chart.dot(chart) if form == "dot" else org_chart.mermaid(chart)
                screen.say("\n".join(lines))
    if not graph.links and form in ("tree", "table"):
        screen.note(NO_LINKS)


def _table(screen: Screen, chart: OrgChart) -> None:
    rows = [
        (
            chart.name(link.sender),
            chart.name(link.to),
            link.relationship,
            "both" if link.direction == "two_way" else chart.name(link.sender),
            "on" if link.enabled else "off",
            where_set(link),
            link.id,
        )
        for link in chart.topology.links
    ]
    if rows:
        screen.table(("from", "to", "from is", "may start", "is", "set", "id"), rows)


# --- files -----------------------------------------------------------------------------------------------


@topology.command("export", examples=("moot topology export team.toml", "moot topology export - | less"))
@click.argument("file")
@click.option("--force", is_flag=True, help="Overwrite a file that exists.")
@click.pass_obj
def export(session: Session, file: str, force: bool) -> None:
    """Write all links to a file that apply reads back; - is standard output."""
    from moot.model.records.link import Direction, Relationship  # noqa: PLC0415
    from moot.settings.toml.links import text_of_list  # noqa: PLC0415
    from moot.settings.values import LinkSettings  # noqa: PLC0415

    graph = with_links(session, lambda hub: hub.topology())
    names = {node.id: node.name for node in graph.agents}
    rows = [
        (
            LinkSettings(
                names[link.sender],
                names[link.to],
                Direction(link.direction),
                Relationship(link.relationship),
                link.enabled,
            ),
            f"set in {link.place}" if link.place else "",
        )
        for link in graph.links
    ]
    text = text_of_list(rows)
    target = Path(os.path.expanduser(file))
    if file != STANDARD:
        _write(target, text, force=force)
    if session.json:
        session.screen.data({"path": str(target), "links": len(rows), "toml": text})
    elif file == STANDARD:
        session.screen.raw(text)
    else:
        session.screen.say(f"✓ {safe(str(target))}   {count_words(len(rows), 'link')}")


def _write(target: Path, text: str, *, force: bool) -> None:
    try:
        with target.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise Conflict(f"{target} already exists", fix=("choose another name", "add --force")) from None
    except OSError as error:
        raise Conflict(
            f"{target} cannot be written: {error.strerror}", fix=("choose another file",)
        ) from None


@topology.command("diff", examples=("moot topology diff team.toml", "moot topology diff - < team.toml"))
@click.argument("file")
@click.pass_obj
def diff(session: Session, file: str) -> int:
    """What apply would change. Exit code 0: nothing, 1: something."""
    result = _preview_apply(session, _read(file))
    if session.json:
        session.screen.data(result.to_dict())
    else:
        _tell(session.screen, result)
    return DIFFERENT if _is_different(result) else 0


@topology.command(
    "apply", examples=("moot topology apply team.toml --dry-run", "moot topology apply team.toml --yes")
)
@click.argument("file")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--yes", is_flag=True, help="Delete links without asking.")
@click.pass_obj
def apply(session: Session, file: str, dry_run: bool, yes: bool) -> None:
    """Make the links exactly what a file says."""
    file_links = _read(file)
    if dry_run:
        result = _preview_apply(session, file_links)
    else:
        looked_at = _ask(session, file_links, yes=yes)
        result = _pointing_into(
            file_links,
            lambda: with_hub(session, lambda hub: hub.links.apply(_rows(file_links), expects=looked_at)),
        )
    if session.json:
        session.screen.data(result.to_dict())
    else:
        _tell(session.screen, result, would=dry_run)


def _ask(session: Session, file_links: SettingsFile, *, yes: bool) -> str | None:
    """Ask before links are deleted. Returns the version of the links that was shown, so that just that is applied."""
    look = None if yes else _preview_apply(session, file_links)
    if look is not None and look.removed and not look.in_the_way:  # which is refused in any case
        deleted = look.removed
        ask_first(yes=yes, what=f"deleting {count_words(len(deleted), 'link')}")
        for link in deleted:
            session.screen.note(f"- {safe(link.sentence)}")
        click.confirm(
            f"Delete {count_words(len(deleted), 'link')}? Their messages stay readable", abort=True, err=True
        )
    return look.version if look is not None else None


def _preview_apply(session: Session, file_links: SettingsFile) -> shapes.AppliedLinks:
    def look() -> shapes.AppliedLinks:
        return with_hub(session, lambda hub: hub.links.apply(_rows(file_links), dry_run=True))

    return _pointing_into(file_links, look)


def _read(file: str) -> SettingsFile:
    from moot.settings.load import MAX_FILE_BYTES  # noqa: PLC0415
    from moot.settings.toml.links import read_list  # noqa: PLC0415

    if file == STANDARD:
        return read_list(sys.stdin.buffer.read(MAX_FILE_BYTES + 1), "standard input")
    path = Path(os.path.expanduser(file))
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise NotFound(
            f"there is no file {path}", what="file", ref=str(path), fix=(f"moot topology export {path}",)
        ) from None
    except OSError as error:
        raise Conflict(f"{path} cannot be read: {error.strerror}", fix=("name another file",)) from None
    return read_list(data, str(path))


def _rows(file_links: SettingsFile) -> list[dict[str, object]]:
    from msgspec import to_builtins  # noqa: PLC0415

    return [to_builtins(row) for row in file_links.settings.links]


def _pointing_into(file_links: SettingsFile, work: Callable[[], shapes.AppliedLinks]) -> shapes.AppliedLinks:
    """Make a refusal about a row point to the row in the file."""
    try:
        return work()
    except MootError as refusal:
        from moot.hub.commands.link_sync import in_the_file  # noqa: PLC0415
        from moot.settings.toml.links import in_file  # noqa: PLC0415

        error = in_the_file(file_links, refusal)
        raise in_file(error, file_links.document.file) if isinstance(error, BadSettings) else error from None


# --- in words --------------------------------------------------------------------------------------------


def _is_different(result: shapes.AppliedLinks) -> bool:
    return bool(result.made or result.changed or result.removed or result.in_the_way)


def _tell(screen: Screen, result: shapes.AppliedLinks, *, would: bool = True) -> None:
    for line in _lines(result, would=would):
        screen.say(line)
    if not _is_different(result):
        screen.note("nothing to change: the links are as the file says")


def _lines(result: shapes.AppliedLinks, *, would: bool) -> Iterator[str]:
    yield from (f"+ {safe(link.sentence)}" for link in result.made)
    for one in result.changed:
        yield f"~ {safe(one.after.sentence)}"
        yield f"  was: {safe(one.before.sentence)}"
    yield from (f"- {safe(link.sentence)}" for link in result.removed)
    for link in result.in_the_way:
        yield f"! {safe(link.sentence)} Set {where_set(link)}: apply refuses until the file says the same"
    longer = "could no longer write" if would else "can no longer write"
    yield from (
        f"  {safe(agent)} {longer} to {safe(', '.join(names))}" for agent, names in result.cuts_off.items()
    )
