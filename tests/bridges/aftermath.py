"""What is there after a hub was killed at its bridge, and which promises that breaks."""

from typing import NamedTuple

from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS


class Aftermath(NamedTuple):
    said: list[tuple[str, str]]
    """In the conversation: who, what."""
    shown: list[str]
    """In the chat, since before the kill."""
    unsure: list[str]
    """Posts that are shown as unconfirmed."""
    laid_aside: list[str]
    """Commands of which nobody knows how far they got."""
    seconds: float
    """Until somebody ran the bridge again."""

    def broken_promises(self, wrote: list[str], answers: list[str]) -> list[str]:
        """Of what a bridge promises, for these messages of the owner and these answers of agents."""
        mine = [text for sender, text in self.said if sender == "user"]
        theirs = sorted(text for sender, text in self.said if sender in AGENTS)
        lost = [text for text in answers if text not in self.shown and text not in self.unsure]
        promises = {
            f"in once, in order: {mine}": mine == wrote,
            f"answered once: {theirs}": theirs == sorted(answers),
            f"out once: {self.shown}": len(self.shown) == len(set(self.shown)),
            f"nothing lost unseen: {lost}": not lost,
        }
        return [promise for promise, is_kept in promises.items() if not is_kept]


async def aftermath(stage: Stage, chat: str, before: int, where: str, *, seconds: float) -> Aftermath:
    await stage.quiet()
    return Aftermath(
        said=await stage.said(where),
        shown=[post.text for post in await stage.shown(chat, before)],
        unsure=[post.text for post in await stage.hub.bridges.posts("unconfirmed")],
        laid_aside=[letter.text for letter in await stage.hub.bridges.dead_letters()],
        seconds=seconds,
    )
