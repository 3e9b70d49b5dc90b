"""T-MODEL: random acts on a store and on a few dicts and lists, which must agree about everything.

Posts and their repeats, edits and deletes with right and stale versions, joining and leaving, claiming, losing and
finishing turns, archiving, reading, searching. On SQLite also a crash: the files are copied as they lie there and
the copy is opened, which is what the next process would find; and a second store on the same home, as a second
process would have it, which may take over at any moment.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import Struct

from moot.errors import Closed, Conflict, MootError, NotFound, NotPermitted, Stale
from moot.flow import (
    archive,
    claim,
    edit_message,
    finish,
    join,
    leave,
    move_bookmarks,
    open_bookmark,
    post,
    release,
    unarchive,
)
from moot.model.conversation import GroupSettings, ReplyStrategy
from moot.model.ids import HostId, ParticipantId, TurnId
from moot.model.limits import Limits
from moot.model.query import Query
from moot.model.records.bookmark import Bookmark
from moot.model.turn import OPEN, Turn, TurnState
from moot.ports import Page
from moot.rules import audit
from moot.stores.sqlite.store import SqliteStore
from tests.support.history import at_once
from tests.support.processes import SCALE
from tests.support.world import World

USER = ParticipantId("user")
AGENTS = ("ann", "ben")
DIRECT = {"with-ann": "ann", "with-ben": "ben"}
GROUP = "group"
ROOMS = (*DIRECT, GROUP)
WORDS = ("apple", "bread", "cheese", "dates", "eggs", "Fig", "été")
HOST = {name: HostId(f"host-{name}") for name in AGENTS}


class Said(Struct):
    """A message as the model knows it."""

    author: str
    text: str
    version: int = 1
    deleted: bool = False
    key: str = ""


class Asked(Struct):
    """The open turn of a direct conversation's agent."""

    calls: list[int]
    running: bool = False
    lo: int = 0
    hi: int = 0
    turn: Turn | None = None
    lost: int = 0
    """How often its host gave it back."""


class Room(Struct):
    """A conversation as the model knows it."""

    said: list[Said] = []
    members: list[str] = []
    cursors: dict[str, int] = {}
    asked: Asked | None = None
    archived: bool = False


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
rooms = st.sampled_from(ROOMS)
directs = st.sampled_from(tuple(DIRECT))
numbers = st.integers(0, 30)


