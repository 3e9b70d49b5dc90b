"""The story of a golden home: a day on which everything happens that leaves a row in the store.

`write` lives it through the public hub, with scripted agents and a clock that is moved by hand, and stops in the
middle: turns wait, are held, owed and run, and the process is gone as after a kill. What a later version adds to the
store is added here, so that the golden home of that version has it too (`test_golden_homes.py` says what is missing).
"""

import asyncio
import io
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
from msgspec import structs

from moot import PASS, Hub
from moot.brains.code import AgentSpec
from moot.errors import NotPermitted
from moot.flow import (
    charge,
    hold_relay,
    hold_shares,
    keep_session,
    move_watch,
    park_record,
    place_topic,
    seal_chains,
    send,
    stop_topic,
)
from moot.flow.find_chat import FindChat
from moot.flow.hear import GuestAllowance, Hear
from moot.flow.hold_bridge import HoldBridge
from moot.flow.hold_shares import HoldShares, SharedGroup
from moot.flow.meet_account import MeetAccount
from moot.flow.move_post import MovePost
from moot.flow.pace_guest import PaceGuest
from moot.flow.pair_chat import PairChat
from moot.flow.plan_posts import PlanPosts
from moot.flow.post import posting
from moot.flow.record_arrival import RecordArrival
from moot.flow.update_notice import UpdateNotice
from moot.hub.archive import backups
from moot.hub.archive.export import Export
from moot.hub.archive.validate import check
from moot.hub.external.bridges import digest_of
from moot.model.chain import RESERVATIONS, SPENDING, Reservation, Spending, SpendingKind
from moot.model.change import PutRecord
from moot.model.ids import ConversationId, HostId, ParticipantId, RootId, TurnId
from moot.model.prompt import Offered, ToolCall, ToolResult, ToolSpec, Usage
from moot.model.records.chat_apps.bridge import ArrivalState, BridgePostState, ChatKind, Piece
from moot.model.records.cli_session import CliSession
from moot.model.records.outbox import OUTBOX
from moot.model.records.topic import TopicTroubleKind
from moot.rules.budgets import account
from moot.settings import Home
from moot.stores.sqlite.file import copies
from moot.testing import ManualClock
from moot.wiring import reading
from tests.contract.store.verbs import put
from tests.support.beneath import source_of, store_of
from tests.support.waiting import PATIENCE, until

MORNING = 1_767_603_600.0
"""2026-01-05, 09:00 UTC. All of it is over for whoever reads it with a clock on the wall."""
BACKED_UP_AT = MORNING + 60
NO_PROCESS = 2**31 - 2
"""A process id that no system gives out: whoever opens the home sees that its host is gone."""
UNICODE = "Grüße, 世界 🦀 e\u0301 'quoted\" -- ; \\ \u202eabc\u202c \t%s"

SETTINGS = """\
# The home of a team that has been through everything.
[groups]
cooldown_seconds = 0.0

[limits]
agent_turns_per_hour = 1000

[host]
lease_seconds = 3600.0

[context]
summary_brain = "demo"
summary_messages = 12
summary_words = 40

[[agents]]
name = "arya"
role = "backend engineer"
display = "Arya ⚔"
brain = "demo"
spawns = ["squire"]

[[agents]]
name = "gendry"
role = "smith"
brain = "demo"
on_busy = "interrupt"

[[agents]]
name = "bran"
role = "is never there"
brain = "demo"
autostart = false

[templates.squire]
role = "helps"
brain = "demo"
project = "/nowhere/forge"
"""
IDENTITY = {
    "arya/SOUL.md": "I am quick and I finish what I begin.\n",
    "arya/ROLE.md": "You keep the forge's database.\n",
    "gendry/IDENTITY.md": "A smith: " + UNICODE + "\n",
}


class Lookup:
    """A tool that answers at once, or never."""

    spec = ToolSpec("lookup", "looks things up", {"type": "object"}, idempotent=True)

    async def run(self, arguments: dict[str, Any], turn: Any) -> ToolResult:
        if "never" in arguments:
            await asyncio.Event().wait()
        return ToolResult(f"found: {UNICODE}")


