"""What a refusal offers instead of a name that nobody has: names that come near, and who there is."""

from collections.abc import Iterable, Sequence

from moot.errors import NotFound
from moot.model.participant import Participant
from moot.rules.words.mentions import nearest

MOST_TOLD = 12
MOST_AVAILABLE = 50


def completed(refusal: NotFound, people: Iterable[Participant], conversations: Sequence[str]) -> NotFound:
    """The same refusal, with what could have been meant. Whoever was removed is not offered."""
    here = [who for who in people if not who.removed]
    names = [*(who.name for who in here), *conversations]
    agents = sorted(who.name for who in here if who.speaks_in_turns)
    told = f"agents here: {', '.join(agents[:MOST_TOLD])}" if agents else "there are no agents yet"
    facts = {key: value for key, value in refusal.facts.items() if key != "available"}
    return NotFound(
        refusal.title,
        what=refusal.what,
        detail=refusal.detail or told,
        fix=refusal.fix,
        suggestions=nearest(str(facts["ref"]), dict.fromkeys(names)),
        available=agents[:MOST_AVAILABLE],
        **facts,
    )