class Model(RuleBasedStateMachine):
    """Both sides of the comparison. `backend` is the store under test."""

    backend = "memory"

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="moot-model-"))
        self.lives = 0
        self.loop = asyncio.new_event_loop() if self.backend == "sqlite" else None
        self.rooms: dict[str, Room] = {}
        self.keys: dict[str, tuple[str, int, str]] = {}
        self.marks: dict[tuple[str, str], tuple[int, int]] = {}
        """Room and client: how far it has read, and how many messages that were."""
        self.ended: list[Turn] = []
        self.world = self.new_world()
        self.neighbour: Any = None
        """A second store on the same home."""

    def new_world(self) -> World:
        groups = GroupSettings(reply_strategy=ReplyStrategy.MENTION_ONLY)
        limits = Limits(agent_turns_per_hour=100_000)
        return World(self.backend, self.folder / str(self.lives), groups, limits)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return at_once(work) if self.loop is None else self.loop.run_until_complete(work)

    def do(self, verb: Any, command: Any) -> Any:
        return self.run(self.world.do(verb, command))

    def refused(self, error: type[MootError], verb: Any, command: Any) -> None:
        with pytest.raises(error):
            self.do(verb, command)

    def close(self) -> None:
        self.run(self.world.close())
        if self.neighbour is not None:
            self.run(self.neighbour.close())
            self.neighbour = None

    @initialize()
    def begin(self) -> None:
        self.run(self.world.open())
        self.run(self.world.enrol(list(AGENTS), [], []))
        for name, agent in DIRECT.items():
            self.run(self.world.make(name, ["user", agent], "direct", {}))
            self.rooms[name] = Room(members=["user", agent], cursors={"user": 0, agent: 0})
        self.run(self.world.make(GROUP, [], "group", {}))
        self.rooms[GROUP] = Room(members=["user"], cursors={"user": 0})

    def teardown(self) -> None:
        if self.rooms:
            self.everything_agrees()
            self.close()
        if self.loop is not None:
            self.loop.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- speaking --------------------------------------------------------------------------------------

    def posting(self, name: str, text: str, key: str, reply_to: int = 0) -> post.Post:
        return post.posting(USER, self.world.where[name], text, key=key, reply_to=reply_to)

    @rule(name=rooms, text=texts, keyed=st.booleans())
    def posts(self, name: str, text: str, keyed: bool) -> None:
        room = self.rooms[name]
        key = f"k{len(self.keys)}" if keyed else ""
        command = self.posting(name, text, key)
        if room.archived:
            self.refused(Closed, post, command)
            return
        receipt = self.do(post, command).receipt()
        room.said.append(Said("user", text, key=key))
        assert (receipt.seq, receipt.hop, receipt.replayed) == (len(room.said), 0, False)
        assert receipt.root == receipt.id
        if keyed:
            self.keys[key] = (name, receipt.seq, text)
        if name in DIRECT:
            self.call(room, receipt.seq)

    def call(self, room: Room, seq: int) -> None:
        if room.asked is None:
            room.asked = Asked(calls=[seq])
        else:
            room.asked.calls.append(seq)

    @precondition(lambda self: self.keys)
    @rule(which=numbers)
    def repeats(self, which: int) -> None:
        """The same key and body: the first answer, and nothing new, whatever became of the room."""
        key, (name, seq, text) = self.pick(which)
        receipt = self.do(post, self.posting(name, text, key)).receipt()
        assert (receipt.seq, receipt.replayed) == (seq, True)

    @precondition(lambda self: self.keys)
    @rule(which=numbers, other=rooms)
    def misuses_a_key(self, which: int, other: str) -> None:
        """The same key for something else, or somewhere else: refused, nothing stored."""
        key, (name, _, text) = self.pick(which)
        if other == name:
            text += " indeed"
        self.refused(Conflict, post, self.posting(other, text, key))

    def pick(self, which: int) -> tuple[str, tuple[str, int, str]]:
        return list(self.keys.items())[which % len(self.keys)]

    @rule(name=rooms, beyond=st.integers(1, 5))
    def replies_to_nothing(self, name: str, beyond: int) -> None:
        room = self.rooms[name]
        command = self.posting(name, "about that", "", len(room.said) + beyond)
        self.refused(Closed if room.archived else NotFound, post, command)

    @rule(name=rooms, which=numbers, text=st.none() | texts, stale=st.integers(-1, 1))
    def revises(self, name: str, which: int, text: str | None, stale: int) -> None:
        """An edit, or with no text a delete, by the person, perhaps of a version that is gone."""
        room = self.rooms[name]
        seq = which % (len(room.said) + 1)
        said = room.said[seq - 1] if seq else Said("user", "")
        command = edit_message.EditMessage(USER, self.world.where[name], seq, said.version + stale, text)
        error = self.why_not_revised(room, said, seq, text, stale)
        if error is not None:
            self.refused(error, edit_message, command)
            return
        assert self.do(edit_message, command).version == said.version + 1
        said.text, said.version, said.deleted = text or "", said.version + 1, text is None
        if text is None:
            self.withdraw(room, seq)

    def why_not_revised(
        self, room: Room, said: Said, seq: int, text: str | None, stale: int
    ) -> type[MootError] | None:
        if room.archived:
            return Closed
        if seq == 0:
            return NotFound
        if said.author != "user" and text is not None:
            return NotPermitted
        return Conflict if said.deleted or stale else None

    def withdraw(self, room: Room, seq: int) -> None:
        """A turn owed only by what was deleted is over."""
        asked = room.asked
        if asked is not None and seq in asked.calls:
            asked.calls.remove(seq)
            if not asked.calls:
                self.over(room)

    def over(self, room: Room) -> None:
        assert room.asked is not None
        if room.asked.turn is not None:
            self.ended.append(room.asked.turn)
        room.asked = None

    # --- who is there ----------------------------------------------------------------------------------

    @rule(agent=st.sampled_from(AGENTS))
    def joins(self, agent: str) -> None:
        room = self.rooms[GROUP]
        command = join.Join(USER, self.world.where[GROUP], agent)
        if room.archived:
            self.refused(Closed, join, command)
            return
        self.do(join, command)
        if agent not in room.members:
            room.members.append(agent)
            room.cursors[agent] = len(room.said)
            room.said.append(Said("system", f"[{agent} joined]"))

    @rule(agent=st.sampled_from(AGENTS))
    def leaves(self, agent: str) -> None:
        room = self.rooms[GROUP]
        command = leave.Leave(USER, self.world.where[GROUP], agent)
        if room.archived or agent not in room.members:
            self.refused(Closed if room.archived else NotFound, leave, command)
            return
        self.do(leave, command)
        room.members.remove(agent)
        del room.cursors[agent]
        room.said.append(Said("system", f"[{agent} left]"))

    @rule(name=rooms, back=st.booleans())
    def archives(self, name: str, back: bool) -> None:
        room = self.rooms[name]
        where = self.world.where[name]
        if back:
            self.do(unarchive, unarchive.Unarchive(USER, where, name))
        else:
            self.do(archive, archive.Archive(USER, where))
        if not back and not room.archived and room.asked is not None:
            self.over(room)
        room.archived = not back

    @rule(name=rooms, client=st.sampled_from(("phone", "desk")), after=st.none() | numbers)
    def opens_a_bookmark(self, name: str, client: str, after: int | None) -> None:
        head = len(self.rooms[name].said)
        answer = self.do(
            open_bookmark, open_bookmark.OpenBookmark(USER, self.world.where[name], client, after)
        )
        assert answer.known == ((name, client) in self.marks)
        begins = head if after is None else min(after, head)
        expected = self.marks.setdefault((name, client), (begins, 0))
        assert (answer.bookmark.seq, answer.bookmark.frames) == expected

    @rule(name=rooms, client=st.sampled_from(("phone", "desk")), seq=numbers)
    def moves_a_bookmark(self, name: str, client: str, seq: int) -> None:
        """One that nobody opened is not made by being moved."""
        reached = min(seq, len(self.rooms[name].said))
        mark = Bookmark(USER, client, self.world.where[name], reached, frames=reached + 1)
        self.do(move_bookmarks, move_bookmarks.MoveBookmarks((mark,)))
        if (name, client) in self.marks:
            self.marks[name, client] = (reached, reached + 1)

    # --- turns -----------------------------------------------------------------------------------------

    def open_turn(self, name: str) -> Turn | None:
        turns = self.run(self.world.store.turns(conversation=self.world.where[name]))
        mine = [turn for turn in turns if turn.state in OPEN]
        assert len(mine) <= 1
        return mine[0] if mine else None

    @rule(name=directs)
    def claims(self, name: str) -> None:
        """The agent takes its turn, over everything since its cursor; a second claim gets nothing."""
        room, agent = self.rooms[name], DIRECT[name]
        turn = self.open_turn(name)
        assert (turn is None) == (room.asked is None)
        if turn is None or room.asked is None:
            return
        answer = self.do(claim, claim.Claim(turn.id, HOST[agent]))
        if room.asked.running:
            assert answer.turn is None
            return
        room.asked.running = True
        room.asked.lo, room.asked.hi = room.cursors[agent], len(room.said)
        room.asked.turn = answer.turn
        assert (answer.turn.lo, answer.turn.hi) == (room.asked.lo, room.asked.hi)
        assert answer.turn.state is TurnState.RUNNING

    @precondition(lambda self: any(room.asked and room.asked.running for room in self.rooms.values()))
    @rule(name=directs, text=st.none() | texts, fails=st.booleans())
    def finishes(self, name: str, text: str | None, fails: bool) -> None:
        room, agent = self.rooms[name], DIRECT[name]
        asked = room.asked
        if asked is None or not asked.running or asked.turn is None:
            return
        outcome: finish.Outcome = finish.Failed("boom") if fails else finish.Said(text)
        done = self.do(finish, finish.Finish(asked.turn.id, asked.turn.fence, outcome))
        room.cursors[agent] = asked.hi
        if fails:
            room.said.append(Said("system", f"[{agent} encountered an error]"))
        elif text is not None:
            room.said.append(Said(agent, text))
            assert done.message.seq == len(room.said)
            assert (done.message.hop, done.message.turn) == (1, asked.turn.id)
        left = [seq for seq in asked.calls if seq > asked.hi]
        self.over(room)
        room.asked = Asked(calls=left) if left else None

    @precondition(lambda self: any(room.asked and room.asked.running for room in self.rooms.values()))
    @rule(name=directs, taken=st.booleans())
    def is_given_back(self, name: str, taken: bool) -> None:
        """Its host goes in good order: claimable again, and the old fence is worth nothing, least of all when somebody
        else has taken it."""
        room = self.rooms[name]
        if room.asked is None or not room.asked.running or room.asked.turn is None:
            return
        turn = room.asked.turn
        self.do(release, release.Release(turn.id, turn.fence))
        self.ended.append(turn)
        room.asked.running, room.asked.turn = False, None
        if taken:
            self.claims(name)
            self.refused(Stale, finish, finish.Finish(turn.id, turn.fence, finish.Said("too late")))
            self.refused(Stale, release, release.Release(turn.id, turn.fence))

    @precondition(lambda self: self.ended)
    @rule(which=numbers, text=texts)
    def finishes_late(self, which: int, text: str) -> None:
        """A turn that ended, or is somebody else's by now, cannot be finished with what one knew of it."""
        turn = self.ended[which % len(self.ended)]
        self.refused(Stale, finish, finish.Finish(turn.id, turn.fence, finish.Said(text)))

    @rule()
    def finishes_nothing(self) -> None:
        self.refused(NotFound, finish, finish.Finish(TurnId(10**9), 1, finish.Said("boo")))

    # --- reading ---------------------------------------------------------------------------------------

    @rule(
        name=rooms, after=numbers, before=st.none() | numbers, limit=st.integers(1, 40), newest=st.booleans()
    )
    def reads(self, name: str, after: int, before: int | None, limit: int, newest: bool) -> None:
        page = Page(after=after, before=before, limit=limit, newest=newest)
        found = self.run(self.world.store.messages(self.world.where[name], page))
        seqs = [
            n for n in range(1, len(self.rooms[name].said) + 1) if n > after and (not before or n < before)
        ]
        if before == 0:
            seqs = []
        assert [m.seq for m in found] == (seqs[-limit:] if newest else seqs[:limit])
        for message in found:
            self.same(message, self.rooms[name].said[message.seq - 1])

    @rule(word=st.sampled_from(WORDS))
    def searches(self, word: str) -> None:
        """Everything that holds the word now, in whatever room, and nothing that held it once."""
        hits = self.run(self.world.store.search(Query(terms=(word,)), 10_000))
        found = sorted((m.conversation, m.seq) for m, _ in hits)
        assert found == sorted(
            (self.world.where[name], seq)
            for name, room in self.rooms.items()
            for seq, said in enumerate(room.said, 1)
            if word in said.text.split()
        )

    @rule(
        query=st.sampled_from(
            ['"', "a AND", "NEAR(", "x*", "-a", "^", "(", "a:b", "'", "", " ", '""', "\x00"]
        )
    )
    def searches_strangely(self, query: str) -> None:
        self.run(self.world.store.search(Query(terms=(query,)), 10))

    # --- lives -----------------------------------------------------------------------------------------

    @precondition(lambda self: self.backend == "sqlite")
    @rule()
    def crashes(self) -> None:
        """What lies on the disk at this moment is what the next process finds."""
        before, places = self.world, self.world.where
        self.lives += 1
        self.world = self.new_world()
        self.world.folder.mkdir()
        for name in ("moot.db", "moot.db-wal"):
            if (before.folder / name).exists():
                shutil.copyfile(before.folder / name, self.world.folder / name)
        world, self.world = self.world, before
        self.close()
        self.world = world
        self.world.where, self.world.agents, self.world.now = places, before.agents, before.now
        self.run(self.world.open())

    @rule()
    def restarts(self) -> None:
        self.run(self.world.restart())

    @precondition(lambda self: self.backend == "sqlite")
    @rule()
    def hands_over(self) -> None:
        """From here on the other process acts, until it hands back."""
        if self.neighbour is None:
            self.neighbour = self.run(SqliteStore.open(self.world.folder, self.world.source))
        self.world.store, self.neighbour = self.neighbour, self.world.store

    # --- agreeing --------------------------------------------------------------------------------------

    def same(self, message: Any, said: Said) -> None:
        assert (message.author, message.text, message.version) == (said.author, said.text, said.version)
        assert bool(message.metadata.get("deleted")) is said.deleted
        assert message.key == said.key

    @invariant()
    def heads_and_turns_agree(self) -> None:
        for name, room in self.rooms.items():
            known = self.run(self.world.store.conversation(self.world.where[name]))
            assert (known.head, known.archived) == (len(room.said), room.archived)
            turn = self.open_turn(name)
            if room.asked is None:
                assert turn is None
            else:
                assert turn is not None
                assert turn.state is (TurnState.RUNNING if room.asked.running else TurnState.READY)
                known_calls = [call.seq for call in turn.calls]
                assert known_calls == room.asked.calls[-len(known_calls) :], "a turn knows its newest calls"

    def everything_agrees(self) -> None:
        for name, room in self.rooms.items():
            where = self.world.where[name]
            known = self.run(self.world.store.conversation(where))
            messages = self.run(self.world.messages(name))
            assert [m.seq for m in messages] == list(range(1, len(room.said) + 1))
            for message, said in zip(messages, room.said, strict=True):
                self.same(message, said)
            members = self.run(self.world.store.members(where))
            assert {m.participant: m.cursor for m in members} == room.cursors
            assert [m.participant for m in members] == room.members
            revisions = self.run(self.world.store.revisions(where))
            assert audit.verify(messages, revisions, known.chain, known.chain_length) is None


class OnSqlite(Model):
    backend = "sqlite"


def chances(examples: int, steps: int) -> settings:
    """MOOT_NO_SHRINK is for tools/teeth.py, which wants a yes or no and not the smallest example."""
    return settings(
        max_examples=examples * SCALE,
        stateful_step_count=steps,
        deadline=None,
        derandomize=SCALE == 1,
        phases=[Phase.explicit, Phase.generate] if "MOOT_NO_SHRINK" in os.environ else list(Phase),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


TestOnMemory: Any = Model.TestCase
TestOnMemory.settings = chances(400, 60)
TestOnMemory.pytestmark = [pytest.mark.timeout(300 * SCALE)]
TestOnSqlite: Any = OnSqlite.TestCase
TestOnSqlite.settings = chances(40, 60)
TestOnSqlite.pytestmark = [pytest.mark.timeout(300 * SCALE)]
