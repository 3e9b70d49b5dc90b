"""A Kafka broker for the tests of this process: started when the first one asks for it, gone with the process.

Tests keep apart by the prefix of their topics, not by brokers: starting one takes longer than all they do with it.
"""

import atexit
from functools import cache
from uuid import uuid4

from tools.kafka_broker import KafkaBroker


@cache
def broker() -> KafkaBroker:
    """The one of this process."""
    started = KafkaBroker().start()
    atexit.register(started.remove)
    return started


def fresh_prefix() -> str:
    """For topics that no other test has."""
    return f"t{uuid4().hex[:10]}."
