"""A relay step by step, where a test decides when: what `Relay.run` does side by side."""

from moot.logs.kafka.relay import Relay


async def relayed(relay: Relay) -> bool:
    """Hold the lease, look at the topics, publish; whether there may be more."""
    await relay.hold()
    await relay.check()
    return await relay.publish()
