"""One of every value, with every field set to something that a careless column would lose."""

from typing import Any

from msgspec import structs

from moot.model.chain import ChainTail, Pair, Reservation, Root, Spending, SpendingKind, Spoken
from moot.model.conversation import (
    Conversation,
    ConversationKind,
    GroupOverrides,
    Member,
    ReplyStrategy,
    TurnOrder,
)
from moot.model.entrance import DoorName
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId, HostId, ParticipantId, RootId, TurnId
from moot.model.message import Message, Part, Plan, Revision, Summary
from moot.model.participant import AgentConfig, Host, Kind, Participant, Quota, Reach
from moot.model.records.audit import AuditedAct, AuditEntry, ChainHead
from moot.model.records.bookmark import Bookmark, WatchPosition
from moot.model.records.chat_apps.bridge import (
    ArrivalState,
    BridgeAccount,
    BridgeArrival,
    BridgeChat,
    BridgeLease,
    BridgePost,
    BridgePostState,
    ChatKind,
    PairingCode,
    PairingState,
)
from moot.model.records.cli_session import CliSession
from moot.model.records.dead_letter import DeadLetter
from moot.model.records.decision import DecisionId, DecisionState, PersonsDecision
from moot.model.records.link import Direction, Link, LinkId, LinkOrigin, Relationship
from moot.model.records.note import NoteAccess, NoteName, NotePermission, NoteVersion, SharedNote
from moot.model.records.outbox import OutboxRow
from moot.model.records.position import Position
from moot.model.records.relay import RelayLease
from moot.model.records.share import Share
from moot.model.records.spawned import SpawnRecord
from moot.model.records.task import Task, TaskId, TaskState
from moot.model.records.token import Token, TokenId, TokenKind, TokenScope
from moot.model.records.topic import AgentTopic, TopicTrouble, TopicTroubleKind
from moot.model.records.wait import Wait
from moot.model.round import NoTurn, Round, RoundState, Utterance
from moot.model.turn import Call, Duty, Given, RuleName, Step, Turn, TurnState

TEXT = "ünï\u2028cödé \U0001f980\u200d\u202e 'quote\" \\ %s ?1 -- ; DROP TABLE messages\n\t\r\n\u0001 e\u0301"
AT = 1_812_345_678.123457
LATER = 1_812_345_679.000001
BIG = 2**63 - 1
NESTED: dict[str, Any] = {
    "a": [1, 2.5, None, True, {"b": {"c": ["", TEXT, -BIG, 1e-300, 123456789.123456789]}}],
    "": {},
    "[\"{": "}]",
}  # fmt: skip
WHERE = ConversationId("c-ñ")
ARYA, BOB = ParticipantId("arya"), ParticipantId("bøb")
ROOT = RootId("c-ñ:7")
CALLS = (
    Call(ARYA, 7, True, 1, 2, ROOT, RuleName.MENTION, 3, AT),
    Call(BOB, BIG, False, 0, 0, RootId("c-x:1"), RuleName.REACT),
)

