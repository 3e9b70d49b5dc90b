"""The audit: what people do and what agents are refused is on record with who, when and through which door."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from moot import PASS, Hub, agent
from moot.brains.code import AgentSpec
from moot.errors import BadValue, MootError, NotPermitted, RateLimited
from moot.flow import seal_chains
from moot.model.entrance import DoorName
from moot.model.ids import ParticipantId
from moot.model.records.audit import AUDIT_ENTRIES, CHAIN_HEADS, AuditedAct, AuditEntry, ChainHead
from moot.rules import audit
from moot.testing import ManualClock
from tests.support.beneath import store_of

pytestmark = pytest.mark.req("S-17")


def silent(name: str) -> AgentSpec:
    @agent(name)
    async def think(turn: Any) -> str:
        return PASS

    return think


TEAM = ["manager", "support", "loner"]


def opened(home: Path, **more: Any) -> Any:
    return Hub.open(home, agents=[silent(name) for name in TEAM], **more)


async def sentences(hub: Hub, **filters: Any) -> list[str]:
    return [entry.sentence for entry in await hub.audit.log(**filters)]


async def test_an_act_says_who_did_what_through_which_door(tmp_path: Path) -> None:
    async with opened(tmp_path) as hub:
        link = await hub.through(DoorName.CLI).links.create("manager", "support", relationship="superior")
        await hub.links.update(link.id, enabled=False)
        await hub.links.delete(link.id, purge=True)
        told = await sentences(hub, link=link.id)
        assert told[-1] == (
            "user linked manager and support (manager is superior of support. Both may start.) by cli"
        )
        assert [sentence.split(" (")[0] for sentence in told] == [
            "user erased link-manager+support",
            "user deleted the link of manager and support",
            "user changed the link of manager and support",
            "user linked manager and support",
        ]
        report = await hub.audit.verify()
        assert report.ok, report.problems
        assert [gone.what for gone in report.purged] == [f"conversation link:{link.id}"]


async def test_what_a_limit_of_the_two_refused_is_among_what_their_link_refused(tmp_path: Path) -> None:
    async with opened(tmp_path) as hub:
        link = await hub.links.create("manager", "support")
        other = await hub.links.create("manager", "loner")
        for number in range(hub.settings.limits.pair_per_minute):
            await hub.acting_as("manager").send("support", f"number {number}")
        with pytest.raises(RateLimited):
            await hub.acting_as("manager").send("support", "one more")
        [refused, _made] = await sentences(hub, link=link.id)
        assert "was refused: send to support (E302 pair_limit)" in refused
        assert len(await sentences(hub, link=other.id)) == 1


async def test_who_the_owner_spoke_for_is_named_beside_the_owner(tmp_path: Path) -> None:
    async with opened(tmp_path) as hub:
        await hub.agents.create("ann", human=True)
        await hub.through(DoorName.HTTP).acting_as("ann").links.create("manager", "support")
        [entry] = await hub.audit.log(acts=["link.created"])
        assert (entry.by, entry.on_behalf_of, entry.door) == ("user", "ann", "http")
        assert entry.sentence.startswith("user for ann linked manager and support")


@pytest.mark.parametrize("door", [DoorName.CLI, DoorName.HTTP, DoorName.WS, DoorName.MCP])
async def test_a_message_keeps_through_which_door_it_came_inside_its_hash(
    tmp_path: Path, door: DoorName
) -> None:
    async with opened(tmp_path) as hub:
        await hub.conversations.create("room", participants=["manager"])
        await hub.through(door).post("room", "by a door")
        await hub.post("room", "by a program")
        doors = [entry.door for entry in await hub.audit.log(conversation="room")]
        assert doors == ["sdk", door.value]
        assert "by a door" not in str(await hub.audit.log(conversation="room")), "never what was said"


async def test_every_verb_of_people_leaves_an_act(tmp_path: Path) -> None:
    async with opened(tmp_path) as hub:
        room = await hub.conversations.create("room", participants=["manager"])
        await hub.conversations.join(room.id, "support")
        await hub.conversations.leave(room.id, "support")
        await hub.conversations.configure(room.id, max_depth=3)
        await hub.conversations.archive(room.id)
        await hub.conversations.unarchive(room.id)
        await hub.agents.create("extra")
        await hub.agents.change("extra", role="spare")
        await hub.agents.rename("extra", "other")
        await hub.agents.pause("other")
        await hub.agents.resume("other")
        token = await hub.agents.issue_token("other")
        await hub.agents.revoke_token("other", token.id)
        await hub.agents.remove("other")
        await hub.notes.create("plan", "one")
        await hub.notes.share("plan", "manager", "read")
        await hub.notes.delete("plan")
        acts = [entry.act for entry in reversed(await hub.audit.log(limit=500)) if entry.by == "user"]
        assert acts == [
            "conversation.joined",
            "conversation.left",
            "conversation.configured",
            "conversation.archived",
            "conversation.unarchived",
            "agent.created",
            "agent.edited",
            "agent.renamed",
            "agent.paused",
            "agent.resumed",
            "token.issued",
            "token.revoked",
            "agent.removed",
            "note.shared",
            "note.shared",
            "note.deleted",
        ]
        report = await hub.audit.verify()
        assert report.ok, report.problems
        assert token.token not in str(await hub.audit.log(limit=500))


async def test_what_an_agent_is_refused_is_on_record_before_it_hears_of_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as hub:
        await hub.links.create("manager", "support")
        loner = hub.voice_of("loner", DoorName.MCP)
        with pytest.raises(NotPermitted):
            await loner.send("manager", "let me in, the word is swordfish")
        [entry] = await hub.audit.log(agent="loner", acts=["refused"])
        assert (entry.by, entry.door, entry.count) == ("loner", "mcp", 1)
        assert {
            "code": "E301",
            "rule": "link",
            "to": "manager",
            "what": "send",
        }.items() <= entry.detail.items()
        assert "swordfish" not in str(entry)
        assert (await hub.audit.verify()).ok


async def test_a_storm_of_equal_refusals_is_one_entry_with_its_count(tmp_path: Path) -> None:
    async with opened(tmp_path) as hub:
        await hub.links.create("manager", "support")
        loner = hub.voice_of("loner", DoorName.MCP)
        storm = 10_000
        tries = [loner.send("manager", f"try {number}") for number in range(storm)]
        refusals = await asyncio.gather(*tries, return_exceptions=True)
        assert {type(refusal) for refusal in refusals} == {NotPermitted}
        [entry] = await hub.audit.log(acts=["refused"])
        assert entry.count == storm
        assert entry.sentence.endswith(f"by mcp, {storm} times")
        await store_of(hub).transact(seal_chains, seal_chains.SealChains())
        for target in ("manager", "manager", "support"):
            with pytest.raises(NotPermitted):
                await loner.send(target, "again")
        found = await hub.audit.log(acts=["refused"])
        assert [(entry.detail["to"], entry.count) for entry in found] == [
            ("support", 1),
            ("manager", 2),
            ("manager", storm),
        ]
        assert (await hub.audit.verify()).ok


async def test_refusals_that_take_turns_are_an_entry_each_with_its_count(tmp_path: Path) -> None:
    async with opened(tmp_path) as hub:
        await hub.links.create("manager", "support")
        loner = hub.voice_of("loner", DoorName.MCP)
        for _ in range(7):
            for target in ("manager", "support"):
                with pytest.raises(NotPermitted):
                    await loner.send(target, "hello")
        found = await hub.audit.log(acts=["refused"])
        assert [(entry.detail["to"], entry.count) for entry in found] == [("support", 7), ("manager", 7)]
        assert (await hub.audit.verify()).ok


def test_more_refusals_than_are_counted_side_by_side_still_make_a_whole_chain() -> None:
    """Played against a chain that is walked from its beginning, with a seal now and then."""
    chance = random.Random(7)
    head: ChainHead | None = None
    kept: dict[int, AuditEntry] = {}
    for step in range(600):
        kind = chance.randrange(12)
        who, what = ParticipantId("a"), AuditedAct.REFUSED
        tried = AuditEntry("refusals:a", 0, step, who, "", DoorName.MCP, what, "agent a", {"to": kind})
        entries, head = audit.counted(head, tried)
        assert all(entry.place > head.sealed for entry in entries), "what is sealed is final"
        kept |= {entry.place: entry for entry in entries}
        if chance.random() < 0.05:
            head = audit.with_digest(structs.replace(head, sealed=head.length))
        before = ""
        for place in range(1, head.length + 1):
            assert audit.entry_hash(before, kept[place]) == kept[place].hash
            before = kept[place].hash
        assert before == head.hash
        assert len(head.counting) <= audit.MAX_COUNTING
    assert sum(entry.count for entry in kept.values()) == 600


async def test_a_refused_reply_is_on_record_with_the_end_of_its_turn(tmp_path: Path) -> None:
    link: dict[str, Any] = {}

    @agent("manager")
    async def manager(turn: Any) -> str:
        await link["hub"].links.update(link["id"], enabled=False)
        return "too late"

    async with Hub.open(tmp_path, agents=[manager, silent("support")]) as hub:
        made = await hub.links.create("support", "manager")
        link.update(hub=hub, id=made.id)
        receipt = await hub.acting_as("support").send("manager", "hello")
        await hub.settled(receipt.conversation)
        [entry] = await hub.audit.log(acts=["refused"])
        assert (entry.by, entry.detail["what"], entry.detail["code"]) == ("manager", "reply", "E301")
        assert (await hub.audit.verify()).ok


async def test_what_people_are_refused_is_not_kept(tmp_path: Path) -> None:
    async with opened(tmp_path) as hub:
        await hub.agents.create("ann", human=True)
        with pytest.raises(MootError):
            await hub.voice_of("ann", DoorName.HTTP).agents.issue_token("manager")
        assert await hub.audit.log(acts=["refused"]) == []


async def test_only_the_owner_reads_the_audit(tmp_path: Path) -> None:
    async with opened(tmp_path) as hub:
        manager = hub.voice_of("manager", DoorName.MCP)
        for asked in (manager.audit.log, manager.audit.verify):
            with pytest.raises(NotPermitted, match="only the owner"):
                await asked()


@pytest.mark.parametrize(
    ("filters", "words"),
    [({"acts": ["nonsense"]}, "unknown act"), ({"since": "yesterday-ish"}, "not a time")],
)
async def test_a_filter_that_means_nothing_is_named(
    tmp_path: Path, filters: dict[str, Any], words: str
) -> None:
    async with opened(tmp_path) as hub:
        with pytest.raises(BadValue, match=words):
            await hub.audit.log(**filters)


async def test_the_log_is_filtered_by_time(tmp_path: Path) -> None:
    clock = ManualClock(1_800_000_000.0)
    async with opened(tmp_path, clock=clock) as hub:
        await hub.links.create("manager", "support")
        await clock.advance(7200)
        await hub.links.create("manager", "loner")
        acts = ["link.created"]
        assert len(await hub.audit.log(acts=acts)) == 2
        [late] = await hub.audit.log(acts=acts, since="1h")
        assert "loner" in late.sentence
        [early] = await hub.audit.log(acts=acts, before="2027-01-15T08:30:00Z")
        assert "support" in early.sentence


async def test_a_change_of_policy_is_on_record(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text("")
    async with Hub.open(tmp_path):
        pass
    (tmp_path / "moot.toml").write_text('[hub]\npolicy = "links"\n')
    async with Hub.open(tmp_path) as hub:
        assert await sentences(hub, acts=["policy.set"]) == [
            "moot.toml set the policy to links by config",
            "moot.toml set the policy to auto by config",
        ]
    async with Hub.open(tmp_path) as hub:
        assert len(await hub.audit.log(acts=["policy.set"])) == 2, "entered once, not at every start"


async def test_what_a_task_becomes_is_on_record_in_its_own_chain(tmp_path: Path) -> None:
    async with opened(tmp_path) as hub:
        task = await hub.delegate("support", "look into it")
        await hub.settled()
        told = await hub.audit.log(acts=["task.created", "task.changed", "task.ended"])
        assert {entry.chain for entry in told} == {f"task:{task.id}"}
        assert [entry.act for entry in reversed(told)] == ["task.created", "task.changed", "task.ended"]
        assert await store_of(hub).records(CHAIN_HEADS.one(f"task:{task.id}")) == []
        assert (await store_of(hub).records(AUDIT_ENTRIES.one(f"task:{task.id}", 1)))[0].detail == {
            "by": "user",
            "to": "support",
            "state": "open",
        }
        assert (await hub.audit.verify()).ok