class Stage:
    """Where the scripted agents stand, and what was last begun there."""

    def __init__(self, home: Path, clock: ManualClock) -> None:
        self.home = home
        self.clock = clock
        self.begun = asyncio.Event()

    def player(self, name: str, **options: Any) -> AgentSpec:
        """An agent that does what the message says, and is prompted as a model is."""

        async def think(turn: Any) -> str | None:
            await turn.prompt()
            turn.spend(Usage(input_tokens=120, output_tokens=7, cached_tokens=80, cost_usd=0.001, calls=1))
            return await self.act(turn)

        return AgentSpec(name, think, prompted=True, offered=Offered(tools=(Lookup.spec,)), **options)

    async def act(self, turn: Any) -> str | None:
        text = turn.text
        if "thanks" in text:
            return "thanks!"
        if not turn.must_answer:
            return "I would like to add something." if "any thoughts" in text else PASS
        if "take your time" in text:
            await turn.say("Half a thou")
            self.begun.set()
            await asyncio.Event().wait()
        if "break" in text:
            raise RuntimeError("the forge is cold")
        if "look it up" in text:
            never = ', "never": true' if "for ever" in text else ""
            self.begun.set()
            call = ToolCall(f"call-{turn.id}", "lookup", f'{{"q": "höhe"{never}}}')
            result = await turn.use(Lookup(), call, answer=0, said="One moment.")
            return f"It says {result.text}"
        if "start a squire" in text:
            await turn.hub.spawn("squire", idempotency_key="squire-1")
        if "tell the watch" in text:
            await turn.hub.post("watch", "from the group next door")
        if "hand over to" in text:
            return f"@{text.rpartition('hand over to ')[2].split()[0]} what do you think?"
        return f"{turn.agent}: noted."

    async def all_quiet(self, hub: Hub, conversation: str) -> None:
        """Until nothing is under way there; time passes only where something is held."""
        for _ in range(60):
            held = await until(
                lambda: hub.inspector.unsettled(conversation),
                lambda turns: all(turn.state == "held" for turn in turns),
            )
            if not held:
                return
            await self.clock.advance(2.0)
        raise AssertionError(f"{conversation} never came to rest")

    async def begins(self, hub: Hub, conversation: str, text: str) -> None:
        """Say something that somebody begins to answer and does not finish."""
        self.begun.clear()
        await hub.post(conversation, text)
        await asyncio.wait_for(self.begun.wait(), PATIENCE)


async def write(home: Path) -> None:
    """Live the day in a new home, up to the moment at which it breaks off."""
    _furnish(home)
    clock = ManualClock(MORNING)
    stage = Stage(home, clock)
    cast = [stage.player(name) for name in ("arya", "gendry", "sansa", "hodor")]
    cast.append(stage.player("jon", concurrency=1, role="does one thing at a time"))
    async with _broken_off(home, Hub.open(home, agents=cast, clock=clock)) as hub:
        await _backed_up(stage, hub)
        await _group(stage, hub)
        await _other_ways_to_take_turns(stage, hub)
        await _between_agents(stage, hub)
        await _linked(stage, hub)
        await _kept_together(hub)
        await _on_record(hub)
        await _started_by_others(stage, hub)
        await _elsewhere(hub)
        await _people_come_and_go(stage, hub)
        await _outside_agents(stage, hub)
        await _conversations_come_and_go(stage, hub)
        await _bring_back(hub, "done-again")
        await _summed_up(hub)
        await _in_the_middle(stage, hub)


def _furnish(home: Path) -> None:
    home.mkdir(mode=0o700, parents=True)
    (home / "moot.toml").write_text(SETTINGS, encoding="utf-8")
    for name, text in IDENTITY.items():
        path = home / "agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@asynccontextmanager
async def _broken_off(home: Path, opening: Any) -> AsyncIterator[Hub]:
    """Leave the database as a kill leaves it: what closing the hub tidies up is not in it."""
    kept = home / "kept.db"
    async with opening as hub:
        yield hub
        copies.copy(home / "moot.db", kept)
        connection = apsw.Connection(str(kept))
        connection.execute("UPDATE hosts SET pid = ?", (NO_PROCESS,))
        connection.close()
    for ending in copies.BESIDE:
        (home / f"moot.db{ending}").unlink(missing_ok=True)
    kept.rename(home / "moot.db")
    shutil.rmtree(home / "run")


# --- what happens ------------------------------------------------------------------------------------------


async def _backed_up(stage: Stage, hub: Hub) -> None:
    """The first words, and a backup of them."""
    await hub.send("hodor", "hold the door")
    await stage.all_quiet(hub, (await hub.conversations.implicit(["hodor"])).id)
    await hub.search("door")
    backups.create(Home(stage.home), at=BACKED_UP_AT)


