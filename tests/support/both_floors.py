"""The real rules and the model of them, played side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, TypeVar

from moot.flow import finish, post, renew
from moot.model.conversation import GroupSettings
from moot.model.ids import ParticipantId
from moot.model.limits import Limits
from moot.model.turn import MAX_CALLS, Turn, TurnState
from moot.rules import why
from tests.support.floor_model import Floor
from tests.support.floor_state import LARGE, Rules
from tests.support.history import at_once
from tests.support.world import World

T = TypeVar("T")
NAMES = ("ada", "bo", "cy", "dee", "eve", "fay", "gus")
ROOM, USER = "room", ParticipantId("user")
CONTINUING = ("said", "passed", "failed", "expired")
NO_BRAKES = Limits(chain_turns=10_000, chain_depth=100, agent_turns_per_hour=10_000)
"""The model knows no chains and no budgets."""

SILENCED = {("observes", "away"), ("blocked", "paused"), ("blocked", "cap")}
"""Where two of these hold at once, either may be named."""


def asked(turns: list[str]) -> list[str]:
    """Without those who wait: whether they do so with a turn or in line for one, the rules leave open."""
    return sorted(turn for turn in turns if not turn.endswith(" waiting"))


class Both:
    """One history, acted out twice."""

    DECK: ClassVar = tuple(
        name
        for name, cards in {
            "nothing": 1, "post": 12, "say": 22, "pass": 12, "claim": 8, "fail": 2, "expire": 1, "tool": 2, "wait": 6,
            "delete": 3, "interrupt": 1, "interrupt_post": 3, "leave": 2, "join": 2, "comes": 4, "goes": 4, "crash": 1,
            "pause": 2, "resume": 2, "sign": 1,
        }.items()
        for _ in range(cards)
    )  # fmt: skip

    def __init__(self, agents: int, groups: GroupSettings, away: int) -> None:
        self.agents = list(NAMES[:agents])
        absent = [name for i, name in enumerate(self.agents) if away >> i & 1]
        members = self.agents[: max(1, agents - 1)]
        known = {name: getattr(groups, name) for name in Rules.__dataclass_fields__}
        known |= {name: str(known[name]) for name in ("reply_strategy", "turn_order")}
        self.model = Floor(members, Rules(**known))
        self.model.up = set(self.agents) - set(absent)
        self.world = World("rules", Path(), groups, NO_BRAKES)
        at_once(self.world.open())
        at_once(self.world.enrol(self.agents, [], absent))
        at_once(self.world.make(ROOM, members, "group", {}))
        self.start = self.world.now
        self.log: list[str] = []
        self._words = 0

    # --- acting ------------------------------------------------------------------------------------------

    def act(self, name: str, which: int, how: int) -> None:
        self.log.append(f"{self.model.now:g} {name}")
        getattr(self, f"_{name}")(which, how)
        self.log[-1] += f" -> {self._turns_of_model()}"

    def _tell(self, *words: object) -> None:
        self.log[-1] += " " + " ".join(str(word) for word in words)

    def _choose(self, options: list[T], which: int) -> T:
        return options[which % len(options)]

    def _becomes_large(self, newcomers: int) -> bool:
        """Whether a group would become large while somebody is polled: which time-out holds then, is left open."""
        now, then = len(self.model.members), len(self.model.members) + newcomers
        polls = [turn for turn in self.model.open_turns() if turn.kind in ("poll", "react")]
        return bool(polls) and now < LARGE <= then

    def _named_by_person(self, how: int) -> list[str]:
        """Whom a person names; others than members are invited."""
        named = self._named(how)
        outside = [agent for agent in named if agent != "all" and not self.model.is_member(agent)]
        return [
            agent for agent in named if agent not in outside or not self._becomes_large(len(set(outside)))
        ]

    def _named(self, how: int) -> list[str]:
        """Nobody, one, two, some or all."""
        first, second = self.agents[how // 8 % len(self.agents)], self.agents[how // 13 % len(self.agents)]
        some = [name for i, name in enumerate(self.agents) if how >> i & 1]
        return [[], [], [], [first], [first], [second, first], some, ["all"]][how % 8]

    def _text(self, named: list[str]) -> str:
        self._words += 1
        calls = [f"@{name}" for name in named]
        return " ".join([*calls, f"sentence number {self._words} with enough words to be no mere nod"])

    def _nothing(self, which: int, how: int) -> None: ...

    def _post(self, which: int, how: int) -> None:
        named = self._named_by_person(how)
        force = [self._choose(self.model.names(), which)] if which % 5 == 1 and self.model.members else []
        self._tell(named, force)
        at_once(self.world.post(ROOM, "user", self._text(named), force=tuple(force)))
        self.model.post(named, force)

    def _take(self, which: int) -> str | None:
        """Somebody who speaks, or is made to."""
        running, claimable = self.model.running(), self.model.claimable()
        if not running and not claimable:
            return None
        turn = self._choose([*running, *claimable], which)
        if turn.state != "running":
            self._claim_by(turn.agent)
        return turn.agent

    def _claim(self, which: int, how: int) -> None:
        claimable = self.model.claimable()
        if claimable:
            self._claim_by(self._choose(claimable, which).agent)

    def _claim_by(self, agent: str) -> None:
        self._tell(f"({agent} claims)")
        taken = at_once(self.world.claim(ROOM, agent))
        turn = self.model.claim(agent)
        assert taken is not None, f"{agent} cannot claim its turn"
        have = (taken.lo, taken.hi, taken.cause, taken.depth, taken.hop, str(taken.root).rpartition(":")[2])
        want = (turn.lo, turn.hi, turn.cause, turn.depth, turn.hop, str(turn.root))
        assert have == want, f"{agent} runs with lo, hi, cause, depth, hop, root {have}, modelled {want}"

    def _say(self, which: int, how: int) -> None:
        agent = self._take(which)
        if agent is not None:
            named = self._named(how)
            self._tell(agent, named)
            at_once(self.world.say(ROOM, agent, self._text(named)))
            self.model.say(agent, named)

    def _tool(self, which: int, how: int) -> None:
        agent = self._take(which)
        if agent is not None:
            named = self._named(how)
            self._tell(agent, named)
            try:
                at_once(self.world.tool(ROOM, agent, self._text(named), ROOM))
                accepted = True
            except Exception as refusal:
                self._tell(refusal)
                accepted = False
            assert accepted == self.model.tool(agent, named), f"tool post accepted: {accepted}"

    def _pass(self, which: int, how: int) -> None:
        agent = self._take(which)
        if agent is not None:
            self._tell(agent)
            at_once(self.world.finish(ROOM, agent, finish.Said(text="[PASS]")))
            self.model.pass_(agent)

    def _fail(self, which: int, how: int) -> None:
        agent = self._take(which)
        if agent is not None:
            self._tell(agent)
            at_once(self.world.finish(ROOM, agent, finish.Failed(error="boom")))
            self.model.fail(agent)

    def _expire(self, which: int, how: int) -> None:
        agent = self._take(which)
        if agent is not None:
            self._tell(agent)
            at_once(self.world.finish(ROOM, agent, finish.Expired()))
            self.model.expire(agent)

    def _sign(self, which: int, how: int) -> None:
        running = [t for t in at_once(self.world.open_turns(ROOM)) if t.state is TurnState.RUNNING]
        alive = tuple(renew.Alive(turn=t.id, fence=t.fence, sign_of_life=self.world.now) for t in running)
        at_once(self.world.do(renew, renew.Renew(turns=alive)))
        for turn in running:
            self.model.sign_of_life(turn.agent)

    def _wait(self, which: int, how: int) -> None:
        seconds = self._choose([0.5, 2.0, 4.0, 11.0, 31.0, 70.0], how)
        self._tell(seconds)
        at_once(self.world.wait(seconds))
        self.model.wait(seconds)

    def _delete(self, which: int, how: int) -> None:
        able = [m.seq for m in self.model.messages if not m.deleted and m.kind != "system"]
        if able:
            seq = self._choose(able[::-1], which)
            self._tell(seq)
            at_once(self.world.delete(ROOM, seq))
            self.model.delete(seq)

    def _interrupt(self, which: int, how: int) -> None:
        self._tell("partial" if how % 2 else "")
        at_once(self.world.interrupt(ROOM, self._partials(how)))
        self.model.interrupt(partial=bool(how % 2))

    def _interrupt_post(self, which: int, how: int) -> None:
        named = self._named_by_person(which)
        self._tell(named, "partial" if how % 2 else "")
        text, partials = self._text(named), self._partials(how)
        command = post.posting(USER, self.world.where[ROOM], text, interrupt=True, partials=partials)
        at_once(self.world.do(post, command))
        self.model.post(named, interrupt=True, partial=bool(how % 2))

    def _partials(self, how: int) -> dict[Any, str]:
        running = [t for t in at_once(self.world.open_turns(ROOM)) if t.state is TurnState.RUNNING]
        return {turn.id: "half a thou" if how % 2 else "" for turn in running}

    def _leave(self, which: int, how: int) -> None:
        if self.model.members:
            agent = self._choose(self.model.names(), which)
            self._tell(agent)
            at_once(self.world.leave(ROOM, agent))
            self.model.leave(agent)

    def _join(self, which: int, how: int) -> None:
        outside = [agent for agent in self.agents if not self.model.is_member(agent)]
        if outside and not self._becomes_large(1):
            agent = self._choose(outside, which)
            self._tell(agent)
            at_once(self.world.join(ROOM, agent))
            self.model.join(agent)

    def _comes(self, which: int, how: int) -> None:
        away = [agent for agent in self.agents if agent not in self.model.up]
        if away:
            agent = self._choose(away, which)
            self._tell(agent)
            at_once(self.world.up(agent))
            self.model.comes(agent)

    def _goes(self, which: int, how: int) -> None:
        up = [agent for agent in self.agents if agent in self.model.up and not self._speaks_paused(agent)]
        if up:
            agent = self._choose(up, which)
            self._tell(agent)
            at_once(self.world.down(agent))
            self.model.goes(agent)

    def _speaks_paused(self, agent: str) -> bool:
        """Was paused while it spoke: what becomes of its turn if the host is lost too, the rules leave open."""
        return agent in self.model.paused and agent in [turn.agent for turn in self.model.running()]

    def _crash(self, which: int, how: int) -> None:
        running = [turn for turn in self.model.running() if not self._speaks_paused(turn.agent)]
        if running:
            agent = self._choose(running, which).agent
            self._tell(agent)
            at_once(self.world.crash(agent))
            self.model.crash(agent)

    def _pause(self, which: int, how: int) -> None:
        agent = self._choose(self.agents, which)
        if agent not in self.model.paused:
            self._tell(agent)
            at_once(self.world.pause(agent, True))
            self.model.pause(agent)

    def _resume(self, which: int, how: int) -> None:
        if self.model.paused and not self.model.queue:
            agent = self._choose(sorted(self.model.paused), which)
            self._tell(agent)
            at_once(self.world.pause(agent, False))
            self.model.resume(agent)

    def settle(self) -> None:
        """Present agents end what they have, without a word, and time passes."""
        for _ in range(200):
            if self.model.running() or self.model.claimable():
                self.act("pass", 0, 0)
            elif any(t.state in ("held", "ready") for t in self.model.open_turns()):
                self.act("wait", 0, 5)
            else:
                return
            self.compare()
        raise AssertionError("the model never comes to rest")

    # --- comparing ---------------------------------------------------------------------------------------

    def _turns_of_model(self) -> list[str]:
        return sorted(f"{t.agent} {self.model.duty(t)} {t.state}" for t in self.model.open_turns())

    def _real_turns(self) -> list[Turn]:
        found: list[Turn] = at_once(self.world.store.turns(conversation=self.world.where[ROOM]))
        return found

    def compare(self) -> None:
        real, modelled = at_once(self.world.show(ROOM)), self._turns_of_model()
        assert asked(real) == asked(modelled), f"real {real}, modelled {modelled}"
        free = {t.agent: str(t.reason) for t in at_once(self.world.open_turns(ROOM)) if t.duty == "may"}
        kinds = {t.agent: t.kind for t in self.model.open_turns() if self.model.duty(t) == "may"}
        assert free == kinds, f"reasons {free}, modelled {kinds}"
        self._compare_messages()
        assert self._outcomes() == self._modelled_outcomes()
        pointer = at_once(self.world.conversation_now(ROOM)).pointer
        assert (pointer or "") == self.model.pointer, f"pointer {pointer}, modelled {self.model.pointer}"

    def _compare_messages(self) -> None:
        messages = at_once(self.world.messages(ROOM))
        have = [(m.seq, str(m.author) if m.kind != "system" else "", m.is_deleted) for m in messages]
        want = [(m.seq, m.author, m.deleted) for m in self.model.messages]
        assert have == want, f"messages {have}, modelled {want}"
        for message, modelled in zip(messages, self.model.messages, strict=True):
            if modelled.kind != "system" and not modelled.partial:
                lineage = (str(message.root).rpartition(":")[2], message.hop)
                assert lineage == (str(modelled.root), modelled.hop), (
                    f"root and hop of {message.seq}: {lineage}"
                )

    def _outcomes(self) -> dict[str, list[tuple[str, int, int]]]:
        """What became of the turns of each agent that reached an end."""
        ended = [t for t in self._real_turns() if t.state in CONTINUING]
        return {a: [(str(t.state), t.lo, t.hi) for t in ended if t.agent == a] for a in self.agents}

    def _modelled_outcomes(self) -> dict[str, list[tuple[str, int, int]]]:
        ended = [t for t in self.model.turns if t.state in CONTINUING]
        return {a: [(t.state, t.lo, t.hi) for t in ended if t.agent == a] for a in self.agents}

    def _forgetful(self, agent: str) -> bool:
        """Whether a turn was called so often that it has forgotten the oldest of its calls."""
        return any(len(turn.calls) > MAX_CALLS for turn in self.model.turns if turn.agent == agent)

    def compare_why(self) -> None:
        """At rest, for every message and agent, where the rules say it."""
        turns = self._real_turns()
        for message in at_once(self.world.messages(ROOM)):
            round_ = at_once(self.world.store.round(self.world.where[ROOM], message.round))
            for agent in self.agents:
                wanted = self.model.why(message.seq, agent)
                if wanted is not None and not self._forgetful(agent):
                    duty, rule = why.final(message, round_, turns, ParticipantId(agent))
                    have = (str(duty), str(rule))
                    if wanted in SILENCED and have in SILENCED:
                        continue
                    assert have == wanted, f"why of {message.seq} for {agent}: {have}, modelled {wanted}"
