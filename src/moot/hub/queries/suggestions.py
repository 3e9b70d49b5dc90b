"""What a refusal offers instead of a name that nobody has: names that come near, and who there is."""

from collections.abc import Iterable, Sequence

from moot.errors import NotFound
from moot.model.participant import Participant
from moot.rules.words.mentions import nearest

MAX_LISTED = 12
MAX_AVAILABLE = 50


def completed(refusal: NotFound, people: Iterable[Participant], conversations: Sequence[str]) -> NotFound:
    """The same refusal with suggestions. Removed participants are not suggested."""
    here = [participant for participant in people if not participant.removed]
    names = [*(participant.name for participant in here), *conversations]
    agents = sorted(participant.name for participant in here if participant.speaks_in_turns)
    known_agents = f"agents here: {', '.join(agents[:MAX_LISTED])}" if agents else "there are no agents yet"
    facts = {key: value for key, value in refusal.facts.items() if key != "available"}
    return NotFound(
        refusal.title,
        what=refusal.what,
        detail=refusal.detail or known_agents,
        fix=refusal.fix,
        suggestions=nearest(str(facts["ref"]), dict.fromkeys(names)),
        available=agents[:MAX_AVAILABLE],
        **facts,
    )