async def _group(stage: Stage, hub: Hub) -> None:
    """A group: mentions, polls, reactions, a tool, a failure, an expiry, caps, depth, edits, a deleted message."""
    create = hub.conversations.create
    await create("watch", participants=["arya", "gendry"], settings={"reply_strategy": "round_robin"})
    await create("build", participants=["arya", "gendry", "sansa"], settings={"agent_reply_timeout": 20.0})
    first = await hub.post("build", f"@arya {UNICODE}", idempotency_key="klé-1", intent="ask")
    await stage.all_quiet(hub, "build")
    for text in (
        "@gendry look it up",
        "@sansa break",
        "any thoughts?",
        "@arya @gendry @sansa @hodor: all of you",
        "@arya hand over to gendry hand over to sansa hand over to arya",
        "@arya tell the watch",
        "@nobody-here and `@arya` in code",
    ):
        await hub.post("build", text, reply_to=first.id)
        await stage.all_quiet(hub, "build")
    edited = await hub.post("build", "a typo: teh")
    await stage.all_quiet(hub, "build")
    await hub.edit(edited.id, "no typo: the", version=1)
    deleted = await hub.post("build", "@bran nobody shall read this")
    await hub.delete(deleted.id, version=1)
    await stage.begins(hub, "build", "@arya take your time")
    await stage.clock.advance(25)
    await stage.all_quiet(hub, "build")
    await stage.begins(hub, "build", "@gendry take your time, too")
    await hub.post("build", "in French, please", interrupt=True)
    await stage.all_quiet(hub, "build")
    await hub.deliveries.ask_again(first.id, ["sansa"])
    await stage.all_quiet(hub, "build")


async def _other_ways_to_take_turns(stage: Stage, hub: Hub) -> None:
    """Round robin, parallel and mention only; one chat elsewhere; one conversation of each other kind."""
    create, three = hub.conversations.create, ["arya", "gendry", "sansa"]
    for _ in range(2):
        await hub.post("watch", "who is on watch?")
        await stage.all_quiet(hub, "watch")
    chosen = {"reply_strategy": "mention_only", "turn_order": "parallel"}
    await create("quiet", participants=three, settings=chosen, channel=("telegram", "-100123"))
    await hub.post("quiet", "@arya @sansa at once")
    await stage.all_quiet(hub, "quiet")
    await create("a-task", participants=["arya"], kind="task")
    await hub.post("a-task", "in a task")
    await stage.all_quiet(hub, "a-task")
    once = await hub.conversations.ephemeral("arya", key="once")
    await hub.post(once.id, "one question, then @gendry")
    await stage.all_quiet(hub, once.id)


async def _between_agents(stage: Stage, hub: Hub) -> None:
    """Two agents thank each other until they are stopped; one is delayed by its pair; one writes to all."""
    arya = hub.acting_as("arya")
    await hub.history.acted_as("arya", "POST /api/conversations/direct-arya+gendry/messages")
    thanked = await arya.send("gendry", "thanks")
    await stage.all_quiet(hub, thanked.conversation)
    await hub.conversations.resume(thanked.conversation)
    await stage.all_quiet(hub, thanked.conversation)
    await hub.broadcast("to everybody", idempotency_key="all-1")
    asking = asyncio.create_task(hub.ask("sansa", "a question with a correlation", idempotency_key="ask-1"))
    await asking
    for pair in await hub.conversations.list(kind="direct"):
        await stage.all_quiet(hub, pair.id)


async def _told_outside(hub: Hub) -> None:
    """As if Kafka were set: something waits to be published, and what belongs to it stands beside."""
    store = store_of(hub)
    await store.transact(hold_relay, hold_relay.HoldRelay(HostId("h1"), 1e6))
    await store.transact(place_topic, place_topic.PlaceTopic(ParticipantId("osha"), "agent-osha", 1, "A1", 1))
    refused = stop_topic.StopTopic(
        ParticipantId("osha"), "agent-osha", TopicTroubleKind.UNWRITABLE, "no rights"
    )
    await store.transact(stop_topic, refused)
    await store.transact(move_watch, move_watch.MoveWatch(ParticipantId("osha"), 7))
    for place in (7, 8):
        order = park_record.ParkRecord("agent-osha", 1, place, "it is no object", "[7]")
        await store.transact(park_record, order)
    source_of(hub).has_outbox = True
    await hub.acting_as("osha").send("meera", "for everybody who listens outside")
    source_of(hub).has_outbox = False
    [*_, said] = await store.unpublished(10)
    await put(store, PutRecord(OUTBOX, structs.replace(said, call="call-1", tool="bash", correlation="q1")))


