"""How silence is said: a reply that is `[PASS]`, or blank, posts nothing (SPEC G-03, FLOOR part 7).

Above: flow/finish asks whether a reply is silence; the host streams through a HoldBack. Below: nothing.
Not here: what a pass does to the turn. This is the only place that looks for `[PASS]` in a text.
"""

from typing import Final

PASS: Final = "[PASS]"

_FOLDED: Final = PASS.lower()


def is_pass(reply: str) -> bool:
    """Whether the whole reply, trimmed, is `[PASS]` in any case. In code or a sentence it is text."""
    trimmed = reply.strip()
    return len(trimmed) == len(PASS) and trimmed.lower() == _FOLDED


def is_silence(reply: str | None) -> bool:
    """Whether nothing is to be posted: no reply, a blank one, or a pass."""
    return reply is None or not reply or reply.isspace() or is_pass(reply)


def _matched(chunk: str, matched: int) -> int:
    """How much of `[PASS]` has been read after this chunk; -1 when it cannot become one any more."""
    for letter in chunk:
        if letter.isspace():
            if 0 < matched < len(_FOLDED):
                return -1
        elif matched < len(_FOLDED) and letter.lower() == _FOLDED[matched]:
            matched += 1
        else:
            return -1
    return matched


class HoldBack:
    """Keeps a streamed reply back until it can no longer be silence; from then on lets everything through.

    What comes out of all feeds and the flush is the reply, or nothing if the reply was silence.
    """

    def __init__(self) -> None:
        self._held: list[str] = []
        self._matched = 0  # letters of [PASS] seen so far; -1 once the reply is known to be words

    def feed(self, chunk: str) -> str:
        """What may be shown now."""
        if self._matched < 0:
            return chunk
        self._held.append(chunk)
        self._matched = _matched(chunk, self._matched)
        return self._release() if self._matched < 0 else ""

    def flush(self) -> str:
        """What is left to show at the end of the reply: the beginning of `[PASS]` that was never finished."""
        if self._matched in (0, len(_FOLDED)):
            self._held.clear()
        self._matched = -1
        return self._release()

    def _release(self) -> str:
        held = "".join(self._held)
        self._held.clear()
        return held
