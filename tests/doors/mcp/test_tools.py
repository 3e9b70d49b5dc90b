"""What the tools do, by the official client over HTTP, in the old protocol and the new."""

import asyncio

import pytest
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

from tests.doors.http.world import World
from tests.doors.mcp.conftest import ERAS, came_in
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("J-02")
both_eras = pytest.mark.parametrize("era", ERAS)


@both_eras
async def test_two_agents_find_each_other_and_talk(world: World, era: str) -> None:
    async with came_in(world, "bob", era) as bob, came_in(world, "eve", era) as eve:
        there = await bob("list_agents")
        assert there["self"] == "bob"
        assert {"arya", "eve", "quiet"} < {agent["name"] for agent in there["agents"]}
        assert all({"name", "status", "project"} <= agent.keys() for agent in there["agents"])
        assert "" in {agent["project"] for agent in there["agents"]}
        sent = await bob("send_to_agent", target="eve", message="which port?")
        assert (sent["delivered"], sent["target"], sent["seq"]) == (True, "eve", 1)
        waiting = await eve("check_messages")
        [message] = waiting["messages"]
        assert (message["from"], message["text"], message["id"]) == ("bob", "which port?", sent["id"])
        answered = await eve("reply", message_id=message["id"], text="5173")
        assert answered["delivered"]
        [answer] = (await bob("wait_for_messages", timeout_seconds=40))["messages"]
        assert (answer["from"], answer["text"], answer["reply_to"]) == ("eve", "5173", sent["id"])
        assert (answer["root"], answer["hop"]) == (message["root"], message["hop"] + 1)


@both_eras
async def test_a_wait_is_woken_by_a_message(world: World, era: str) -> None:
    async with came_in(world, "bob", era) as bob:
        waiting = asyncio.ensure_future(bob("wait_for_messages", timeout_seconds=40))
        await until(lambda: world.hub.agents.get("bob"), lambda who: who.reachability == "live")
        await world.hub.send("bob", "wake up")
        found = await asyncio.wait_for(waiting, PATIENCE)
        assert [m["text"] for m in found["messages"]] == ["wake up"]
        assert found["must_answer"] == [found["messages"][0]["id"]]


async def test_the_next_check_says_that_the_last_ones_are_dealt_with(world: World) -> None:
    async with came_in(world, "bob") as bob:
        await world.hub.send("bob", "one")
        assert len((await bob("check_messages"))["messages"]) == 1
        assert (await bob("check_messages")) == {"messages": [], "next": None}
    [turn] = await world.hub.turns(agent="bob")
    assert turn.state == "passed"


@both_eras
async def test_a_client_that_comes_anew_is_given_again_what_the_last_one_left(world: World, era: str) -> None:
    await world.hub.send("bob", "precious")
    async with came_in(world, "bob", era if era == "legacy" else "auto") as first:
        assert len((await first("check_messages"))["messages"]) == 1
    async with came_in(world, "bob", era if era == "legacy" else "auto") as second:
        assert [m["text"] for m in (await second("check_messages"))["messages"]] == ["precious"]


@both_eras
async def test_two_clients_with_one_token_do_not_end_each_others_turns(world: World, era: str) -> None:
    """Told apart by the id they are given with their introduction; in the protocol without, by what they are."""
    era, name = ("legacy", "") if era == "legacy" else ("auto", "another")
    async with came_in(world, "bob", era) as first, came_in(world, "bob", era, client=name) as second:
        await world.hub.send("bob", "precious")
        for bob in (first, second):
            assert [m["text"] for m in (await bob("check_messages"))["messages"]] == ["precious"]
        [turn] = await world.hub.turns(agent="bob")
        assert turn.state == "running", "only who was handed it and asks again has dealt with it"
        assert (await first("check_messages"))["messages"] == []
    [turn] = await world.hub.turns(agent="bob")
    assert turn.state == "passed"


