"""A world with links and tasks: who may write to whom, work that is handed down, and questions that wait.

The channel of a link is called `a-b`, in the order in which it was linked; the branch of the newest task `task`. Above:
tests/scenarios and tests/replay. Below: world.py.
"""

from __future__ import annotations

from typing import Any

from msgspec import structs

from moot.flow import create, delegate, give_up, hear_answer, link, relink, send, unlink, update_task
from moot.flow.post import ASK, posting
from moot.model.conversation import Conversation
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.participant import Kind
from moot.model.records.link import LINKS, Direction, Link, Policy, Relationship
from moot.model.records.task import TASKS, Task, TaskState
from moot.model.records.wait import WAITS, Wait
from moot.model.turn import Turn
from tests.support.world import World

USER = ParticipantId("user")
BRANCH = "task"
ASKING = HostId("h0")
"""The process in which agents wait for answers."""


class LinkedWorld(World):
    def under(self, policy: str) -> None:
        """From now on this policy holds."""
        self.terms = structs.replace(self.terms, policy=Policy(policy))
        self.source.terms = self.terms

    # --- links -----------------------------------------------------------------------------------------------

    async def link(
        self, source: str, relationship: str, target: str, *, direction: str = "two_way", on: bool = True
    ) -> Link:
        command = link.MakeLink(
            USER, source, target, Direction(direction), Relationship(relationship), enabled=on
        )
        made: Link = (await self.do(link, command)).link
        self._call(f"{source}-{target}", made.channel)
        return made

    def _call(self, name: str, where: ConversationId) -> None:
        """The newest has the name; an older one is kept beside it."""
        old = self.where.pop(name, None)
        if old is not None:
            self.where[f"{name}-{old}"] = old
        self.where[name] = where

    async def relink(self, one: str, other: str, **fields: Any) -> None:
        found = await self.link_of(one, other)
        command = relink.ChangeLink(USER, found.id, **fields)
        await self.do(relink, structs.replace(command, ends=found.ends, branches=await self._branches(found)))
        await self._find_pairs(found)

    async def unlink(self, one: str, other: str) -> None:
        found = await self.link_of(one, other)
        await self.do(unlink, unlink.Unlink(USER, found.id, found.ends, await self._branches(found)))
        await self._find_pairs(found)

    async def _find_pairs(self, cut: Link) -> None:
        """Who cuts a link tells its ends in their conversation with it, which may have been made for that."""
        for end in cut.ends:
            pair = await self._find(create.among(USER, (end,)).key)
            if pair is not None and pair.id not in self.where.values():
                self._call(f"{USER}+{end}", pair.id)

    async def _find(self, ref: str) -> Conversation | None:
        if self.backend == "rules":
            return self.store.desk.find(ref)  # type: ignore[no-any-return]
        return await self.store.conversation(ref)  # type: ignore[no-any-return]

    async def link_of(self, one: str, other: str) -> Link:
        return next(each for each in await self.links() if set(each.ends) == {one, other})

    async def links(self) -> list[Link]:
        found: list[Link] = await self.store.records(LINKS.all())
        return found

    async def _branches(self, found: Link) -> tuple[Any, ...]:
        return tuple(
            task.conversation for task in await self.tasks() if task.link == found.id and task.is_open
        )

    # --- saying something to somebody ------------------------------------------------------------------------

    async def send(self, sender: str, receiver: str, text: str, **fields: Any) -> Any:
        command = send.sending(
            receiver, ParticipantId(receiver), posting(ParticipantId(sender), "", text, **fields)
        )
        posted = await self.do(send, command)
        if posted.message.conversation not in self.where.values():
            self._call(f"{sender}+{receiver}", posted.message.conversation)
        return posted.receipt()

    async def ask(self, asker: str, target: str, text: str, *, seconds: float, **fields: Any) -> Any:
        fields |= {"intent": ASK, "awaited": self.now + seconds, "waits_in": ASKING}
        return await self.send(asker, target, text, **fields)

    async def waits(self) -> list[Wait]:
        """Those who can do nothing else."""
        found: list[Wait] = await self.store.records(WAITS.all())
        return [wait for wait in found if wait.blocks(self.now)]

    async def hear(self, where: str, question: int) -> None:
        heard = await self.do(hear_answer, hear_answer.HearAnswer(self.where[where], question))
        assert heard, "there is nothing that was not heard yet"

    async def give_up(self, where: str, question: int, *, knows: bool = False) -> None:
        """Whoever asked went on, or its process is gone."""
        [message] = [message for message in await self.messages(where) if message.seq == question]
        command = give_up.GiveUp(self.where[where], question, knows=knows, root=message.root)
        try:
            await self.do(give_up, command)
        except give_up.UnheardAnswer as unheard:
            await self.do(give_up, structs.replace(command, answer=unheard.seq))

    # --- tasks -----------------------------------------------------------------------------------------------

    async def delegate(
        self,
        author: str,
        worker: str,
        text: str,
        *,
        seconds: float = 0.0,
        turn: Turn | None = None,
        **more: Any,
    ) -> Task:
        command = delegate.Delegate(
            author=ParticipantId(author),
            target=worker,
            task=text,
            deadline=self.now + seconds if seconds else 0.0,
            turn=turn.id if turn is not None else None,
            fence=turn.fence if turn is not None else 0,
            taken_for=ParticipantId(worker),
            **more,
        )
        task: Task = await self.do(delegate, command)
        self._call(BRANCH, task.conversation)
        if task.asked_in and task.asked_in not in self.where.values():
            self._call(f"{author}+{worker}", task.asked_in)
        return task

    async def update(self, author: str, task: Task, state: str, words: str = "") -> None:
        is_news = state == TaskState.WORKING
        command = update_task.UpdateTask(
            ParticipantId(author),
            task.id,
            TaskState(state),
            result="" if is_news else words,
            note=words if is_news else "",
            branch=task.conversation,
            owner=author == USER,
        )
        await self.do(update_task, command)

    async def tasks(self) -> list[Task]:
        found: list[Task] = []
        for state in TaskState:
            found += await self.store.records(TASKS.where(state=state.value))
        return sorted(found, key=lambda task: (task.created_at, len(task.id), task.id))

    async def newest_task(self) -> Task:
        return (await self.tasks())[-1]

    async def told_of(self, task: Task) -> list[tuple[str, str]]:
        """Where the hub told that a task has ended, and as what."""
        found: list[tuple[str, str]] = []
        for name in self.where:
            about = [m.metadata for m in await self.messages(name) if m.kind is Kind.SYSTEM]
            ends = [facts for facts in about if facts.get("task") == task.id and "state" in facts]
            found += [(name, facts["state"]) for facts in ends]
        return found


def named(pair: str) -> tuple[str, str]:
    """The two of "a to b"."""
    one, _, other = pair.partition(" to ")
    return one.strip(), other.strip()
