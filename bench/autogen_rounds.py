"""W10's peer: groups of four agents that cost nothing, on AutoGen's own group chat in memory. Nothing is kept.

Run by an environment of its own (bench/peers.py): `python autogen_rounds.py GROUPS ROUNDS_EACH` prints turns/s and the
median round in ms as JSON. A round is one message and the three turns it sets off, as in bench/w10.py.
"""
# mypy: ignore-errors

import asyncio
import json
import statistics
import sys
import time

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat

NAMES = ("ann", "ben", "cat", "dan")
MESSAGES_OF_A_ROUND = 4


class Speaker(BaseChatAgent):
    def __init__(self, name: str) -> None:
        super().__init__(name, "answers at once")

    @property
    def produced_message_types(self):
        return (TextMessage,)

    async def on_messages(self, messages, cancellation_token):
        said = f"{self.name} answers at some length to what was said before"
        return Response(chat_message=TextMessage(content=said, source=self.name))

    async def on_reset(self, cancellation_token) -> None:
        return None


def team() -> RoundRobinGroupChat:
    speakers = [Speaker(name) for name in NAMES]
    return RoundRobinGroupChat(speakers, termination_condition=MaxMessageTermination(MESSAGES_OF_A_ROUND))


async def main(groups: int, rounds_each: int) -> None:
    taken: list[float] = []

    async def talk(group: RoundRobinGroupChat) -> None:
        for _ in range(rounds_each):
            begun = time.perf_counter()
            done = await group.run(task="what do you say?")
            taken.append(time.perf_counter() - begun)
            assert len(done.messages) == MESSAGES_OF_A_ROUND

    await team().run(task="what is said once need not be loaded again")
    teams = [team() for _ in range(groups)]
    begun = time.perf_counter()
    await asyncio.gather(*(talk(group) for group in teams))
    seconds = time.perf_counter() - begun
    turns = groups * rounds_each * (MESSAGES_OF_A_ROUND - 1)
    print(json.dumps({"rate": turns / seconds, "p50": statistics.median(taken) * 1000}))


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
