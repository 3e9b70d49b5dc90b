"""Who may write to whom, read off FLOOR parts 5 and 7 alone: a second opinion for the rule in rules/links.py.

Written without looking at it, on plain tuples: a link is (from, to, one_way, on, by_spawn).
"""

from typing import NamedTuple


class PlainLink(NamedTuple):
    source: str
    target: str
    one_way: bool
    on: bool
    by_spawn: bool


def allowed(links: list[PlainLink], policy: str, sender: str, receiver: str, *, answers: bool) -> bool:
    """`open`: everyone. `links`: only along links. `auto`: whoever has a link is bound by its links, both ways."""
    if policy == "open":
        return True
    for link in links:
        if {link.source, link.target} == {sender, receiver}:
            return link.on and (not link.one_way or link.source == sender or answers)
    if policy == "links":
        return False
    return not bound(links, sender) and not bound(links, receiver)


def bound(links: list[PlainLink], who: str) -> bool:
    """A link made by spawning binds the child alone."""
    for link in links:
        if link.by_spawn and who == link.source:
            continue
        if who in (link.source, link.target):
            return True
    return False
