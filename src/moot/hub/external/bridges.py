"""`hub.bridges`: how the owner manages bridged chats: pairs them, links accounts, sends posts again."""

from asyncio import gather
from hashlib import sha256
from itertools import chain
from secrets import choice
from typing import Final

from moot import shapes
from moot.errors import BadValue, NotPermitted
from moot.flow import issue_code, meet_account, move_post, pair_chat, record_arrival
from moot.hub.core import Core
from moot.hub.external.bridge_records import BridgeRecords
from moot.model.entrance import DoorName
from moot.model.ids import ParticipantId
from moot.model.records.chat_apps.bridge import (
    ARRIVALS,
    BRIDGE_ACCOUNTS,
    BRIDGE_CHATS,
    BRIDGE_LEASES,
    BRIDGE_POSTS,
    ArrivalState,
    BridgePostState,
    Piece,
)
from moot.sdk.bridges import BridgeCalls

BRIDGES: Final = (DoorName.TELEGRAM.value, DoorName.DISCORD.value)
LETTERS: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""The characters of codes: none that sounds or looks like another."""
CODE_LENGTH: Final = 10
NOT_THERE: Final = (
    BridgePostState.QUEUED,
    BridgePostState.SENDING,
    BridgePostState.UNCONFIRMED,
    BridgePostState.DEAD,
)


class Bridges(BridgeCalls):
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me
        self.records = BridgeRecords(core)

    async def chats(self, bridge: str | None = None) -> list[shapes.ChatElsewhere]:
        self._for_owner()
        chats = await self._core.parts.store.records(BRIDGE_CHATS.all())
        return [shapes.ChatElsewhere.of(chat) for chat in chats if bridge in (None, chat.bridge)]

    async def accounts(self) -> list[shapes.LinkedAccount]:
        self._for_owner()
        accounts = await self._core.parts.store.records(BRIDGE_ACCOUNTS.all())
        return [shapes.LinkedAccount.of(account, self._core.directory.name) for account in accounts]

    async def code(self, bridge: str, *, seconds: float = 900.0) -> shapes.NewCode:
        code = "".join(choice(LETTERS) for _ in range(CODE_LENGTH))
        command = issue_code.IssueCode(self._me, _bridge(bridge), digest_of(code), seconds)
        issued = await self._core.do(issue_code, command)
        return shapes.NewCode(bridge=bridge, code=code, until=shapes.when(issued.until))

    async def bind(self, bridge: str, chat: str, conversation: str) -> shapes.ChatElsewhere:
        self._for_owner()
        where = await self._core.directory.conversation(conversation)
        bound = await self._core.do(pair_chat, pair_chat.PairChat(self._me, _bridge(bridge), chat, where.id))
        members = await self._core.parts.store.members(where.id)
        names = ", ".join(self._core.directory.name(one.participant) for one in members)
        text = f"This chat now continues {where.name}, with {names or 'nobody'}."
        key = f"bound/{bound.chat}/{where.id}/{bound.updated_at}"
        command = record_arrival.RecordArrival(
            bound.bridge, key, bound.chat, "", ArrivalState.DONE, answers=(Piece(text),)
        )
        await self._core.do(record_arrival, command)
        return shapes.ChatElsewhere.of(bound)

    async def unpair(self, bridge: str, chat: str) -> shapes.ChatElsewhere:
        command = pair_chat.PairChat(self._me, _bridge(bridge), chat)
        return shapes.ChatElsewhere.of(await self._core.do(pair_chat, command))

    async def link(self, bridge: str, account: str, person: str) -> shapes.LinkedAccount:
        return await self._linked(
            meet_account.MeetAccount(_bridge(bridge), account, author=self._me, person=person)
        )

    async def unlink(self, bridge: str, account: str) -> shapes.LinkedAccount:
        return await self._linked(
            meet_account.MeetAccount(_bridge(bridge), account, author=self._me, unlink=True)
        )

    async def _linked(self, command: meet_account.MeetAccount) -> shapes.LinkedAccount:
        account = await self.records.meet(command)
        return shapes.LinkedAccount.of(account, self._core.directory.name)

    async def posts(self, state: str | None = None) -> list[shapes.OutgoingPost]:
        self._for_owner()
        names = {each.value for each in BridgePostState}
        if state is not None and state not in names:
            expected = f"expected one of {', '.join(sorted(names))}"
            raise BadValue(f'unknown state of a post "{state}"', detail=expected)
        states = NOT_THERE if state is None else (BridgePostState(state),)
        store = self._core.parts.store
        by_state = await gather(*(store.records(BRIDGE_POSTS.where(state=one)) for one in states))
        posts = sorted(chain.from_iterable(by_state), key=lambda post: post.created_at)
        return [shapes.OutgoingPost.of(post) for post in posts]

    async def resend(self, id: str) -> shapes.OutgoingPost:
        return await self._decided(id, BridgePostState.QUEUED)

    async def drop(self, id: str) -> shapes.OutgoingPost:
        return await self._decided(id, BridgePostState.DROPPED)

    async def _decided(self, id: str, to: BridgePostState) -> shapes.OutgoingPost:
        bridge = id.partition("/")[0]
        command = move_post.MovePost(id, bridge, to, author=self._me)
        return shapes.OutgoingPost.of(await self._core.do(move_post, command))

    async def dead_letters(self) -> list[shapes.UnheardMessage]:
        self._for_owner()
        arrivals = await self._core.parts.store.records(ARRIVALS.where(state=ArrivalState.DEAD))
        return [shapes.UnheardMessage.of(one) for one in arrivals]

    async def holders(self) -> list[shapes.BridgeHolder]:
        self._for_owner()
        now = self._core.parts.clock.now()
        return [
            shapes.BridgeHolder(
                bridge=lease.bridge,
                holder=lease.holder,
                until=shapes.when(lease.until),
                is_held=lease.until > now,
            )
            for lease in await self._core.parts.store.records(BRIDGE_LEASES.all())
        ]

    def _for_owner(self) -> None:
        if self._me != self._core.user:
            raise NotPermitted("only the owner may look at bridges")


def digest_of(code: str) -> str:
    """The digest under which a code is stored, however it was typed."""
    return sha256(code.strip().upper().replace("-", "").encode()).hexdigest()


def _bridge(name: str) -> str:
    if name not in BRIDGES:
        raise BadValue(f'unknown bridge "{name}"', detail=f"bridges are {', '.join(BRIDGES)}")
    return name
