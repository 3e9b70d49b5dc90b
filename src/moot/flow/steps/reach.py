"""How soon an outside agent can be reached, as its session is known.

An outside agent is somebody else's process. It has no host here whose lease would keep it present: while it waits for
messages it is live (wait.py), while its session gives signs of life it can be reached at its next turn or when it asks
(arrive.py, heartbeat.py), and without one its reach drops level by level (lower_reach.py). Every change of level is an
event.

Above: hub/external/sessions.py. Not here: agents that a host of ours runs (attach.py).
"""

from moot.model.event import EventType
from moot.model.participant import Participant, Reach
from moot.rules.draft import Draft


def keep_hooks(participant: Participant, reach: Reach, now: float) -> Reach:
    """Hooks that were heard of stay while the session does, whoever else speaks for it."""
    return (
        Reach.NEXT_TURN if participant.reach is Reach.NEXT_TURN and participant.reach_until > now else reach
    )


def emit_reach(draft: Draft, before: Participant, after: Participant) -> None:
    now = draft.at.now
    level = after.reachable(now)
    if before.reachable(now) is not level:
        draft.emit(EventType.AGENT_STATUS, by=after.id, body={"reachability": level.value})