CONVERSATION = Conversation(
    id=WHERE,
    name=TEXT,
    kind=ConversationKind.EPHEMERAL,
    created_at=AT,
    updated_at=LATER,
    settings=GroupOverrides(
        reply_strategy=ReplyStrategy.ROUND_ROBIN,
        turn_order=TurnOrder.PARALLEL,
        max_agent_turns_per_message=9,
        max_depth=0,
        reactive_round=False,
        agent_reply_timeout=0.1,
        turn_limit_seconds=1e9,
        voluntary_timeout=2.5,
        cooldown_seconds=0.0,
        max_voluntary_responders=7,
        max_voluntary_polls=8,
        agents_may_invite=True,
        links_bind=True,
        budget_usd=0.25,
        budget_tokens=5_000,
    ),
    home=ARYA,
    next_seq=8,
    chain="ab" * 32,
    chain_length=BIG,
    version=3,
    key="arya+bøb",
    channel_type="telegram",
    channel_group_id="-100123",
    last_human=7,
    pointer=BOB,
    answered=5,
    stalled=7,
    blocked=CALLS,
    epoch=3,
    summarised=6,
)
MEMBER = Member(
    conversation=WHERE,
    participant=ARYA,
    position=4,
    joined_at=AT,
    speaks=False,
    joined_seq=3,
    cursor=6,
    mark="◆",
    streak=2,
    rested=1,
    said_at=LATER,
    cut=True,
)
MESSAGE = Message(
    conversation=WHERE,
    seq=1,
    author=BOB,
    kind=Kind.EXTERNAL,
    text=TEXT,
    root=ROOT,
    hop=4,
    at=AT,
    mentions=(ARYA, BOB),
    reply_to=6,
    intent="question",
    version=1,
    turn=TurnId(12),
    round=5,
    depth=2,
    metadata=NESTED,
    plan=Plan(
        (Part(ARYA, Duty.MUST, RuleName.MENTION), Part(BOB, Duty.BLOCKED, RuleName.PAIR_LIMIT)),
        (Duty.MAY, RuleName.POLL),
    ),
    key="clé",
    digest="cd" * 32,
    chain_place=9,
    hash="ef" * 32,
)
REVISED = structs.replace(MESSAGE, text="", version=2, metadata={**NESTED, "deleted": True}, mentions=(BOB,))
REVISION = Revision(
    conversation=WHERE,
    seq=1,
    version=2,
    was_hash="01" * 32,
    text_hash="23" * 32,
    by=ARYA,
    at=LATER,
    chain_place=10,
    hash="45" * 32,
)
TURN = Turn(
    id=TurnId(12),
    agent=ARYA,
    conversation=WHERE,
    duty=Duty.MUST,
    reason=RuleName.FORCE,
    state=TurnState.RUNNING,
    calls=CALLS,
    created_at=AT,
    round=7,
    place=2,
    lo=3,
    hi=7,
    shared=True,
    late=True,
    resumed=True,
    interrupted=True,
    cause=7,
    root=ROOT,
    hop=3,
    depth=2,
    charged=(ROOT, RootId("c-x:1")),
    due=AT + 1,
    lease=AT + 2,
    deadline=AT + 3.5,
    limit=AT + 600.25,
    host=HostId("host-1"),
    fence=5,
    attempt=2,
    posts=1,
    started_at=LATER,
    ended_at=LATER + 1,
    message=8,
    rule=RuleName.CHAIN,
    error=TEXT,
    kept=TEXT,
    usage=NESTED,
    steps=(
        Step(call="c-1", tool="shell", arguments=TEXT, at=AT, answer=1, said=TEXT, idempotent=True, seq=9),
        Step(call="c-2", tool="notes", arguments="{}", at=LATER),
    ),
    given=Given(
        start=3,
        digest="67" * 16,
        system="89" * 16,
        epoch=2,
        pinned=1,
        names={"bøb": TEXT},
        tools=("shell", "notes"),
        size=BIG,
        shared=12,
    ),
    stopping=True,
    reserved=True,
)
SUMMARY = Summary(
    conversation=WHERE, epoch=2, upto=6, text=TEXT, by="openai:x@y", at=AT, version=3, usage=NESTED
)
ROUND = Round(
    conversation=WHERE,
    opener=7,
    root=ROOT,
    hop=1,
    human=True,
    polls=True,
    cap=3,
    state=RoundState.RUNNING,
    used=2,
    pending=CALLS,
    blocked=CALLS[:1],
    places=4,
    overridden=True,
    asked=(ARYA, BOB),
    reacted=(BOB,),
    polled=3,
    volunteers=1,
    utterances=(Utterance(8, ARYA, 1, 2, ROOT),),
    notes=(NoTurn(BOB, 7, Duty.OBSERVES, RuleName.AWAY), NoTurn(ARYA, 8, Duty.BLOCKED, RuleName.CAP)),
    shared_hi=7,
    shared_human=6,
)
ROOT_ROW = Root(
    id=ROOT,
    turns=3,
    base_hop=8,
    paused=RuleName.NO_PROGRESS,
    noticed=(WHERE, ConversationId("c-x")),
    tails=(
        ChainTail(WHERE, (Spoken(ARYA, True, "thanks"), Spoken(BOB, False, TEXT))),
        ChainTail(ConversationId("c-x")),
    ),
    messages=5,
)
PAIR = Pair(sender=ARYA, receiver=BOB, level=3, last=AT, due=LATER, sent=(AT, LATER, 0.1 + 0.2))
PARTICIPANT = Participant(
    id=BOB,
    name="Bøb",
    kind=Kind.EXTERNAL,
    aliases=("robert", "bobby"),
    display=TEXT,
    role="tester",
    brain="openai:x@http://localhost",
    project="/tmp/ä b",
    paused=True,
    live_until=LATER,
    host=HostId("host-1"),
    config=AgentConfig("interrupt", TEXT, "teal", "claude", "/tmp/ä b", 4711),
    created_at=AT,
    last_active=LATER,
    door="mcp",
    reach=Reach.NEXT_TURN,
    reach_until=LATER,
    removed_at=LATER,
)
QUOTA = Quota(agent=BOB, hour=503_429, turns=3, roots=2, last_root="c-x:1", last_hop=5, last_ended=AT)
HOST = Host(
    id=HostId("höst"),
    pid=4321,
    agents=(ARYA, BOB),
    lease_until=LATER,
    started_at=AT,
    socket=f"/run/{TEXT}.sock",
    watches=True,
    machine="0123456789abcdef",
)
TOKEN = Token(
    id=TokenId("t-ñ"),
    participant=BOB,
    digest="ab" * 32,
    scopes=(TokenScope.READ, TokenScope.ADMIN),
    created_at=AT,
    used_at=LATER,
    revoked_at=LATER,
    parent=TEXT,
    kind=TokenKind.BROWSER,
    expires_at=LATER,
)
BOOKMARK = Bookmark(participant=BOB, client=TEXT, conversation=WHERE, seq=7, frames=BIG, used_at=LATER)
EVENT = Event(type=EventType.TURN_STARTED, at=AT, conversation=WHERE, by=ARYA, seq=7, turn=TURN, body=NESTED)