async def _linked(stage: Stage, hub: Hub) -> None:
    """Two that are linked, with something said over it; one link turned off, one gone with its channel kept."""
    for name in ("osha", "meera", "jojen"):
        await hub.agents.create(name)
    link = await hub.links.create("osha", "meera", relationship="superior", direction="one_way")
    await hub.acting_as("osha").send("meera", "over the wall")
    await hub.post(link.channel, "a person says something too")
    off = await hub.links.create("meera", "jojen")
    await hub.links.update(off.id, enabled=False)
    await hub.arrange({"osha": {"x": 120.5, "y": -40}, "user": {"x": 0, "y": 0}})
    await _told_outside(hub)
    gone = await hub.links.create("jojen", "osha", relationship="subordinate")
    await hub.links.delete(gone.id)
    task = await hub.acting_as("osha").delegate("meera", "carry him")
    await hub.acting_as("meera").tasks.update(task.id, "working", note="he is heavy")
    osha, meera = ParticipantId("osha"), ParticipantId("meera")
    question = posting(osha, "", "can you see it?", intent="ask", awaited=stage.clock.now() + 1e6)
    await store_of(hub).transact(send, send.sending("meera", meera, question))  # it waits for ever
    wish = posting(osha, "", "may I?", intent="ask", awaited=stage.clock.now() + 1e6)
    await store_of(hub).transact(send, send.sending("user", ParticipantId("user"), wish, ("yes", "no")))
    [asked] = await hub.decisions.list()
    await hub.decisions.answer(asked.id, "yes")
    [there] = [one for one in await hub.conversations.list(kind="link") if one.id == link.channel]
    session = CliSession(
        osha,
        ConversationId(there.id),
        "claude",
        "4f0c",
        "/srv/wall",
        "2.1",
        "ab",
        TurnId(1),
        1,
        True,
        0.5,
        1.0,
    )
    await store_of(hub).transact(
        keep_session, keep_session.KeepSession(osha, ConversationId(there.id), session)
    )
    spent = charge.Charge(account(osha, RootId("c1:1"), stage.clock.now()), {"input_tokens": 5})
    await store_of(hub).transact(charge, spent)
    await _paid_for(hub, ConversationId(there.id))
    done = await hub.acting_as("osha").delegate("meera", "find the raven")
    await hub.acting_as("meera").tasks.update(done.id, "done", result="found")


async def _paid_for(hub: Hub, where: ConversationId) -> None:
    """What a turn has set aside, and what the owner has allowed beyond a budget."""
    osha = ParticipantId("osha")
    held = Reservation(
        TurnId(1), where, osha, RootId("c1:1"), 20_000, (ParticipantId("meera"),), 0.25, 9, True, 1e12
    )
    more = Spending(SpendingKind.DAY, "", 20_000, 1.0, 9, 2, 1, 0.5, 4, 1.0, 2.5, 100, 3)
    await put(store_of(hub), PutRecord(RESERVATIONS, held), PutRecord(SPENDING, more))


async def _kept_together(hub: Hub) -> None:
    """A note that two write, of several versions; one that was shared with nobody; one that was deleted."""
    await hub.notes.create("forge-status", f"cold\n{UNICODE}")
    await hub.notes.share("forge-status", "arya", "read")
    await hub.notes.share("forge-status", "gendry", "read_write")
    await hub.acting_as("gendry").notes.write("forge-status", "warm", version=1)
    await hub.notes.append("forge-status", "and hot")
    await hub.notes.revert("forge-status", 2)
    await hub.notes.share("forge-status", "arya", "none")
    for name in ("on-watch", "no-more"):
        await hub.notes.create(name, UNICODE)
    await hub.notes.delete("no-more")


async def _on_record(hub: Hub) -> None:
    """What was refused to an agent, twice; chains that were sealed, and one that has grown since."""
    for _ in range(2):
        with suppress(NotPermitted):
            await hub.acting_as("gendry").links.create("gendry", "sansa")
    await hub._core.do(seal_chains, seal_chains.SealChains())


