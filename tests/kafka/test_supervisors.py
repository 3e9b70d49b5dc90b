"""A supervisor in a process of its own, over a real broker: woken by the topics of those it watches."""

from pathlib import Path

import pytest

from moot import supervisor
from moot.brain import WatchedMessage
from tests.kafka.conftest import homes_on_one_store
from tests.kafka.test_records import answered, echo
from tests.support.topics import SLOW, all_published, log_of
from tests.support.waiting import until


@pytest.mark.req("K-14", "K-08")
async def test_a_supervisor_reads_the_topics_of_those_it_watches_and_has_offsets_of_its_own(
    tmp_path: Path,
) -> None:
    talking, watching = await homes_on_one_store(tmp_path, "talking", "watching")
    shown: list[tuple[str, str]] = []

    @supervisor("warden", watches=["arya", "bob"])
    async def warden(seen: WatchedMessage) -> None:
        shown.append((seen.message.sender, seen.message.text))

    async with talking.hub(echo("arya"), echo("bob"), echo("cersei")) as hub, watching.hub(warden) as other:
        wakes = log_of(other).wakes
        assert wakes is not None

        async def topics() -> set[str]:
            return {topic.removeprefix(talking.prefix) for topic, _ in wakes.reached}

        await until(topics, lambda found: found == {"agent-arya", "agent-bob", "agent-warden"}, SLOW)
        for name in ("arya", "bob", "cersei"):
            receipt = await hub.send(name, f"hello {name}")
            await answered(hub, receipt.conversation, 2)

        async def seen() -> list[tuple[str, str]]:
            return sorted(shown)

        said = [(name, f"{name} has heard") for name in ("arya", "bob")]
        await until(
            seen, lambda found: found == sorted([*said, ("user", "hello arya"), ("user", "hello bob")]), SLOW
        )
        await all_published(hub)
        for name in ("arya", "bob"):
            place = (f"{talking.prefix}agent-{name}", 0)
            end = await talking.topics.end(place)
            await until(
                lambda place=place: talking.topics.noted("warden", place),  # type: ignore[misc]
                lambda found, end=end: found == end,  # type: ignore[misc]
                SLOW,
            )
        assert await other.turns(agent="warden") == []
