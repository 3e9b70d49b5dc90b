"""Rings of waiting: a waits for b, b for c, c for a, and nobody ever goes on.

Above: flow/send.py refuses the question that would close one. Below: model/records/wait.py.
"""

from collections.abc import Iterable

from moot.model.ids import ParticipantId
from moot.model.records.wait import Wait


def ring_with(
    waits: Iterable[Wait], asker: ParticipantId, target: ParticipantId, now: float
) -> list[ParticipantId]:
    """The ring that one more wait would close, from the asker around to itself; empty where there is none."""
    waits_for: dict[ParticipantId, list[ParticipantId]] = {}
    for wait in waits:
        if wait.blocks(now):
            waits_for.setdefault(wait.asker, []).append(wait.target)
    came_from: dict[ParticipantId, ParticipantId] = {target: asker}
    ahead = [target]
    while ahead:
        here = ahead.pop()
        if here == asker:
            way = [asker]
            while (before := came_from[way[-1]]) != asker:
                way.append(before)
            return [asker, *reversed(way)]
        for further in waits_for.get(here, ()):
            if further not in came_from:
                came_from[further] = here
                ahead.append(further)
    return []
