"""A model of the floor, written from the rules of whose turn it is and from no code of moot.

It knows one group conversation and is as plain as it can be: it remembers everything, and works out from that after
every act what follows. tests/replay/test_floor_model.py plays random histories on it and on the real rules. Where the
rules leave something open the model does one of the things they allow, and nothing is compared.

  floor_state.py   what is known, and what can be said about it by looking
  floor_turns.py   what can happen to one turn
  floor_polls.py   who is asked although nobody named them
  floor_plan.py    who is asked next
  here             what people and agents do, and `why`
"""

from __future__ import annotations

from tests.support.floor_plan import enter, name, plan, reopen
from tests.support.floor_state import (
    NAMING,
    READS,
    UNCLAIMED,
    USES_SLOT,
    Call,
    Member,
    Message,
    Round,
    Rules,
    State,
    Turn,
)
from tests.support.floor_turns import cancel, carry_along, give_up, owe, ready

ALL = "all"
LOST_TWICE = 2
WHY = {
    "poll": ("may", "poll"),
    "react": ("may", "react"),
    "round_robin": ("must", "round_robin"),
    "interrupt": ("must", "force"),
}


class Floor(State):
    """One group conversation, played by hand."""

    def __init__(self, members: list[str], rules: Rules, away: list[str] | None = None) -> None:
        super().__init__(members, rules)
        self.up = set(members) - set(away or [])

    # --- people ------------------------------------------------------------------------------------------

    def post(
        self,
        mentions: list[str],
        force: list[str] | None = None,
        *,
        interrupt: bool = False,
        partial: bool = False,
    ) -> None:
        """A person says something; names in `mentions` and `force` are agents, or `all`."""
        stopped = self._stop(partial) if interrupt else []
        forces = self._forces("user", mentions, force or [])
        message = self._append(Message(self.head + 1, "user", "human", forces))
        message.root = message.round = message.seq
        newcomers = [agent for agent in forces if not self.is_member(agent)]
        for agent in newcomers:
            self.members.append(Member(agent, cursor=message.seq - 1, since=message.seq - 1))
            self._notice()
        message.members = tuple(self.names())
        for agent in forces:
            self.member(agent).streak = self.member(agent).rested = 0
        round_ = Round(message.seq, self.rules.max_agent_turns_per_message, named=bool(forces))
        self.rounds[message.seq] = round_
        self.queue.append(message.seq)
        running = self.current
        for turn, calls in stopped:
            if turn.agent in self.paused:
                for seq in [call.seq for call in calls] + [message.seq]:
                    self._refuse_paused(turn.agent, seq)
                continue
            target = running if running is not None and turn.round == running.opener else round_
            own = target is round_
            round_.named = round_.named or own
            enter(target, turn.agent, [*calls, Call(message.seq, "interrupt")], own, first=True)
        plan(self)

    def _forces(self, author: str, mentions: list[str], force: list[str]) -> dict[str, str]:
        """Whom the message names, in order."""
        forces = dict.fromkeys(force, "force")
        for mention in mentions:
            for agent in self.names() if mention == ALL else [mention]:
                if agent != author:
                    forces.setdefault(agent, "mention")
        return forces

    def _append(self, message: Message) -> Message:
        message.members = tuple(self.names())
        self.messages.append(message)
        return message

    def _notice(self) -> None:
        self._append(Message(self.head + 1, "", "system"))

    def interrupt(self, *, partial: bool = False) -> None:
        """What runs is stopped, and nobody is asked instead."""
        self._stop(partial)
        plan(self)

    def _stop(self, partial: bool) -> list[tuple[Turn, list[Call]]]:
        """Cancel what runs; the turns in the order in which they were asked, and what called them."""
        running = [t for t in self.turns if t.state == "running"]
        running.sort(key=lambda turn: turn.asked_as)
        stopped = [(turn, self.calls_on(turn)) for turn in running]
        for turn, _ in stopped:
            cancel(turn, "interrupt")
            member = self.member(turn.agent)
            member.streak = member.rested = 0
            if partial:
                words = Message(self.head + 1, turn.agent, "agent", partial=True)
                words.root, words.hop, words.depth, words.round = turn.root, turn.hop, turn.depth, turn.round
                self._append(words)
        return stopped

    def delete(self, seq: int) -> None:
        self.message(seq).deleted = True
        if seq in self.queue and self.rounds[seq].state == "queued":
            self.queue.remove(seq)
            self.rounds[seq].state = "closed"
        plan(self)

    def leave(self, agent: str) -> None:
        turn = self.open_turn(agent)
        if turn is not None:
            cancel(turn, "left")
        self.members.remove(self.member(agent))
        for round_ in self.rounds.values():
            round_.line = [entry for entry in round_.line if entry.agent != agent]
            round_.asked = [asked for asked in round_.asked if asked != agent]
            round_.reacted.discard(agent)
        self._notice()
        plan(self)

    def join(self, agent: str) -> None:
        self.members.append(Member(agent, cursor=self.head, since=self.head))
        self._notice()
        plan(self)

    def pause(self, agent: str) -> None:
        self.paused.add(agent)
        turn = self.open_turn(agent)
        if turn is not None and turn.state in UNCLAIMED:
            for call in self.calls_on(turn):
                self._refuse_paused(agent, call.seq)
            cancel(turn, "paused")
        for round_ in self.rounds.values():
            for entry in [entry for entry in round_.line if entry.agent == agent]:
                for call in entry.calls:
                    self._refuse_paused(agent, call.seq)
                round_.line.remove(entry)
        plan(self)

    def _refuse_paused(self, agent: str, seq: int) -> None:
        self.message(seq).notes[agent] = "paused"
        if seq in self.rounds:
            self.rounds[seq].passed_over.add(agent)

    def resume(self, agent: str) -> None:
        self.paused.discard(agent)
        plan(self)

    # --- hosts and time ------------------------------------------------------------------------------------

    def comes(self, agent: str) -> None:
        self.up.add(agent)

    def goes(self, agent: str) -> None:
        self.up.discard(agent)
        self._lose_host(agent)
        plan(self)

    def crash(self, agent: str) -> None:
        """Its host dies, and another takes over at once."""
        self._lose_host(agent)
        plan(self)

    def _lose_host(self, agent: str) -> None:
        """A running turn is readied once more, or owed where its agent is gone; a poll of one that is gone is over."""
        turn = self.open_turn(agent)
        if turn is None or turn.state != "running":
            return
        turn.lost_hosts += 1
        if turn.lost_hosts == LOST_TWICE:
            self._end(turn, "failed")
            self._notice()
            return
        if agent not in self.up and self.duty(turn) == "may":
            give_up(self, turn)
            return
        if agent not in self.up or turn.late:
            owe(turn)
        else:
            ready(self, turn)
        carry_along(self, turn)

    def wait(self, seconds: float) -> None:
        """Time passes, and stops wherever something becomes due."""
        until = self.now + seconds
        while True:
            due = min((self._due(t) for t in self.open_turns()), default=until + 1)
            if due > until:
                break
            self.now = max(self.now, due)
            for turn in self.open_turns():
                if self._due(turn) <= self.now:
                    self._is_due(turn)
            plan(self)
        self.now = until

    def _due(self, turn: Turn) -> float:
        match turn.state:
            case "held":
                return turn.until
            case "ready":
                return turn.asked_at + self.patience(turn)
            case "running":
                limit = turn.started_at + self.rules.turn_limit_seconds
                return min(turn.alive_at + self.patience(turn), limit)
            case _:
                return float("inf")

    def _is_due(self, turn: Turn) -> None:
        match turn.state:
            case "ready":
                give_up(self, turn)
            case "running":
                self._end(turn, "expired")
                self._notice()
            case _:
                pass

    # --- agents --------------------------------------------------------------------------------------------

    def claimable(self) -> list[Turn]:
        return [t for t in self.turns if t.state in ("ready", "owed") and t.agent in self.up]

    def running(self) -> list[Turn]:
        return [t for t in self.turns if t.state == "running"]

    def claim(self, agent: str) -> Turn:
        turn = next(turn for turn in self.claimable() if turn.agent == agent)
        round_ = self.rounds[turn.round]
        turn.lo, turn.hi = self.member(agent).cursor, self.reach(turn)
        if turn.shared:
            round_.shared_hi = turn.hi
        turn.calls = self.calls_on(turn)
        turn.state, turn.started_at, turn.alive_at = "running", self.now, self.now
        self.fix_cause(turn)
        plan(self)
        return turn

    def sign_of_life(self, agent: str) -> None:
        for turn in self.running():
            if turn.agent == agent:
                turn.alive_at = self.now

    def say(self, agent: str, mentions: list[str]) -> None:
        turn = self._running_turn(agent)
        message = self._said(turn, mentions)
        self._end(turn, "said")
        self._take_up(turn, message)
        plan(self)

    def pass_(self, agent: str) -> None:
        turn = self._running_turn(agent)
        self._end(turn, "said" if turn.posts else "passed")
        plan(self)

    def fail(self, agent: str) -> None:
        self._end(self._running_turn(agent), "failed")
        self._notice()
        plan(self)

    def expire(self, agent: str) -> None:
        self._end(self._running_turn(agent), "expired")
        self._notice()
        plan(self)

    def tool(self, agent: str, mentions: list[str]) -> bool:
        """A post by tool into the group of one's own turn; False where no slot is left for it."""
        turn = self._running_turn(agent)
        round_ = self.rounds[turn.round]
        waiting = {entry.agent for entry in round_.line}
        if self.free_slots(round_) - len(waiting) <= 0:
            return False
        round_.used += 1
        turn.posts += 1
        turn.alive_at = self.now
        self._take_up(turn, self._said(turn, mentions))
        plan(self)
        return True

    def _running_turn(self, agent: str) -> Turn:
        return next(turn for turn in self.running() if turn.agent == agent)

    def _said(self, turn: Turn, mentions: list[str]) -> Message:
        forces = {a: r for a, r in self._forces(turn.agent, mentions, []).items() if self.is_member(a)}
        message = Message(self.head + 1, turn.agent, "agent", forces)
        message.root, message.hop, message.depth, message.round = turn.root, turn.hop, turn.depth, turn.round
        for agent in forces:
            self.member(agent).streak = self.member(agent).rested = 0
        return self._append(message)

    def _take_up(self, turn: Turn, message: Message) -> None:
        """Those an agent names are forced in the round of its turn, which opens again for them if it is over."""
        round_ = self.rounds[turn.round]
        if message.depth + 1 > self.rules.max_depth:
            for agent in message.forces:
                message.notes[agent] = "depth"
            return
        name(self, round_, message.seq)
        if round_.state == "closed" and round_.line and round_.opener not in self.queue:
            reopen(self, round_)

    def _end(self, turn: Turn, state: str) -> None:
        """The turn is over: its agent has read all up to its hi."""
        member = self.member(turn.agent)
        volunteered = turn.kind == "poll" and self.duty(turn) == "may"
        rotated = any(call.reason == "round_robin" for call in self.calls_on(turn))
        assert state in READS
        member.cursor = turn.hi
        if state in USES_SLOT:
            self.rounds[turn.round].used += 1
        if state == "said":
            member.said_at = self.now
            member.streak = member.rested = 0
            self.rounds[turn.round].volunteers += volunteered
            if rotated:
                self.answered = max(self.answered, turn.hi)
        elif state == "passed" and volunteered:
            member.streak += 1
        turn.state = state

    # --- why -------------------------------------------------------------------------------------------------

    def why(self, seq: int, agent: str) -> tuple[str, str] | None:
        """The agent's part in a message and the rule behind it; None where the rules leave it open."""
        message = self.message(seq)
        if message.deleted or message.partial or message.kind == "system":
            return None
        if agent == message.author:
            return "observes", "self"
        if not self.is_member(agent) or self.member(agent).since >= seq:
            return None
        if message.notes.get(agent) == "paused":
            stopped = [t for t in self.turns if t.agent == agent and t.over == "interrupt"]
            return None if stopped else ("blocked", "paused")
        if agent in message.forces:
            return self._why_named(message, agent)
        return self._why_unnamed(message, agent)

    def _call(self, message: Message, agent: str) -> tuple[Turn, Call] | None:
        """The turn of the agent that the message called, if it came to be asked."""
        for turn in self.turns:
            if turn.agent == agent and turn.over in ("", "interrupt"):
                for call in turn.calls:
                    if call.seq == message.seq:
                        return turn, call
        return None

    def _is_open(self, turn: Turn, call: Call) -> bool:
        """Interrupted, and then read in another turn, or paused: what `why` says of that, the rules leave open."""
        return bool(turn.over) and (self.has_read(turn.agent, call.seq) or turn.agent in self.paused)

    def _why_named(self, message: Message, agent: str) -> tuple[str, str] | None:
        called = self._call(message, agent)
        if called is not None:
            turn, call = called
            if call.reason in NAMING:
                either = self._is_open(turn, call) or call.reason == "interrupt"
                return None if either else ("must", message.forces[agent])
        if self.block(agent, message):
            return "blocked", self.block(agent, message)
        return ("observes", "seen") if self.has_read(agent, message.seq) else None

    def _why_unnamed(self, message: Message, agent: str) -> tuple[str, str] | None:
        called = self._call(message, agent)
        if called is not None:
            return None if self._is_open(*called) else WHY[called[1].reason]
        strategy = self.rules.reply_strategy
        if message.kind == "agent" or strategy == "round_robin":
            return None
        if strategy == "mention_only":
            return "observes", "strategy"
        rule = message.notes.get(agent)
        if rule is not None:
            return "blocked" if rule in ("cap", "paused") else "observes", rule
        return ("observes", "seen") if self.has_read(agent, message.seq) else None
