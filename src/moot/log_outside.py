"""The log outside a home: how it stands, and beginning anew there. Beside wiring.py, which is about running on one.

Above: `moot kafka` and `moot doctor`. Below: logs/kafka/report.py.
"""

import time
from collections.abc import AsyncIterator
from typing import Any, Final

from moot.errors import BadValue, NotFound
from moot.logs.kafka.address import brokers_of, is_kafka
from moot.model.event import Event, EventType
from moot.model.ids import ParticipantId
from moot.ports import Reads
from moot.settings import Home, Settings, load
from moot.wiring import from_kafka, reading, store_alone

PAGE = 500
SAID: Final = (EventType.MESSAGE_POSTED, EventType.MESSAGE_EDITED, EventType.MESSAGE_DELETED)


def has_kafka(settings: Settings) -> bool:
    """Whether the log of a home is Kafka."""
    return is_kafka(settings.log.url)


async def from_the_first_record(
    reads: Reads, settings: Settings, agent: ParticipantId
) -> AsyncIterator[Event]:
    """What was said and changed where this agent reads, as its log tells it: from the first kept record of its
    topics, or of the store where there are none."""
    if not has_kafka(settings):
        after = 0
        while events := await reads.events(after=after, types=SAID, limit=PAGE):
            for event in events:
                yield event
            after = events[-1].id
        return
    homes = {agent, *[home for _, home in await reads.homes_of([agent])]}
    history = from_kafka("history")
    try:
        async for event in history.recorded_events(brokers_of(settings.log.url), reads, reads, homes):
            yield event
    except history.KafkaOutOfReach as trouble:
        raise _away(trouble, "their records cannot be read") from trouble


async def kafka_report(home: Home) -> Any:
    """How it stands with the brokers, the outbox and the topics; nothing is changed."""
    settings = _settings(home)
    reads = reading(home)
    try:
        module = from_kafka("report")
        return await module.report(
            reads, brokers_of(settings.log.url), settings.log.topic_prefix, time.time()
        )
    finally:
        await reads.close()


async def kafka_rebuild(home: Home, agent: str | None) -> Any:
    """New topics for an agent, or for all; which, how many records are to be told again, and who got none."""
    settings = _settings(home)
    store = await store_alone(home)
    try:
        agents = []
        if agent is not None:
            participant = await store.participant(agent)
            if participant is None:
                raise NotFound(f"no agent is called {agent}", what="agent")
            agents = [participant.id]
        report = from_kafka("report")
        try:
            return await report.rebuild(
                store, brokers_of(settings.log.url), settings.log.topic_prefix, agents
            )
        except report.KafkaOutOfReach as trouble:
            raise _away(trouble, "no topics can be made") from trouble
    finally:
        await store.close()


def _away(trouble: Exception, so: str) -> BadValue:
    return BadValue(
        f"the brokers of log.url do not answer, so {so}",
        detail=str(trouble),
        fix=("start the brokers of log.url and try again",),
    )


def _settings(home: Home) -> Settings:
    settings = load(home)
    if not has_kafka(settings):
        raise BadValue(
            "this home does not use Kafka",
            detail=f"log.url in {home.toml} names no brokers",
            fix=('set log.url = "kafka://HOST:PORT"',),
        )
    return settings