LINK = Link(
    id=LinkId("l1"),
    source=ARYA,
    target=BOB,
    direction=Direction.ONE_WAY,
    relationship=Relationship.SUPERIOR,
    wanted=False,
    switched_off=True,
    origin=LinkOrigin.CONFIG,
    place="moot.toml:14",
    created_at=AT,
    updated_at=AT,
)

TASK = Task(
    id=TaskId("t1"),
    by=ARYA,
    to=BOB,
    task=TEXT,
    state=TaskState.WORKING,
    result=TEXT,
    note="half",
    conversation=WHERE,
    channel=ConversationId("link:l1"),
    asked_in=ConversationId("c-x"),
    link="l1",
    root=ROOT,
    hop=3,
    deadline=AT + 60,
    kept_by=7,
    created_at=AT,
    updated_at=AT,
    chain="ab" * 32,
    chain_length=4,
)

CLI_SESSION = CliSession(
    agent=ARYA,
    conversation=WHERE,
    driver="claude",
    session="4f0c2c1e",
    project=TEXT,
    version="2.1.326",
    brief="ab12",
    turn=TurnId(7),
    reached=4,
    open=True,
    cost_usd=0.25,
    updated_at=AT,
)

SPENT = Spending(
    kind=SpendingKind.AGENT,
    subject=ARYA,
    day=20_000,
    cost_usd=1.5,
    tokens=123_456,
    turns=7,
    unpriced=1,
    last_usd=0.25,
    last_tokens=9_000,
    updated_at=AT,
    raised_usd=2.5,
    raised_tokens=10_000,
    begun=8,
)

RESERVED = Reservation(
    turn=TurnId(12),
    conversation=WHERE,
    agent=ARYA,
    root=ROOT,
    day=20_000,
    above=(BOB,),
    usd=0.125,
    tokens=4_000,
    alone=True,
    until=AT,
)

WAIT = Wait(conversation=WHERE, seq=9, asker=ARYA, target=BOB, until=AT, host=HostId("h1"), answer=-1)

DECISION = PersonsDecision(
    id=DecisionId("d1"),
    by=ARYA,
    to=BOB,
    question=TEXT,
    choices=("yes", TEXT),
    conversation=WHERE,
    seq=4,
    state=DecisionState.ANSWERED,
    answer="yes",
    answer_seq=5,
    until=AT + 5,
    created_at=AT,
    updated_at=AT,
)

NOTE = SharedNote(
    name=NoteName("deploy-ñ"),
    text=TEXT,
    version=3,
    hash="ab" * 32,
    created_by=BOB,
    created_at=AT,
    updated_by=ARYA,
    updated_at=LATER,
)
NOTE_VERSION = NoteVersion(note=NOTE.name, version=3, text=TEXT, by=ARYA, at=LATER, hash=NOTE.hash)
NOTE_PERMISSION = NotePermission(
    note=NOTE.name, participant=ARYA, access=NoteAccess.READ_WRITE, by=BOB, at=LATER
)