async def test_refusals_are_answers_that_an_agent_can_act_on(world: World) -> None:
    async with came_in(world, "bob") as bob:
        missing = await bob("send_to_agent", target="evee", message="hello")
        assert (missing["delivered"], missing["error"], missing["suggestions"]) == (
            False,
            "Agent not found",
            ["eve"],
        )
        assert "bob" not in missing["available"]
        for number in range(10):
            assert (await bob("send_to_agent", target="eve", message=f"m{number}"))["delivered"]
        limited = await bob("send_to_agent", target="eve", message="one too many")
        assert (limited["delivered"], limited["error"]) == (False, "Rate limited")
        assert 0 < limited["retry_after_ms"] <= 60_000
        hidden = await bob.error("post", conversation="room", text="let me in")
        assert (hidden["code"], hidden["name"]) == ("E201", "conversation_not_found")
        assert await world.hub.messages("room") == []


async def test_back_off_holds_and_says_for_how_long(still: World) -> None:
    async with came_in(still, "bob") as bob:
        first = await bob("send_to_agent", target="quiet", message="one")
        await still.hub.settled()
        second = await bob("send_to_agent", target="quiet", message="two")
        assert "delayed_ms" not in first
        assert 0 < second["delayed_ms"] <= 2000


async def test_everybody_else_is_told_once(world: World) -> None:
    async with came_in(world, "bob") as bob, came_in(world, "eve") as eve:
        told = await bob("broadcast", message="lunch")
        assert set(told["delivered_to"]) == {"arya", "eve", "quiet", "stubborn"}
        assert told["failed"] == []
        [message] = (await eve("check_messages"))["messages"]
        assert message["metadata"]["broadcast_id"] == told["broadcast_id"]


async def test_a_name_is_taken_the_old_one_stays_and_a_taken_one_is_refused(world: World) -> None:
    async with came_in(world, "bob") as bob, came_in(world, "eve") as eve:
        assert await bob("set_name", name="janus-dev") == {
            "success": True,
            "previous_name": "bob",
            "new_name": "janus-dev",
        }
        refused = await eve("set_tab_name", name="janus-dev")
        assert not refused["success"]
        assert refused["suggestions"]
        assert (await eve("send_agent_message", target="bob", message="old name"))["target"] == "janus-dev"
        assert (await bob("list_agents"))["self"] == "janus-dev"
        assert len((await bob("check_messages"))["messages"]) == 1


async def test_in_a_group_an_outside_agent_is_called_posts_reads_and_asks_why(world: World) -> None:
    await world.hub.conversations.create("build", participants=["bob", "quiet"])
    async with came_in(world, "bob") as bob:
        receipt = await world.hub.post("build", "@bob status?")
        found = await bob("check_messages")
        assert [m["text"] for m in found["messages"]] == ["@bob status?"]
        posted = await bob("post", conversation="build", text="half way")
        assert posted["delivered"]
        assert {part["agent"] for part in posted["deliveries"]} == {"quiet"}
        await bob("reply", message_id=receipt.id, text="done")
        read = await bob("read_conversation", conversation="build")
        said = [m["text"] for m in read["messages"] if m["kind"] != "system"]
        assert said == ["@bob status?", "half way", "done"]
        later = await bob("read_conversation", conversation="build", after=read["messages"][-2]["seq"])
        assert [m["text"] for m in later["messages"]] == ["done"]
        explained = await bob("why", message_id=receipt.id)
        assert {row["agent"]: row["rule"] for row in explained["agents"]}["bob"] == "mention"
        hits = (await bob("search", query="half"))["hits"]
        assert [hit["message"]["text"] for hit in hits] == ["half way"]


async def test_nothing_is_found_where_one_is_no_member(world: World) -> None:
    await world.hub.post("room", "the secret word is swordfish")
    async with came_in(world, "bob") as bob:
        assert (await bob("search", query="swordfish"))["hits"] == []
        for tool, arguments in (
            ("read_conversation", {"conversation": "room"}),
            ("why", {"message_id": "room:1"}),
            ("reply", {"message_id": "room:1", "text": "hm"}),
        ):
            assert (await bob.error(tool, **arguments))["code"] == "E201"


async def test_a_question_waits_for_its_answer(world: World) -> None:
    async with came_in(world, "bob") as bob:
        answered = await bob("ask", target="arya", question="ready?")
        assert answered["answered"]
        assert answered["message"]["text"] == "arya heard ready?"
        silent = await bob("ask", target="quiet", question="ready?")
        assert (silent["answered"], silent["outcome"]) == (False, "passed")
        late = await bob("ask", target="eve", question="ready?", deadline_seconds=0.1)
        assert (late["answered"], late["outcome"]) == (False, "timed_out")


