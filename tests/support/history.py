"""Random histories: a setup, a deck of acts, and a player who acts them out on any backend.

A history is a list of `(act, which, how)`. The two numbers mean nothing by themselves: each act uses them to
choose among what is possible at that moment, so every list is a valid history and shrinks well. The player
judges nothing; tests/support/invariants.py does.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from moot.errors import MootError, Stale
from moot.flow import (
    archive,
    attach,
    configure,
    continue_,
    detach,
    edit_message,
    finish,
    give_up,
    post,
    release,
    renew,
    sweep,
    unarchive,
    wait,
)
from moot.model.chain import Pair, Root
from moot.model.change import Decision
from moot.model.conversation import (
    Conversation,
    GroupOverrides,
    GroupSettings,
    Member,
    ReplyStrategy,
    TurnOrder,
)
from moot.model.ids import ConversationId, HostId, ParticipantId, RootId, TurnId
from moot.model.limits import Limits, Terms
from moot.model.message import Message, Revision
from moot.model.moment import Moment
from moot.model.participant import Participant, Quota
from moot.model.round import Round
from moot.model.turn import OPEN, Turn, TurnState
from moot.ports import Page, Scope
from moot.rules.draft import Seen
from tests.support.world import FOREVER, START, World

T = TypeVar("T")
USER = ParticipantId("user")
NAMES = ("ada", "bo", "cy", "dee", "eve", "fay", "gus")
SETTLING_STEPS = 3000
ALL = 100_000


class Setup(Struct, frozen=True):
    """Who is there, where they talk, and under which settings."""

    agents: int
    shape: str
    """`group`, `bridged` (two groups with the same members), `pairs` (directs), `ephemeral`."""
    groups: GroupSettings
    limits: Limits
    away: int
    """Bit mask over the agents: which have no host at first."""
    external: int
    """Bit mask: which are outside processes."""


class Picture(Struct, frozen=True):
    """Everything stored, at one moment."""

    now: float
    terms: Terms
    conversations: dict[ConversationId, Conversation]
    members: dict[ConversationId, dict[ParticipantId, Member]]
    messages: dict[ConversationId, list[Message]]
    turns: list[Turn]
    rounds: dict[tuple[ConversationId, int], Round]
    participants: dict[ParticipantId, Participant]

    def settings(self, where: ConversationId) -> GroupSettings:
        return self.conversations[where].settings.over(self.terms.groups)

    def groups(self) -> list[Conversation]:
        return [c for c in self.conversations.values() if c.takes_rounds]


class Ledger(Struct, frozen=True):
    """The counters that no read port shows: chains, quotas, pairs."""

    roots: dict[RootId, Root | None]
    quotas: dict[ParticipantId, Quota | None]
    pairs: dict[tuple[ParticipantId, ParticipantId], Pair | None]


class ReadLedger:
    """A verb that only looks, so that every backend can be asked for its counters."""

    def scope(self, command: Picture) -> Scope:
        places, people = tuple(command.conversations), tuple(command.participants)
        return Scope(conversations=places, names=people, roots=self._roots(command))

    def decide(self, command: Picture, seen: Seen, at: Moment) -> Decision[Ledger]:
        paired = [list(m) for w, m in command.members.items() if not command.conversations[w].takes_rounds]
        ledger = Ledger(
            roots={root: seen.root(root) for root in self._roots(command)},
            quotas={who: seen.quota(who) for who in command.participants},
            pairs={(a, b): seen.pair(a, b) for members in paired for a in members for b in members},
        )
        return Decision([], ledger)

    def _roots(self, command: Picture) -> tuple[RootId, ...]:
        return tuple(dict.fromkeys(m.root for held in command.messages.values() for m in held))


class Deeds:
    """What people did that loosens a rule: `/continue`, archiving, settings changed on the way."""

    def __init__(self) -> None:
        self.continued_roots: Counter[RootId] = Counter()
        self.continued_rounds: Counter[tuple[ConversationId, int]] = Counter()
        self.archived_at: dict[ConversationId, int] = {}
        self.reordered: set[ConversationId] = set()
        self.stopped_for_good: set[TurnId] = set()
        """Interrupted without a message: nobody is asked again."""
        self.refused_finishes: list[str] = []


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run what never really waits, without an event loop: rules and memory."""
    for _ in range(3):
        try:
            coroutine.send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
    coroutine.close()
    raise AssertionError("this backend waits; give it an event loop")


