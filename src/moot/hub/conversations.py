"""`hub.conversations`: make, find and change conversations."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias
from uuid import uuid4

from moot import shapes
from moot.errors import Conflict
from moot.flow import (
    archive,
    configure,
    continue_,
    create,
    dissolve,
    erase,
    interrupt,
    join,
    leave,
    mark,
    send,
    unarchive,
)
from moot.flow.create import Create
from moot.hub.archive.import_ import Import
from moot.hub.archive.validate import Checked
from moot.hub.commands.bookmarks import Bookmarks
from moot.hub.commands.values import kind_of_conversation, overrides
from moot.hub.core import Core
from moot.hub.speaker import Speaker
from moot.model.conversation import Conversation, ConversationKind, Member
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId
from moot.model.json import JsonObject
from moot.model.turn import TurnState
from moot.ports import ConversationVersion
from moot.sdk.call import in_process
from moot.sdk.conversations import ConversationCalls

MAX_UNREAD = 1000
Rows: TypeAlias = list[shapes.ListedConversation]


def seats(members: Iterable[Member]) -> dict[ConversationId, list[Member]]:
    """Members by conversation."""
    by_conversation: dict[ConversationId, list[Member]] = {}
    for member in members:
        by_conversation.setdefault(member.conversation, []).append(member)
    return by_conversation


class Conversations(ConversationCalls):
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me
        self.bookmarks = Bookmarks(core, me)

    async def create(
        self,
        name: str,
        *,
        participants: Sequence[str] = (),
        kind: str = "group",
        settings: JsonObject | None = None,
        channel: tuple[str, str] = ("", ""),
        exist_ok: bool = False,
    ) -> shapes.Conversation:
        of_kind = kind_of_conversation(kind)
        bound = await self.list(channel_type=channel[0], channel_group_id=channel[1]) if any(channel) else []
        if bound and not (exist_ok and bound[0].name == name):
            raise self._bound(bound[0])
        command = Create(
            author=self._me,
            name=name,
            participants=tuple(participants),
            kind=of_kind,
            settings=overrides(settings or {}),
            channel_type=channel[0],
            channel_group_id=channel[1],
            exist_ok=exist_ok,
        )
        return await self._core.directory.shape(await self._core.do(create, command))

    def _bound(self, to: shapes.Conversation) -> Conflict:
        """The chat already has a conversation; it is named only to callers that may know of it."""
        if self._me != self._core.user and self._core.directory.name(self._me) not in {
            p.name for p in to.participants
        }:
            return Conflict("this chat already belongs to another conversation", fix=("ask the owner",))
        return Conflict(
            f"this chat already belongs to {to.name}",
            fix=(Hint(Act.DISSOLVE, conversation=to.name),),
            conversation=to.id,
        )

    async def implicit(
        self, participants: Sequence[str], *, text: str | None = None, intent: str | None = None
    ) -> shapes.Conversation:
        command, existing = await self._existing(participants)
        if existing is None and text is not None:
            await self._refuse(command.participants, text, intent)
        conversation = existing if existing is not None else await self._core.do(create, command)
        return await self._core.directory.shape(conversation)

    @in_process("what doors listen to; whoever sends needs no conversation first")
    async def pair_with(self, name: str) -> shapes.Conversation | None:
        """The conversation with somebody, as `send` finds it: over their link, or direct; None if there is none."""
        _, existing = await self._existing([name])
        return None if existing is None else await self._core.directory.shape(existing)

    async def _existing(self, participants: Sequence[str]) -> tuple[Create, Conversation | None]:
        """The command that would create it, and the conversation if it exists: then no write is needed."""
        people = [await self._core.directory.participant(name) for name in participants]
        command = create.among(self._me, [participant.id for participant in people])
        for key in create.keys(command):
            existing = await self._core.parts.store.conversation(key)
            if existing is not None and existing.key == key:
                return command, existing
        return command, None

    async def _refuse(
        self, others: Sequence[str], text: str, intent: str | None, place: Create | None = None
    ) -> None:
        """Refuse now what would be refused there, so that no conversation is created for it."""
        message = Speaker(self._core, self._me).posting("", text, intent=intent)
        for other in others if len(others) == 1 else ():
            sending = send.sending(other, ParticipantId(other), message, place=place)
            await self._core.foresee(send, sending, is_attempt=True)

    async def ephemeral(
        self, target: str, key: str = "", *, text: str | None = None, intent: str | None = None
    ) -> shapes.Conversation:
        participant = await self._core.directory.participant(target)
        command = Create(
            author=self._me,
            name=f"send-{participant.id[:63]}-{uuid4().hex[:8]}",
            participants=(self._me, participant.id),
            kind=ConversationKind.EPHEMERAL,
            key=f"ephemeral:{self._me}:{key}" if key else "",
        )
        if text is not None:
            await self._refuse([participant.id], text, intent, command)
        return await self._core.directory.shape(await self._core.do(create, command))

    @in_process("doors check with it before they serve kept messages")
    async def version(self, ref: str, member: str) -> ConversationVersion:
        """How far a conversation has come, and whether somebody, by id, is in it."""
        return await self._core.directory.version(ref, ParticipantId(member))

    async def get(self, ref: str) -> shapes.Conversation:
        return await self._core.directory.shape(await self._core.directory.conversation(ref))

    async def list(
        self,
        *,
        archived: bool = False,
        kind: str | None = None,
        channel_type: str | None = None,
        channel_group_id: str | None = None,
    ) -> list[shapes.Conversation]:
        store, shape_with = self._core.parts.store, self._core.directory.shape_with
        conversations = await store.conversations(archived=archived, kind=kind)
        members = seats(await store.members_everywhere(archived=archived))
        return [
            shape_with(conversation, members.get(conversation.id, ()))
            for conversation in conversations
            if channel_type in (None, conversation.channel_type)
            and channel_group_id in (None, conversation.channel_group_id)
        ]

    async def overview(self, *, archived: bool = False, kind: str | None = None) -> Rows:
        rows = await self._core.parts.store.glances(self._me, archived=archived, limit=MAX_UNREAD)
        glances = {glance.conversation: glance for glance in rows}
        return [
            shapes.ListedConversation.of_glance(
                one, glances.get(ConversationId(one.id)), self._core.directory.name
            )
            for one in await self.list(archived=archived, kind=kind)
        ]

    async def join(self, ref: str, name: str) -> shapes.Conversation:
        await self._core.do(join, join.Join(self._me, ref, name))
        return await self.get(ref)

    async def leave(self, ref: str, name: str) -> None:
        await self._core.do(leave, leave.Leave(self._me, ref, name))

    async def rename(self, ref: str, name: str) -> shapes.Conversation:
        renamed = await self._core.do(configure, configure.Configure(self._me, ref, name=name))
        return await self._core.directory.shape(renamed)

    async def configure(self, ref: str, **settings: object) -> shapes.Conversation:
        command = configure.Configure(self._me, ref, settings=overrides(settings))
        return await self._core.directory.shape(await self._core.do(configure, command))

    async def archive(self, ref: str) -> None:
        await self._core.do(archive, archive.Archive(self._me, ref))

    async def dissolve(self, ref: str) -> None:
        await self._core.do(dissolve, dissolve.Dissolve(self._me, ref))

    async def unarchive(self, ref: str) -> None:
        conversation = await self._core.parts.store.conversation(ref)
        name = conversation.name if conversation is not None else ""
        await self._core.do(unarchive, unarchive.Unarchive(self._me, ref, name))

    async def delete(self, ref: str) -> None:
        await self._core.do(erase, erase.Erase(self._me, ref))

    @in_process("reads files on the hub's own machine")
    def importing(self, checked: Checked) -> Import:
        """An import of a checked export, to run or to preview."""
        return Import(self._core, self._me, checked)

    async def resume(self, ref: str) -> bool:
        return bool(await self._core.do(continue_, continue_.GoOn(self._me, ref)))

    async def stop(self, ref: str, agent: str | None = None) -> tuple[str, ...]:
        conversation = await self._core.directory.conversation(ref)
        participant_id = (await self._core.directory.participant(agent)).id if agent else None
        running = await self._core.parts.store.turns(
            conversation=conversation.id, states=(TurnState.RUNNING,)
        )
        command = interrupt.Interrupt(self._me, conversation.id, participant_id, self._core.partials())
        stopped = await self._core.do(interrupt, command)
        return tuple(self._core.directory.name(turn.agent) for turn in running if turn.id in stopped)

    async def read(self, ref: str, seq: int) -> None:
        await self._core.do(mark, mark.MarkRead(self._me, ref, seq))