async def _elsewhere(hub: Hub) -> None:
    """A chat in a chat app, paired; what was heard, what was sent, what nobody knows of; a bridge that is held."""
    records = hub.bridges.records
    code = await hub.bridges.code("telegram")
    await records.hold(HoldBridge("telegram", "h1", 3600.0))
    await records.find(FindChat("telegram", "-100", ChatKind.SUPERGROUP, UNICODE, "arya"))
    guest = await records.meet(MeetAccount("telegram", "42", "Osha"))
    where = await hub.conversations.create("raven", participants=["arya"], channel=("telegram", "-100"))
    pairing = PairChat(guest.participant, "telegram", "-100", where.id, digest_of(code.code), "42")
    chat = await records.pair(pairing)
    words = records.posting(guest.participant, where.id, UNICODE)
    await records.hear(Hear("telegram", "-100/7", "-100", "42", words, GuestAllowance(6, 100)))
    pieces = (Piece("one", "arya", 1), Piece("two", "arya", 1, "7", ("yes", "no"), "d1"), Piece("three"))
    await records.plan(PlanPosts("telegram", "-100", chat.conversation, chat.cursor, chat.cursor + 1, pieces))
    for _ in range(5):
        came = RecordArrival("telegram", "-100/8", "-100", "42", ArrivalState.TROUBLED, UNICODE, "OSError()")
        await records.record(came)
    for place, state in ((1, BridgePostState.SENT), (2, BridgePostState.UNCONFIRMED)):
        for to in (BridgePostState.SENDING, state):
            await records.move(
                MovePost(
                    f"telegram/-100/{place}",
                    "telegram",
                    to,
                    "h1",
                    external=str(place),
                    error=UNICODE,
                    due=1.0,
                )
            )
    await records.move(MovePost("telegram/-100/3", "telegram", BridgePostState.SENDING, "h1"))
    await records.move(MovePost("telegram/-100/3", "telegram", BridgePostState.QUEUED, "h1", due=1.0))
    await records.find(FindChat("telegram", "-200", ChatKind.GROUP, "another", "arya", explained=True))
    await records.notify(UpdateNotice("telegram", "-100", "", "Not answered yet: arya (away).", "arya"))
    await records.pace(PaceGuest("telegram", "42", 6))
    await hub.bridges.link("telegram", "42", "user")
    await hub.bridges.code("telegram")


async def _people_come_and_go(stage: Stage, hub: Hub) -> None:
    """Names, tokens, a paused agent, one who came back to what it owed, a person with a client of their own."""
    await hub.agents.create("bert", human=True, display="Bert Ångström")
    await hub.conversations.join("quiet", "bert")
    await hub.agents.rename("sansa", "sansa.s")
    await hub.agents.rename("sansa.s", "lady")
    await hub.agents.change("lady", role="knows everybody", display="Lady S.")
    await hub.agents.create("rickon", role="will be back")
    await hub.send("rickon", "when you are back")
    await hub.host([stage.player("rickon")])
    direct = await hub.conversations.implicit(["rickon"])
    await stage.all_quiet(hub, direct.id)
    await hub.agents.create("olly")
    await hub.agents.pause("olly")
    await hub.send("olly", "nobody is asked this")
    await hub.agents.create("ygritte")
    await hub.agents.remove("ygritte")
    for name in ("arya", "bert"):
        token = await hub.agents.issue_token(name, scopes=["read", "post"])
        await hub.agents.bearers().of(token.token)
        await hub.agents.mint_token(name, scopes=["read"], shown=token.id)
        gone = await hub.agents.issue_token(name)
        await hub.agents.revoke_token(name, gone.id)
    made = await hub.agents.sign_in_code("bert")
    await hub.agents.sign_in(made.code)
    await hub.agents.sign_in_code("bert", seconds=3600)
    quiet = await hub.conversations.get("quiet")
    opened = await hub.conversations.bookmarks.open(quiet.id, "laptop ☕", after=0)
    await hub.conversations.bookmarks.move([structs.replace(opened.bookmark, seq=2, frames=2)])
    await hub.conversations.read("quiet", 2)
    await hub.conversations.leave("quiet", "gendry")


