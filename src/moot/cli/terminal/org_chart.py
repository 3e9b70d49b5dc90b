"""The link graph as text: a tree by superiors for a terminal, Graphviz and Mermaid for what draws pictures.

Every link is drawn once: below the superior where there is one, else where one of its ends is first met.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from moot import shapes
from moot.cli.terminal.screen import Screen, hollow, safe
from moot.rules.palette import AWAY, MARKS

DOWN, UP, PEER, OFF = "▼", "▲", "═", "┄"
ASCII = {DOWN: "v", UP: "^", PEER: "=", OFF: ":"}
LEGEND = f"{DOWN} reports to the one above   {UP} is the superior of the one above   {PEER} peer   {OFF} off"
GAP = 4


class OrgChart:
    """The places in the organisation, computed once for every way of drawing it."""

    def __init__(self, topology: shapes.Topology) -> None:
        self.topology = topology
        self.nodes = {node.id: node for node in topology.agents}
        self._of: dict[str, list[shapes.Link]] = {id: [] for id in self.nodes}
        for link in topology.links:
            for end in (link.sender, link.to):
                self._of[end].append(link)

    def name(self, id: str) -> str:
        return safe(self.nodes[id].name)

    def superior(self, link: shapes.Link) -> str | None:
        if link.relationship == "peer":
            return None
        return link.sender if link.relationship == "superior" else link.to

    def below(self, link: shapes.Link) -> str:
        """The end that is not the superior; of peers, the one that was named second."""
        return link.sender if self.superior(link) == link.to else link.to

    def tops(self) -> list[str]:
        """The roots: those without a superior first, with reports before without; then everybody else."""

        def rank(id: str) -> int:
            above = any(self.superior(link) not in (None, id) for link in self._of[id])
            leads = any(self.superior(link) == id for link in self._of[id])
            return 2 if above else 0 if leads else 1

        return sorted(self.nodes, key=rank)

    def links_of(self, id: str) -> list[shapes.Link]:
        """Reports first, then superiors, then peers; what is off last."""

        def rank(link: shapes.Link) -> tuple[bool, int]:
            superior = self.superior(link)
            return not link.enabled, 2 if superior is None else 0 if superior == id else 1

        return sorted(self._of[id], key=rank)

    def without_links(self) -> list[str]:
        return [id for id, links in self._of.items() if not links]


class TreeLine:
    """One line of the tree: branches, whom it shows, and what the link says."""

    def __init__(self, branches: str, sign: str, id: str, sentence: str = "") -> None:
        self.branches, self.sign, self.id, self.sentence = branches, sign, id, sentence


def tree(chart: OrgChart) -> Iterator[TreeLine]:
    drawn_links: set[str] = set()
    """Links."""
    for top in chart.tops():
        if any(link.id not in drawn_links for link in chart.links_of(top)):
            yield TreeLine("", "", top)
            yield from _branches(chart, top, drawn_links)


def _branches(chart: OrgChart, top: str, drawn_links: set[str]) -> Iterator[TreeLine]:
    """The lines below a node, deepest first. With a stack: an organisation may be deeper than Python can nest."""
    ahead = _entries(chart, top, "", drawn_links)[::-1]
    while ahead:
        line, indent, expands = ahead.pop()
        yield line
        if expands:
            ahead += _entries(chart, line.id, indent, drawn_links)[::-1]


def _entries(
    chart: OrgChart, id: str, indent: str, drawn_links: set[str]
) -> list[tuple[TreeLine, str, bool]]:
    links = [link for link in chart.links_of(id) if link.id not in drawn_links]
    drawn_links |= {link.id for link in links}
    entries = []
    for number, link in enumerate(links):
        last = number == len(links) - 1
        other = link.to if link.sender == id else link.sender
        superior = chart.superior(link)
        sign = OFF if not link.enabled else PEER if superior is None else DOWN if superior == id else UP
        line = TreeLine(f"{indent}{'└─' if last else '├─'}", sign, other, link.sentence)
        entries.append((line, f"{indent}{'   ' if last else '│  '}", superior == id))
    return entries


def draw_tree(screen: Screen, chart: OrgChart) -> None:
    lines = list(tree(chart))
    widths = [len(_plain(chart, line)) for line in lines]
    widest = max(widths, default=0) + GAP
    for line, width in zip(lines, widths, strict=True):
        gap = " " * (widest - width)
        text = f"{_left(screen, chart, line)}{gap}{screen.dim(safe(line.sentence))}".rstrip()
        screen.say(_in_ascii(text) if screen.ascii else text)
    alone = [chart.name(id) for id in chart.without_links()]
    if lines:
        screen.note(_in_ascii(LEGEND) if screen.ascii else LEGEND)
    if alone:
        screen.say(f"{'' if not lines else 'without links: '}{', '.join(alone)}")


def _plain(chart: OrgChart, line: TreeLine) -> str:
    return _start(line) + _node_text(chart.nodes[line.id])


def _left(screen: Screen, chart: OrgChart, line: TreeLine) -> str:
    node = chart.nodes[line.id]
    return _start(line) + screen.in_colour_of(node.name, _node_text(node))


def _start(line: TreeLine) -> str:
    return f"{line.branches}{line.sign} " if line.sign else ""


def _node_text(node: shapes.TopologyNode) -> str:
    return f"{safe(node.name)} {mark(node)} {state(node)}"


def _in_ascii(text: str) -> str:
    for sign, plain in {**ASCII, "├": "|", "└": "`"}.items():
        text = text.replace(sign, plain)
    return text


def mark(node: shapes.TopologyNode) -> str:
    if node.kind == "human":
        return "◇"
    if node.status == "offline":
        return AWAY
    return MARKS[0] if node.status == "streaming" else hollow(MARKS[0])


def state(node: shapes.TopologyNode) -> str:
    if node.kind == "human":
        return "person"
    label = str(node.activity["label"])
    return "away" if label == "offline" else safe(label)


# --- for what draws pictures -------------------------------------------------------------------------------


def dot(chart: OrgChart) -> Iterator[str]:
    """For Graphviz: superiors above, an arrow to whoever may be written to first."""
    yield "digraph moot {"
    yield '  rankdir=TB; node [shape=box, style=rounded, fontname="sans-serif"];'
    for id, node in chart.nodes.items():
        shape = ", shape=diamond" if node.kind == "human" else ""
        yield f"  {_quote(id)} [label={_quote(node.name)}{shape}];"
    for link in chart.topology.links:
        yield f"  {_dot_edge(chart, link)}"
    yield "}"


def _dot_edge(chart: OrgChart, link: shapes.Link) -> str:
    low = chart.below(link)
    high = link.to if low == link.sender else link.sender
    both = link.direction == "two_way"
    looks = {
        "dir": "both" if both else "forward" if link.sender == high else "back",
        "constraint": "true" if chart.superior(link) else "false",
        "label": '"superior"' if chart.superior(link) else '"peer"',
        **({} if link.enabled else {"style": "dashed"}),
    }
    words = ", ".join(f"{key}={value}" for key, value in looks.items())
    return f"{_quote(high)} -> {_quote(low)} [{words}];"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def mermaid(chart: OrgChart) -> Iterator[str]:
    """For Markdown pages: superiors above."""
    number = {id: f"n{place}" for place, id in enumerate(chart.nodes)}
    yield "graph TD"
    for id, node in chart.nodes.items():
        left, right = ("{{", "}}") if node.kind == "human" else ("[", "]")
        yield f"  {number[id]}{left}{_mermaid_text(node.name)}{right}"
    for link in chart.topology.links:
        low = chart.below(link)
        high = link.to if low == link.sender else link.sender
        yield f"  {number[high]} {_mermaid_arrow(chart, link, high)} {number[low]}"


def _mermaid_arrow(chart: OrgChart, link: shapes.Link, high: str) -> str:
    kind = "superior" if chart.superior(link) else "peer"
    line = "--" if link.enabled else "-.-"
    if link.direction == "two_way":
        arrow = f"<{line}>"
    elif link.sender == high:
        arrow = f"{line}>"
    else:
        kind, arrow = f"{kind}, started from below", f"{line}>"
    return f'{arrow}|"{kind}{"" if link.enabled else ", off"}"|'


def _mermaid_text(name: str) -> str:
    return '"' + name.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;") + '"'
