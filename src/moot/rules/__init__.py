"""Pure decisions: no IO, no clock, no asyncio. Above: flow/ and the doors ask; below: nothing but values."""
