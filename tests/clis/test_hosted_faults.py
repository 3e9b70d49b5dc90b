"""The real claude and the real codex while their provider fails, over real sockets: nobody waits for ever, everybody is
told once, and nothing of it is taken for an answer."""

import json

import pytest

from moot.errors import TurnFailed
from moot.testing.fake_llm import Answer, Fault, Request
from tests.clis import test_hosted_clis as clis
from tests.clis.conftest import hub_of

hosted = clis.hosted  # the fixture

KEY = "of-a-person-0123456789"
FAULTS = (Fault.BAD_KEY, Fault.STORM, Fault.STREAM_ERROR, Fault.RESET, Fault.TRUNCATED, Fault.STALL)
MAX_REQUESTS = 6
"""Of one turn: the first, and what a CLI tries again by itself."""
TURN_SECONDS = 25


@pytest.mark.timeout(240)
@clis.BOTH
async def test_10_a_provider_that_fails_is_told_once_and_the_next_turn_is_a_new_try(
    hosted: clis.Hosted, cli: str
) -> None:
    hosted.set_up(cli)
    toml, config = hosted.home / ".moot" / "moot.toml", hosted.home / ".codex" / "config.toml"
    toml.write_text(f"[groups]\nturn_limit_seconds = {TURN_SECONDS}\n\n{toml.read_text()}")
    if cli == "codex":
        config.write_text(f"{config.read_text()}stream_max_retries = 1\n")
    faults: list[Fault] = []
    requests: list[Fault] = []

    async def play(request: Request) -> Answer:
        if not faults:
            return Answer("all is well")
        requests.append(faults[0])
        return Answer("half of this is said, and then no more comes of it", fault=faults[0], status=529)

    clis.played(hosted, play)
    async with hub_of(hosted, FAKE_KEY=KEY, ANTHROPIC_API_KEY=KEY):
        for fault in FAULTS:
            faults[:] = [fault]
            with pytest.raises(TurnFailed) as error:
                await hosted.ask(f"begin with {fault.value}", seconds=150)
            assert KEY not in str(error.value)
            assert requests.count(fault) in range(1, MAX_REQUESTS + 1), fault
        faults.clear()
        assert await hosted.ask("and now?") == "all is well"
        hub = await hosted.connected()
        turns = list(await hub.turns(agent="arya"))
        said = [
            one
            for each in {turn.conversation for turn in turns}
            for one in await hub.messages(each, limit=200)
        ]
        await hub.close()
    assert [turn.state for turn in turns] == [*["failed"] * (len(FAULTS) - 1), "expired", "said"]
    assert [one.text for one in said if one.sender == "arya" and not one.metadata.get("partial")] == [
        "all is well"
    ]
    notices = [one.metadata["turn"] for one in said if one.metadata.get("notice") == "failed"]
    assert sorted(notices) == sorted({*notices}), "each is told once"
    assert KEY not in json.dumps([one.text for one in said])
    assert hosted.model.disconnects, "what had stalled was cut off"
    charged = [(turn.usage or {}).get("cost_usd") or 0.0 for turn in turns]
    tokens = [(turn.usage or {}).get("input_tokens", 0) for turn in turns]
    assert tokens[:2] == [0, 0], "nothing was read, nothing is charged"
    assert tokens[-1] > 0
    assert all(cost >= 0.0 for cost in charged)
