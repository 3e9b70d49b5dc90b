"""Agents that were started from templates, as text: each below the one that started it."""

from collections.abc import Iterator, Mapping, Sequence

from moot.cli.terminal.screen import ago, safe
from moot.model.json import JsonObject

INDENT = "  "


def tree_lines(started: Sequence[JsonObject]) -> Iterator[str]:
    children: dict[str, list[JsonObject]] = {}
    for one in started:
        children.setdefault(one["by"], []).append(one)
    names = {one["agent"] for one in started}
    for top in [by for by in children if by not in names]:
        yield safe(top)
        yield from _below(top, children, 1)


def _below(above: str, children: Mapping[str, Sequence[JsonObject]], depth: int) -> Iterator[str]:
    for one in children.get(above, ()):
        retired = f"retired {ago(one['ended_at'])}: {one['ending']}" if one["ended_at"] else ""
        state = retired or f"since {ago(one['created_at'])}"
        yield f"{INDENT * depth}{safe(one['agent'])}  ({one['template']}, {state})"
        yield from _below(one["agent"], children, depth + 1)
