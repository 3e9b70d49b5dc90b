"""Who may interrupt whom: people everybody, agents those whose `on_busy` lets them.

Above: flow/post.py for messages, flow/interrupt.py without one. Below: links.py says who stands above whom. Not here:
what becomes of a turn that is stopped.
"""

from moot.errors import NotPermitted
from moot.model.participant import HUMAN, Participant
from moot.model.turn import RUNNING, Turn
from moot.rules import links
from moot.rules.room import Room


def stoppable(room: Room, author: Participant) -> list[Turn]:
    """Running turns an author may interrupt, in the order they were asked."""
    if author.kind is not HUMAN:
        return let_themselves(room, author)
    return sorted(running_besides(room, author), key=lambda turn: turn.id)


def let_themselves(room: Room, author: Participant) -> list[Turn]:
    """Those whose agents want to be interrupted by whoever writes, or by this author. An agent may not stop a turn that
    began after an interruption."""
    found = [turn for turn in running_besides(room, author) if _lets(room, turn, author)]
    if author.kind is not HUMAN:
        found = [turn for turn in found if not turn.resumed]
    return sorted(found, key=lambda turn: turn.id)


def running_besides(room: Room, author: Participant) -> list[Turn]:
    """The turns that others have begun here."""
    return [turn for turn in room.turns.values() if turn.state is RUNNING and turn.agent != author.id]


def _lets(room: Room, turn: Turn, author: Participant) -> bool:
    agent = room.draft.participant(turn.agent)
    policy = agent.config.on_busy
    return policy == "interrupt" or (
        policy == "interrupt-by-superior" and links.is_above(room.draft.graph, author, agent)
    )


def refusal(room: Room, author: Participant) -> NotPermitted:
    names = ", ".join(room.draft.name(turn.agent) for turn in running_besides(room, author))
    return NotPermitted(
        f"{author.name} may not interrupt {names}",
        detail="people may, and agents those whose on_busy lets them. Nothing was stored",
        fix=("leave out interrupt: what was said is read next",),
    )