OUTBOX = OutboxRow(
    event=BIG - 1,
    topic=ARYA,
    call=TEXT,
    conversation=WHERE,
    action=TEXT,
    by=BOB,
    at=AT,
    seq=BIG,
    correlation=TEXT,
    tool=TEXT,
)
RELAY_LEASE = RelayLease(name=TEXT, host=HostId("h-ø"), fence=BIG, until=AT)
AGENT_TOPIC = AgentTopic(agent=ARYA, name=TEXT, epoch=BIG, identity=TEXT, partitions=12, at=AT)
TOPIC_TROUBLE = TopicTrouble(agent=ARYA, topic=TEXT, kind=TopicTroubleKind.REFUSED, reason=TEXT, at=AT)
WATCH_POSITION = WatchPosition(agent=ARYA, event=BIG, at=AT)
DEAD_LETTER = DeadLetter(slot=7, topic=TEXT, part=3, place=BIG, reason=TEXT, text=TEXT, at=AT)
POSITION = Position(participant=ARYA, x=0.1 + 0.2, y=-123456.789, by=BOB, at=AT)
SPAWNED_AGENT = SpawnRecord(
    agent=ARYA,
    by=BOB,
    template=TEXT,
    depth=3,
    project=TEXT,
    root=ROOT,
    asked_in=WHERE,
    until=LATER,
    idle_seconds=0.1 + 0.2,
    key=TEXT,
    created_at=AT,
    ended_at=LATER,
    ending=TEXT,
)
AUDIT_ENTRY = AuditEntry(
    chain="refusals:arya",
    place=3,
    at=AT,
    by=ARYA,
    on_behalf_of=BOB,
    door=DoorName.MCP,
    act=AuditedAct.REFUSED,
    subject=TEXT,
    detail=NESTED,
    digest="cd" * 32,
    count=BIG,
    last_at=LATER,
    hash="ef" * 32,
)
CHAIN_HEAD = ChainHead(
    chain=AUDIT_ENTRY.chain,
    length=3,
    hash=AUDIT_ENTRY.hash,
    before="ab" * 32,
    newest=AUDIT_ENTRY,
    sealed=2,
    digest="12" * 32,
)
SHARE = Share(grp="agent-arya", part=3, host=HostId("h-1"), fence=BIG, until=LATER, place=TEXT)

BRIDGE_CHAT = BridgeChat(
    bridge="telegram",
    chat="-100123/7",
    kind=ChatKind.SUPERGROUP,
    title=TEXT,
    state=PairingState.PAIRED,
    conversation=WHERE,
    agents=("arya", "bøb"),
    listener="arya",
    cursor=BIG,
    planned=9,
    explained=True,
    paired_by="42",
    notice="telegram/-100123/7/3",
    created_at=AT,
    updated_at=LATER,
)
BRIDGE_ACCOUNT = BridgeAccount(
    bridge="telegram",
    account="42",
    participant=BOB,
    shown=TEXT,
    linked=True,
    minute=30_205_761,
    in_minute=3,
    day=20_976,
    in_day=17,
    order_minute=30_205_762,
    orders=4,
    created_at=AT,
)
ARRIVAL = BridgeArrival(
    bridge="telegram",
    key="-100123/77",
    chat="-100123",
    account="42",
    state=ArrivalState.DEAD,
    conversation=WHERE,
    seq=7,
    text=TEXT,
    tries=5,
    error=TEXT,
    created_at=AT,
)
BRIDGE_POST = BridgePost(
    id="telegram/-100123/9",
    bridge="telegram",
    chat="-100123",
    conversation=WHERE,
    seq=8,
    place=9,
    speaker="bøb",
    text=TEXT,
    state=BridgePostState.QUEUED,
    tries=2,
    due=LATER,
    external="4711",
    reply_to="4710",
    error=TEXT,
    buttons=("yes", TEXT),
    decision="d1",
    created_at=AT,
    updated_at=LATER,
)
BRIDGE_LEASE = BridgeLease(bridge="telegram", holder="h0123", until=LATER, fence=BIG)
PAIRING_CODE = PairingCode(
    digest="ab" * 32, bridge="telegram", by=BOB, until=LATER, used_by="-100123", created_at=AT
)