class Player:
    """Acts a history out in one world."""

    def __init__(self, setup: Setup, backend: str, folder: Path) -> None:
        self.setup = setup
        self.world = World(backend, folder, setup.groups, setup.limits)
        self._loop = None if backend in ("rules", "memory") else asyncio.new_event_loop()
        self.run: Callable[[Coroutine[Any, Any, Any]], Any] = (
            at_once if self._loop is None else self._loop.run_until_complete
        )
        self.deeds = Deeds()
        self.log: list[str] = []
        self.agents = list(NAMES[: setup.agents])
        self.externals = [n for i, n in enumerate(self.agents) if setup.external >> i & 1]
        self._hosts: Counter[str] = Counter()
        self._words = 0

    def begin(self) -> None:
        self.run(self.world.open())
        away = [name for i, name in enumerate(self.agents) if self.setup.away >> i & 1]
        self.run(self.world.enrol(self.agents, self.externals, away))
        for name, members, kind in self._places():
            self.run(self.world.make(name, members, kind, {}))

    def _places(self) -> list[tuple[str, list[str], str]]:
        agents = self.agents
        match self.setup.shape:
            case "bridged":
                return [("G", agents, "group"), ("K", agents[::-1], "group")]
            case "pairs":
                start = [("start", agents[:1], "direct")]
                ring = [(a, b) for a, b in zip(agents, [*agents[1:], agents[0]], strict=True) if a < b]
                return start + [(f"{a}-{b}", [a, b], "direct") for a, b in ring]
            case "mixed":
                pair = [("pair", agents[:2], "direct")] if len(agents) > 1 else []
                return [("G", agents, "group"), ("own", agents[:1], "direct"), *pair]
            case kind:
                return [("G", agents[: max(1, len(agents) - 1)], kind)]

    def close(self) -> None:
        self.run(self.world.close())
        if self._loop is not None:
            self._loop.close()

    # --- acting ------------------------------------------------------------------------------------------

    def act(self, name: str, which: int, how: int) -> None:
        """One act; a refusal is an answer like any other and leaves nothing behind."""
        where = self._choose(list(self.world.where), which)
        self.log.append(f"{self.world.now - START:g} {name} in {where} ({which}, {how})")
        try:
            getattr(self, f"_{name}")(where, which // 7, how)
        except MootError as refusal:
            self.log[-1] += f" refused: {refusal.title}"

    def _choose(self, options: list[T], which: int) -> T:
        return options[which % len(options)]

    def _say_words(self, how: int) -> str:
        """A text that names nobody, one, two, some or all; short ones feed the no-progress detector."""
        self._words += 1
        names = [f"@{name}" for name in self.agents]
        first, second = names[how // 8 % len(names)], names[how // 13 % len(names)]
        some = [name for i, name in enumerate(names) if how >> i & 1]
        named = [[], [], [], [first], [first], [second, first], some, ["@all"]][how % 8]
        body = "ok" if how % 3 == 0 else f"sentence number {self._words} with enough words to be no mere nod"
        return " ".join([*named, body])

    def _turns(self, *states: TurnState) -> list[Turn]:
        """Open turns anywhere, in these states."""
        return [t for t in self.run(self.world.store.turns(limit=ALL)) if t.state in states]

    def _one_running(self, which: int) -> Turn | None:
        """A running turn, else one claimed for the purpose."""
        turns = self._turns(TurnState.RUNNING, TurnState.READY, TurnState.OWED)
        able = [t for t in turns if t.state is TurnState.RUNNING or self._can_claim(t)]
        if not able:
            return None
        turn = self._choose(able, which)
        return turn if turn.state is TurnState.RUNNING else self._take(turn)

    def _can_claim(self, turn: Turn) -> bool:
        return turn.agent in self.externals or self._present(turn.agent)

    def _present(self, agent: str) -> bool:
        return agent in self._up()

    def _up(self) -> set[str]:
        return {a for h in self._host_rows() for a in h.agents}

    def _members(self, where: str) -> list[ParticipantId]:
        return [m.participant for m in self.run(self.world.store.members(self.world.where[where]))]

    def _host_rows(self) -> list[Any]:
        if self.world.backend == "rules":
            return list(self.world.store.desk.hosts())
        return list(self.run(self.world.store.hosts()))

    def _take(self, turn: Turn) -> Turn | None:
        if turn.agent in self.externals:
            taken = self.run(self.world.check(turn.agent))
            return next((t for t in taken if t.conversation == turn.conversation), None)
        host = next(h.id for h in self._host_rows() if turn.agent in h.agents)
        answer = self.run(self.world.claim_as(turn, host))
        return answer.turn  # type: ignore[no-any-return]

    def _finish(self, which: int, outcome: finish.Outcome) -> None:
        turn = self._one_running(which)
        if turn is None:
            return
        self.log[-1] += f" by {turn.agent}"
        try:
            self.run(self.world.do(finish, finish.Finish(turn=turn.id, fence=turn.fence, outcome=outcome)))
        except Stale:
            raise
        except MootError as refusal:
            self.deeds.refused_finishes.append(f"turn {turn.id}: {refusal.title}")

    # --- the acts ----------------------------------------------------------------------------------------

    def _nothing(self, where: str, which: int, how: int) -> None:
        """The first card of the deck, so that a failing history shrinks to its essence."""

    def _post(self, where: str, which: int, how: int) -> None:
        where = self._choose([w for w in self.world.where if USER in self._members(w)], which)
        force = (self._choose(self.agents, which),) if which % 5 == 1 else ()
        self.run(self.world.post(where, "user", self._say_words(how), force=force))

    def _ask(self, where: str, which: int, how: int) -> None:
        """A question; who asks waits for its answer, gives up, or does not wait at all."""
        author = self._choose(self._members(where), which)
        until = self._choose([0.0, self.world.now + 10.0, self.world.now + 1000.0], how)
        fields = {"intent": post.ASK, "awaited": until, "waits_in": HostId("h0")}
        receipt = self.run(self.world.post(where, author, self._say_words(how), **fields))
        if how % 7 == 0:
            self.run(self.world.do(give_up, give_up.GiveUp(self.world.where[where], receipt.seq)))

    def _own_post(self, where: str, which: int, how: int) -> None:
        author = self._choose([*self._members(where), *self.agents], which)
        self.run(self.world.post(where, author, self._say_words(how)))

    def _claim(self, where: str, which: int, how: int) -> None:
        ready = [t for t in self._turns(TurnState.READY, TurnState.OWED) if self._can_claim(t)]
        if ready:
            self._take(self._choose(ready, which))

    def _say(self, where: str, which: int, how: int) -> None:
        self._finish(which, finish.Said(text=self._say_words(how)))

    def _pass(self, where: str, which: int, how: int) -> None:
        self._finish(which, finish.Said(text="[PASS]"))

    def _fail(self, where: str, which: int, how: int) -> None:
        self._finish(which, finish.Failed(error="boom"))

    def _expire(self, where: str, which: int, how: int) -> None:
        self._finish(which, finish.Expired())

    def _tool(self, where: str, which: int, how: int) -> None:
        turn = self._one_running(which)
        if turn is not None:
            into = self._choose(list(self.world.where), how)
            fields = {"turn": turn.id, "fence": turn.fence}
            self.run(self.world.post(into, turn.agent, self._say_words(how // 2), **fields))

    def _step(self, where: str, which: int, how: int) -> None:
        """A running turn calls a tool, or the tool it has called answers."""
        running = [t for t in self._turns(TurnState.RUNNING) if t.agent not in self.externals]
        if not running:
            return
        turn = self._choose(running, which)
        self.run(self.world.step(self._name_of(turn.conversation), turn.agent))

    def _wait(self, where: str, which: int, how: int) -> None:
        self.run(self.world.wait(self._choose([0.5, 2.0, 4.0, 11.0, 31.0, 70.0], how)))

    def _wait_long(self, where: str, which: int, how: int) -> None:
        self.run(self.world.wait(self._choose([300.0, 700.0, 3700.0], how)))

    def _revise(self, where: str, which: int, text: str | None) -> None:
        messages = [m for m in self.run(self.world.messages(where)) if m.author == USER]
        messages = [m for m in messages if not m.metadata.get("deleted")]
        if messages:
            m = self._choose(messages[::-1], which)
            self.run(
                self.world.do(
                    edit_message, edit_message.EditMessage(USER, m.conversation, m.seq, m.version, text)
                )
            )

    def _delete(self, where: str, which: int, how: int) -> None:
        self._revise(where, which, None)

    def _delete_any(self, where: str, which: int, how: int) -> None:
        messages = [m for m in self.run(self.world.messages(where)) if not m.metadata.get("deleted")]
        if messages:
            m = self._choose(messages[::-1], which)
            self.run(
                self.world.do(
                    edit_message, edit_message.EditMessage(USER, m.conversation, m.seq, m.version, None)
                )
            )

    def _delete_owed(self, where: str, which: int, how: int) -> None:
        """Takes back a message that an open turn answers to."""
        calls = [(t.conversation, call.seq) for t in self._turns(*OPEN) for call in t.calls]
        if calls:
            place, seq = self._choose(calls, which)
            message = self.run(self.world.messages(self._name_of(place)))[seq - 1]
            self.run(
                self.world.do(edit_message, edit_message.EditMessage(USER, place, seq, message.version, None))
            )

    def _name_of(self, place: ConversationId) -> str:
        return next(name for name, where in self.world.where.items() if where == place)

    def _edit(self, where: str, which: int, how: int) -> None:
        self._revise(where, which, self._say_words(how))

    def _interrupt(self, where: str, which: int, how: int) -> None:
        stopped = self.run(self.world.interrupt(where, self._partials(where, how)))
        self.deeds.stopped_for_good.update(stopped)

    def _interrupt_running(self, where: str, which: int, how: int) -> None:
        """A person interrupts where somebody speaks."""
        running = self._turns(TurnState.RUNNING)
        if running:
            place = self._name_of(self._choose(running, which).conversation)
            self._interrupt_post(place, 0, how)

    def _interrupt_post(self, where: str, which: int, how: int) -> None:
        author = self._choose(["user", "user", *self.agents], which)
        command = post.posting(
            ParticipantId(author), self.world.where[where], self._say_words(how),
            interrupt=True, partials=self._partials(where, how),
        )  # fmt: skip
        self.run(self.world.do(post, command))

    def _partials(self, where: str, how: int) -> dict[Any, str]:
        running = [t for t in self._turns(TurnState.RUNNING) if t.conversation == self.world.where[where]]
        return {t.id: "half a thou" if how % 2 else "" for t in running}

    def _leave(self, where: str, which: int, how: int) -> None:
        if self.run(self.world.conversation_now(where)).takes_rounds:
            self.run(self.world.leave(where, self._choose(self.agents, which)))

    def _join(self, where: str, which: int, how: int) -> None:
        self.run(self.world.join(where, self._choose(self.agents, which)))

    def _comes(self, where: str, which: int, how: int) -> None:
        """An agent's host comes up; an outside agent opens a wait."""
        agent = self._choose(self.agents, which)
        if agent in self.externals:
            until = self.world.now + (FOREVER if how % 2 else 20.0)
            self.run(self.world.do(wait, wait.WaitUntil(agent=ParticipantId(agent), until=until)))
        elif agent not in self._up():
            self._attach(agent)

    def _attach(self, agent: str) -> None:
        self._hosts[agent] += 1
        host = HostId(f"host-{agent}-{self._hosts[agent]}")
        self.run(self.world.do(attach, attach.Attach(host=host, pid=1, agents=(ParticipantId(agent),))))

    def _detach(self, agent: str) -> None:
        for host in self._host_rows():
            if agent in host.agents:
                self.run(self.world.do(detach, detach.Detach(host=host.id)))

    def _sweep(self) -> None:
        for conversation in self.world.where.values():
            self.run(self.world.do(sweep, sweep.Sweep(conversation=conversation)))

    def _goes(self, where: str, which: int, how: int) -> None:
        agent = self._choose(self.agents, which)
        if agent in self.externals:
            self.run(self.world.do(wait, wait.WaitUntil(agent=ParticipantId(agent), until=0.0)))
        self._detach(agent)
        self._sweep()

    def _crash(self, where: str, which: int, how: int) -> None:
        """A host dies and another takes its agent over before anybody looks."""
        agent = self._choose(self.agents, which)
        if agent in self._up():
            self._detach(agent)
            self._attach(agent)
            self._sweep()

    def _release(self, where: str, which: int, how: int) -> None:
        running = [t for t in self._turns(TurnState.RUNNING) if t.agent not in self.externals]
        if running:
            turn = self._choose(running, which)
            self.run(self.world.do(release, release.Release(turn=turn.id, fence=turn.fence)))

    def _renew(self, where: str, which: int, how: int) -> None:
        running = [t for t in self._turns(TurnState.RUNNING) if t.agent not in self.externals]
        alive = tuple(renew.Alive(turn=t.id, fence=t.fence, sign_of_life=self.world.now) for t in running)
        self.run(self.world.do(renew, renew.Renew(turns=alive)))

    def _pause(self, where: str, which: int, how: int) -> None:
        self.run(self.world.pause(self._choose(self.agents, which), True))

    def _resume(self, where: str, which: int, how: int) -> None:
        self.run(self.world.pause(self._choose(self.agents, which), False))

    def _go_on(self, where: str, which: int, how: int) -> None:
        conversation = self.run(self.world.conversation_now(where))
        round_ = self.run(self.world.store.round(conversation.id, conversation.stalled))
        calls = round_.blocked if round_ is not None else conversation.blocked
        if self.run(self.world.do(continue_, continue_.GoOn(USER, conversation.id))):
            self.deeds.continued_roots.update({call.root for call in calls})
            self.deeds.continued_rounds[conversation.id, conversation.stalled] += 1

    def _archive(self, where: str, which: int, how: int) -> None:
        """Closes a conversation; the same card opens it again."""
        conversation = self.run(self.world.conversation_now(where))
        if not conversation.archived and how % 4:
            return
        if conversation.archived:
            back = unarchive.Unarchive(USER, conversation.id, conversation.name)
            self.run(self.world.do(unarchive, back))
        else:
            self.run(self.world.do(archive, archive.Archive(USER, conversation.id)))
        self.deeds.archived_at[conversation.id] = conversation.head

    def _configure(self, where: str, which: int, how: int) -> None:
        options = [
            GroupOverrides(reply_strategy=list(ReplyStrategy)[which % 3]),
            GroupOverrides(turn_order=list(TurnOrder)[which % 2]),
            GroupOverrides(max_depth=1 + which % 3),
            GroupOverrides(reactive_round=bool(which % 2)),
            GroupOverrides(cooldown_seconds=float(which % 2 * 5)),
        ]
        settings = self._choose(options, how)
        command = configure.Configure(USER, self.world.where[where], settings=settings)
        self.run(self.world.do(configure, command))
        if settings.turn_order is not None:
            self.deeds.reordered.add(self.world.where[where])

    def _check(self, where: str, which: int, how: int) -> None:
        if self.externals:
            self.run(self.world.check(self._choose(self.externals, which)))

    def _reload(self, where: str, which: int, how: int) -> None:
        if self.world.backend != "rules":
            self.run(self.world.restart())

    # --- letting it come to rest -----------------------------------------------------------------------

    def settle(self, talk: int) -> None:
        """Present agents take and end every turn they can, the first few with words; time passes."""
        for _ in range(SETTLING_STEPS):
            turn = self._workable()
            if turn is not None:
                running = turn if turn.state is TurnState.RUNNING else self._take(turn)
                if running is not None:
                    text, talk = (self._say_words(talk * 37), talk - 1) if talk > 0 else ("[PASS]", 0)
                    outcome = finish.Said(text=text)
                    self.run(self.world.do(finish, finish.Finish(running.id, running.fence, outcome)))
                continue
            due = self.run(self.world.store.next_due())
            if due is None or due > self.world.now + FOREVER / 2:
                return
            self.run(self.world.wait(max(0.0, due - self.world.now)))
        raise AssertionError("the world never comes to rest")

    def _workable(self) -> Turn | None:
        for turn in self._turns(*OPEN):
            if turn.state is TurnState.RUNNING or (
                turn.state in (TurnState.READY, TurnState.OWED) and self._present(turn.agent)
            ):
                return turn
        return None

    def everybody_returns(self) -> None:
        """All agents are up and awake, and take what waited for them; archived places stay closed."""
        for agent in self.agents:
            self.run(self.world.pause(agent, False))
            if agent in self.externals:
                self.run(self.world.check(agent))
                self.run(self.world.check(agent))
            elif agent not in self._up():
                self._attach(agent)
        self._sweep()

    # --- looking ---------------------------------------------------------------------------------------

    def picture(self) -> Picture:
        world = self.world
        conversations, members, messages, rounds = {}, {}, {}, {}
        for name, where in world.where.items():
            conversation = self.run(world.conversation_now(name))
            conversations[where] = conversation
            members[where] = {m.participant: m for m in self.run(world.store.members(where))}
            messages[where] = self.run(world.store.messages(where, Page(limit=ALL)))
            for message in messages[where] if conversation.takes_rounds else ():
                round_ = self.run(world.store.round(where, message.seq))
                if round_ is not None:
                    rounds[where, message.seq] = round_
        return Picture(
            now=world.now,
            terms=world.terms,
            conversations=conversations,
            members=members,
            messages=messages,
            turns=self.run(world.store.turns(limit=ALL)),
            rounds=rounds,
            participants={p.id: p for p in self.run(world.store.participants())},
        )

    def ledger(self) -> Ledger:
        found: Ledger = self.run(self.world.store.preview(ReadLedger(), self.picture()))
        return found

    def revisions(self, where: ConversationId) -> list[Revision]:
        found: list[Revision] = self.run(self.world.store.revisions(where))
        return found


DECK: tuple[str, ...] = tuple(
    name
    for name, cards in {
        "nothing": 1, "post": 13, "say": 26, "pass": 16, "claim": 9, "fail": 2, "expire": 1, "tool": 6, "own_post": 3,
        "wait": 9, "wait_long": 1, "delete": 3, "delete_any": 2, "delete_owed": 3, "edit": 1, "ask": 5, "step": 4,
        "interrupt": 2, "interrupt_post": 4, "interrupt_running": 3,
        "leave": 2, "join": 3, "comes": 4, "goes": 4, "crash": 3, "release": 1, "renew": 1, "pause": 2,
        "resume": 2, "go_on": 4, "archive": 2, "configure": 2, "check": 3, "reload": 2,
    }.items()
    for _ in range(cards)
)  # fmt: skip