@pytest.mark.req("P-06")
async def test_no_tool_takes_a_sender(world: World) -> None:
    tools = {
        "send_to_agent": {"target": "eve", "message": "x"},
        "broadcast": {"message": "x"},
        "post": {"conversation": "room", "text": "x"},
        "reply": {"message_id": "room:1", "text": "x"},
        "ask": {"target": "eve", "question": "x"},
        "set_name": {"name": "x"},
        "check_messages": {},
        "wait_for_messages": {},
    }
    async with came_in(world, "bob") as bob:
        for tool, arguments in tools.items():
            for field in ("sender", "from", "author", "as", "kind", "root", "hop"):
                refused = await bob.error(tool, **arguments, **{field: "user"})
                assert field in refused["title"], (tool, field)
    assert {
        m.sender for hit in await world.hub.conversations.list() for m in await world.hub.messages(hit.id)
    } <= {"system"}


async def test_the_owner_and_persons_come_in_too_and_are_handed_what_they_have_not_read(world: World) -> None:
    await world.hub.ask("arya", "hello")
    async with came_in(world, "owner") as owner:
        assert (await owner("list_agents"))["self"] == "user"
        assert [m["text"] for m in (await owner("check_messages"))["messages"]] == ["arya heard hello"]
        assert (await owner("check_messages"))["messages"] == []
    async with came_in(world, "owner", **{"Moot-Act-As": "bob"}) as spoken_for:
        assert (await spoken_for("list_agents"))["self"] == "bob"


async def test_an_agent_that_the_hub_runs_may_write_but_is_not_handed_messages(world: World) -> None:
    async with came_in(world, "arya") as arya:
        assert (await arya("send_to_agent", target="eve", message="hi"))["delivered"]
        assert (await arya.error("check_messages"))["code"] == "E301"


# --- resources -------------------------------------------------------------------------------------------


@both_eras
async def test_conversations_are_resources(world: World, era: str) -> None:
    build = await world.hub.conversations.create("build", participants=["bob"])
    await world.hub.post("build", "@bob hello")
    async with came_in(world, "bob", era) as bob:
        listed = (await bob.client.list_resources()).resources
        assert [(one.name, one.uri) for one in listed] == [("build", f"moot://conversations/{build.id}")]
        [read] = (await bob.client.read_resource("moot://conversations/build")).contents
        assert '"text":"@bob hello"' in str(getattr(read, "text", ""))
        with pytest.raises(MCPError, match="no conversation of yours"):
            await bob.client.read_resource("moot://conversations/room")
        with pytest.raises(MCPError, match="begin with"):
            await bob.client.read_resource("file:///etc/passwd")
        assert (await bob.client.list_resource_templates()).resource_templates


async def test_who_listens_is_told_of_what_is_new_and_no_longer_once_it_has_left(world: World) -> None:
    build = await world.hub.conversations.create("build", participants=["bob"])
    uri = f"moot://conversations/{build.id}"
    async with came_in(world, "bob", "2026-07-28") as bob:
        with pytest.raises(MCPError, match="no conversation of yours"):
            async with bob.client.listen(resource_subscriptions=["moot://conversations/room"]):
                pass
        async with bob.client.listen(resource_subscriptions=[uri]) as stream:
            await world.hub.post("build", "news")
            event = await asyncio.wait_for(anext(aiter(stream)), PATIENCE)
            assert event == ResourceUpdated(uri=uri)
            await world.hub.conversations.leave("build", "bob")
            await world.hub.post("build", "not for bob")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(aiter(stream)), 0.3)


# --- what can be done ------------------------------------------------------------------------------------


async def test_what_can_be_done_is_said_as_tool_calls_or_whom_to_ask(world: World) -> None:
    pair = await world.hub.acting_as("bob").send("arya", "hello")
    async with came_in(world, "bob") as bob:
        missing = await bob.error("ask", target="nobody", question="who?")
        assert missing["fix"] == ["ask the owner to create the agent nobody", "list_agents()"]
        told = await bob("post", conversation=pair.conversation, text="and @quiet?")
        assert told["warnings"] == [
            "quiet is not in this conversation; ask the owner to create a conversation with bob, arya, quiet"
        ]
