"""Prefix stability: over 50 turns in a group of six, a prompt begins with at least 90 % of the last one (M-06)."""

import pytest

from bench.prefix import prompts_of, shares


@pytest.mark.req("M-06")
async def test_a_prompt_begins_with_the_last_one_over_fifty_turns() -> None:
    given = await prompts_of(20, 8_000)
    assert sum(len(prompts) for prompts in given.values()) >= 50
    reused, known, _ = shares(given)
    assert reused >= 0.9
    assert known >= 0.75
