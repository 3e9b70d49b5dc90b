"""What an agent that is a coding CLI does in a turn, by every protocol."""

import pytest

from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE

EVERY = pytest.mark.parametrize("kind", ["claude", "codex", "acp"])


@EVERY
async def test_it_answers_and_its_last_words_are_the_answer(workshop: Workshop, kind: str) -> None:
    workshop.agent("arya", kind)
    async with workshop.hub() as hub:
        answer = await hub.ask("arya", "! say first I look\n! run pwd\n! say is where I am", timeout=PATIENCE)
    assert answer.text == f"{workshop.project('arya')}\nis where I am"


@EVERY
async def test_its_tools_of_moot_act_in_its_own_name(workshop: Workshop, kind: str) -> None:
    workshop.agent("arya", kind)
    async with workshop.hub() as hub:
        answer = await hub.ask("arya", "! moot list_agents {}", timeout=PATIENCE)
    assert '"self":"arya"' in answer.text
