"""What a running bridge reads and writes: chats, accounts, arrivals, posts and its lease.

Above: bridges/, in the hub's own process. Below: the verbs. Not here: what the owner asks for (bridges.py).
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import structs

from moot import shapes
from moot.flow import (
    find_chat,
    hear,
    hold_bridge,
    meet_account,
    move_post,
    pace_guest,
    pair_chat,
    plan_posts,
    record_arrival,
    revise_post,
    update_notice,
)
from moot.flow.find_chat import FindChat
from moot.flow.hear import Hear, HeardOnce
from moot.flow.hold_bridge import HoldBridge
from moot.flow.meet_account import MeetAccount
from moot.flow.move_post import MovePost
from moot.flow.pace_guest import PaceGuest
from moot.flow.pair_chat import PairChat
from moot.flow.plan_posts import PlanPosts
from moot.flow.post import Post
from moot.flow.record_arrival import RecordArrival, Recorded
from moot.flow.revise_post import RevisePost
from moot.flow.update_notice import UpdateNotice
from moot.hub.core import Core
from moot.hub.queries import outcomes
from moot.hub.speaker import Speaker
from moot.model.ids import ConversationId, ParticipantId, parse_address
from moot.model.message import Message
from moot.model.participant import Participant
from moot.model.records.chat_apps.bridge import (
    ARRIVALS,
    BRIDGE_ACCOUNTS,
    BRIDGE_CHATS,
    BRIDGE_POSTS,
    PAIRING_CODES,
    BridgeAccount,
    BridgeArrival,
    BridgeChat,
    BridgeLease,
    BridgePost,
    BridgePostState,
    queue_of,
)
from moot.model.records.decision import DECISIONS, DecisionState, PersonsDecision
from moot.model.records.record import Lookup
from moot.model.turn import UNCLAIMED, Turn
from moot.ports import Clock, Page

OUTCOMES: Final = (BridgePostState.SENT, BridgePostState.UNCONFIRMED, BridgePostState.DEAD)


class BridgeRecords:
    def __init__(self, core: Core) -> None:
        self._core = core

    @property
    def clock(self) -> Clock:
        return self._core.parts.clock

    @property
    def owner(self) -> ParticipantId:
        return self._core.user

    # --- reading -------------------------------------------------------------------------------------------

    async def chat(self, bridge: str, chat: str) -> BridgeChat | None:
        return next(iter(await self._core.parts.store.records(BRIDGE_CHATS.one(bridge, chat))), None)

    async def chats(self, bridge: str) -> list[BridgeChat]:
        chats = await self._core.parts.store.records(BRIDGE_CHATS.all())
        return [chat for chat in chats if chat.bridge == bridge]

    async def chats_of(self, bridge: str, conversation: ConversationId) -> list[BridgeChat]:
        """Those that are bound to a conversation."""
        chats = await self._core.parts.store.records(BRIDGE_CHATS.where(conversation=conversation))
        return [chat for chat in chats if chat.bridge == bridge]

    async def account(self, bridge: str, account: str) -> BridgeAccount | None:
        accounts = await self._core.parts.store.records(BRIDGE_ACCOUNTS.one(bridge, account))
        return next(iter(accounts), None)

    async def arrival(self, bridge: str, key: str) -> BridgeArrival | None:
        return next(iter(await self._core.parts.store.records(ARRIVALS.one(bridge, key))), None)

    async def queue(self, bridge: str, chat: str) -> list[BridgePost]:
        """What waits to be sent to a chat, in the order in which it was said."""
        posts = await self._core.parts.store.records(BRIDGE_POSTS.where(queue=queue_of(bridge, chat)))
        return sorted(posts, key=lambda post: post.place)

    async def queued_chats(self, bridge: str) -> set[str]:
        """The chats for which something waits to be sent."""
        posts = await self._core.parts.store.records(BRIDGE_POSTS.where(state=BridgePostState.QUEUED))
        return {post.chat for post in posts if post.bridge == bridge}

    async def posts(self, lookup: Lookup[BridgePost]) -> list[BridgePost]:
        return await self._core.parts.store.records(lookup)

    async def sent_as(
        self, bridge: str, chat: str, external: str, *, by: str | None = None
    ) -> BridgePost | None:
        """The post that a chat app knows by this id; where ids differ per account, the one by this agent's bot."""
        posts = (
            await self._core.parts.store.records(BRIDGE_POSTS.where(external=external)) if external else []
        )
        here = [post for post in posts if (post.bridge, post.chat) == (bridge, chat)]
        return next((post for post in here if by in (None, post.speaker)), None)

    async def asking(self, message: Message) -> PersonsDecision | None:
        """The decision that a message asks for, while it is open."""
        decisions = await self._core.parts.store.records(DECISIONS.where(by=message.author))
        now = self.clock.now()
        return next(
            (
                one
                for one in decisions
                if (one.conversation, one.seq) == (message.conversation, message.seq)
                and one.state_at(now) is DecisionState.OPEN
            ),
            None,
        )

    async def decision(self, id: str) -> PersonsDecision | None:
        """A decision, while it is open."""
        decisions = await self._core.parts.store.records(DECISIONS.one(id))
        return next((one for one in decisions if one.state_at(self.clock.now()) is DecisionState.OPEN), None)

    async def began_with(self, decision: PersonsDecision) -> Message | None:
        """The message that set off the chain in which somebody is asked to decide."""
        store = self._core.parts.store
        question = await store.message(decision.conversation, decision.seq)
        return await store.message(*parse_address(question.root)) if question is not None else None

    async def said_after(self, conversation: ConversationId, seq: int, limit: int = 100) -> list[Message]:
        return await self._core.parts.store.messages(conversation, Page(after=seq, limit=limit))

    async def message(self, conversation: ConversationId, seq: int) -> Message | None:
        return await self._core.parts.store.message(conversation, seq)

    async def became(self, message: Message) -> BridgeArrival | None:
        """What came in and became this message."""
        address = f"{message.conversation}:{message.seq}"
        return next(iter(await self._core.parts.store.records(ARRIVALS.where(became=address))), None)

    async def unclaimed(self, conversation: ConversationId) -> list[Turn]:
        """Turns that nobody has begun."""
        return await self._core.parts.store.turns(conversation=conversation, states=tuple(UNCLAIMED))

    async def newest(self, conversation: ConversationId, limit: int) -> list[Message]:
        return await self._core.parts.store.messages(conversation, Page(newest=True, limit=limit))

    def known(self, participant_id: ParticipantId) -> Participant | None:
        return self._core.directory.by_id(participant_id)

    def name(self, participant_id: ParticipantId) -> str:
        return self._core.directory.name(participant_id)

    # --- writing -------------------------------------------------------------------------------------------

    async def find(self, command: FindChat) -> BridgeChat:
        return await self._core.do(find_chat, command)

    async def pair(self, command: PairChat) -> BridgeChat:
        return await self._core.do(pair_chat, command)

    async def meet(self, command: MeetAccount) -> BridgeAccount:
        account = await self._core.do(meet_account, command)
        if self._core.directory.by_id(account.participant) is None:
            await self._core.directory.refresh()
        return account

    async def hear(self, command: Hear) -> HeardOnce:
        return await self._core.do(hear, command)

    async def record(self, command: RecordArrival) -> Recorded:
        return await self._core.do(record_arrival, command)

    async def plan(self, command: PlanPosts) -> BridgeChat | None:
        return await self._core.do(plan_posts, command)

    async def move(self, command: MovePost) -> BridgePost:
        post = await self._core.do(move_post, command)
        trace = self._core.trace_post
        is_change = post.state is BridgePostState.SENT and not command.external
        if trace is not None and post.state in OUTCOMES and post.seq and not is_change:
            message = await self._core.parts.store.message(post.conversation, post.seq)
            if message is not None:
                trace(post, message.root)
        return post

    async def revise(self, command: RevisePost) -> BridgePost | None:
        return await self._core.do(revise_post, command)

    async def notify(self, command: UpdateNotice) -> BridgeChat | None:
        return await self._core.do(update_notice, command)

    async def pace(self, command: PaceGuest) -> bool:
        return await self._core.do(pace_guest, command)

    async def hold(self, command: HoldBridge) -> BridgeLease:
        return await self._core.do(hold_bridge, command)

    async def coded_at(self, bridge: str) -> dict[str, float]:
        """Chat → when the code that paired it was made, as long as the code is kept."""
        codes = await self._core.parts.store.records(PAIRING_CODES.all())
        used = sorted((code.created_at, code.used_by) for code in codes if code.bridge == bridge)
        return {chat: at for at, chat in used if chat}

    async def is_usable(self, bridge: str, digest: str) -> bool:
        """Whether a code pairs a chat now; the decision that pairs it looks again."""
        codes = await self._core.parts.store.records(PAIRING_CODES.one(digest))
        now = self.clock.now()
        return any(code.bridge == bridge and not code.used_by and code.until > now for code in codes)

    def posting(self, author: ParticipantId, conversation: str, text: str, **fields: Any) -> Post:
        """A person's message, checked and ready for `hear`."""
        return Speaker(self._core, author).posting(conversation, text, **fields)

    def posting_again(self, author: ParticipantId, message: shapes.Message, agents: Sequence[str]) -> Post:
        """An earlier message, put to these agents only, not to those it names."""
        fields = {"reply_to": message.seq, "force": agents, "max_turns": len(agents)}
        text, facts = outcomes.again_of(message), {"again": message.id}
        command = self.posting(author, message.conversation, text, metadata=facts, **fields)
        return structs.replace(command, mentions=())

    async def bound(self, conversations: Sequence[ConversationId]) -> set[ConversationId]:
        """Those of these conversations that exist and are not archived."""
        existing = [await self._core.parts.store.conversation(ref) for ref in conversations if ref]
        return {one.id for one in existing if one is not None and not one.archived}
