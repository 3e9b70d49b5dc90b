"""An agent that says what it was told to say, line by line, and remembers what it heard: for tests of a team.

Above: tests of yours. Below: brains/code.py. Not here: a scripted model server (fake_llm/).
"""

from collections.abc import Sequence

from moot.brain import AgentTurn
from moot.brains.code import AgentSpec
from moot.rules.words.silence import PASS


class Script:
    """`Script("arya", "hello", PASS, "done")`: one line for each of its turns, then silence."""

    def __init__(self, name: str, *lines: str, role: str = "") -> None:
        self.heard: list[str] = []
        """What called it, turn by turn."""
        self._left = list(lines)
        self.agent = AgentSpec(name, self._think, role=role)
        """To be given to `Hub.open(agents=…)`."""

    @property
    def left(self) -> Sequence[str]:
        """Lines that it has not said yet."""
        return tuple(self._left)

    async def _think(self, turn: AgentTurn) -> str:
        self.heard.append(turn.text)
        return self._left.pop(0) if self._left else PASS