async def _outside_agents(stage: Stage, hub: Hub) -> None:
    """One that answered, one that was handed a message and has not answered yet."""
    for name in ("codex", "claude"):
        await hub.agents.arrive("mcp", name=name, client=name, folder="/src/app")
        await hub.agents.seen(name, door="mcp", reach="next-turn")
        await hub.send(name, f"for {name}: {UNICODE}")
        found = await hub.acting_as(name).mailbox.check()
        if name == "codex":
            await hub.acting_as(name).mailbox.reply(found.messages[-1].id, "from outside")
    await hub.acting_as("codex").send("arya", "of my own accord")
    await stage.all_quiet(hub, (await hub.acting_as("codex").conversations.implicit(["arya"])).id)
    await hub.conversations.join("watch", "codex")
    await hub.acting_as("codex").post("watch", "@arya from outside")
    await stage.all_quiet(hub, "watch")


async def _started_by_others(stage: Stage, hub: Hub) -> None:
    """An agent starts another one, which is removed."""
    await hub.post("build", "@arya start a squire")
    await stage.all_quiet(hub, "build")
    await hub.agents.remove("squire")


async def _conversations_come_and_go(stage: Stage, hub: Hub) -> None:
    create = hub.conversations.create
    for name in ("old", "older", "gone", "undone"):
        await create(name, participants=["arya"])
        said = await hub.post(name, f"@arya remember {name}")
        await stage.all_quiet(hub, name)
        await hub.edit(said.id, f"@arya remember {name}!", version=1)
        await hub.conversations.archive(name)
    archived = {each.name: each.id for each in await hub.conversations.list(archived=True)}
    await hub.conversations.delete(archived["gone"])
    await hub.conversations.unarchive(archived["undone"])
    await hub.conversations.rename("undone", "done-again")
    await hub.conversations.configure("done-again", max_depth=1, agents_may_invite=True)


async def _bring_back(hub: Hub, name: str) -> None:
    """Export a conversation and take it in again."""
    reads = reading(Home(hub._core.parts.home.path))
    found = [each for each in await reads.conversations(archived=False, kind=None) if each.name == name]
    lines = b"".join([chunk async for chunk in (await Export.of(reads)).jsonl(found)])
    await reads.close()
    checked = check(io.BytesIO(lines), "export.jsonl", limit_bytes=hub.settings.limits.message_bytes)
    await hub.conversations.importing(checked).run(io.BytesIO(lines))


async def _summed_up(hub: Hub) -> None:
    """A long conversation gets its summary beside all turns; up to here all can be searched."""
    await hub.search("forge")
    store = store_of(hub)
    build = await hub.conversations.get("build")
    await until(lambda: store.summary(build.id, upto=10**9), lambda summary: summary is not None)


async def _share(hub: Hub) -> None:
    """As a host does that runs an agent in two parts."""
    [host] = await store_of(hub).hosts()
    group = SharedGroup("agent-rickon", 2, ParticipantId("rickon"))
    await store_of(hub).transact(hold_shares, HoldShares(host.id, (group,), "winterfell"))


async def _in_the_middle(stage: Stage, hub: Hub) -> None:
    """And then the process is killed: turns run, wait, are ready, held and owed, and messages wait for their round."""
    create, three = hub.conversations.create, ["arya", "gendry", "lady"]
    await create("open", participants=three)
    await stage.begins(hub, "open", "@arya take your time; then @gendry")
    await hub.post("open", "@lady this one waits for the round before it")
    await create("tools", participants=["hodor"])
    await stage.begins(hub, "tools", "@hodor look it up for ever")
    await hub.conversations.stop("tools")
    await create("cut", participants=["hodor"])
    await stage.begins(hub, "cut", "@hodor take your time")
    await hub.conversations.stop("cut")
    await _share(hub)
    await create("busy", participants=["jon"])
    await stage.begins(hub, "busy", "@jon take your time")
    await create("later", participants=["jon"])
    await hub.post("later", "@jon when you are free")
    await create("away", participants=["bran", "arya"], settings={"reply_strategy": "mention_only"})
    await hub.post("away", "@bran when you are back")
    await hub.agents.seen("codex", door="mcp", reach="next-turn")
    await create("slow", participants=["gendry"], settings={"cooldown_seconds": 600.0})
    for text in ("@gendry one", "@gendry two"):
        await hub.post("slow", text)
        await until(
            lambda: hub.inspector.unsettled("slow"), lambda turns: all(turn.state == "held" for turn in turns)
        )
