"""moot.toml while the hub runs: links follow it, people's links and switches stay, a broken file changes nothing."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import BadSettings, Conflict, MootError, NotPermitted
from moot.flow import sync_links
from moot.hub.process import file_watch
from moot.model.event import EventType
from moot.testing import ManualClock
from tests.support.beneath import store_of
from tests.support.waiting import until

pytestmark = pytest.mark.req("S-12")

TEAM = "".join(f'[[agents]]\nname = "{name}"\nbrain = "demo"\n' for name in ("a", "b", "c", "d"))
A_ABOVE_B = '[[links]]\nfrom = "a"\nto = "b"\nrelationship = "superior"\n'
B_WITH_C = '[[links]]\nfrom = "b"\nto = "c"\n'


class Town:
    """A hub on a home whose moot.toml is written again and again."""

    def __init__(self, hub: Hub, toml: Path) -> None:
        self.hub = hub
        self._toml = toml

    def write(self, *parts: str, team: str = TEAM) -> None:
        self._toml.write_text(team + "".join(parts))

    async def links(self) -> list[str]:
        return [link.sentence for link in await self.hub.links.list()]

    async def told(self, *types: EventType) -> list[Any]:
        return [event.body or {} for event in await store_of(self.hub).events(after=0, types=types)]


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    toml = tmp_path / "moot.toml"
    toml.write_text(TEAM)
    async with Hub.open(tmp_path) as hub:
        yield Town(hub, toml)


def changes(done: Any) -> list[tuple[str, str, str]]:
    return [(each.what, each.change, each.text) for each in done.changes]


async def test_links_of_the_file_are_there_when_the_home_is_opened(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text(f"{TEAM}\n{A_ABOVE_B}{B_WITH_C}")
    async with Hub.open(tmp_path) as hub:
        found = {link.place: (link.sentence, link.origin) for link in await hub.links.list()}
    assert found == {
        "moot.toml:14": ("a is superior of b. Both may start.", "config"),
        "moot.toml:18": ("b and c are peers. Both may start.", "config"),
    }


async def test_a_reload_makes_changes_and_removes_and_tells(town: Town) -> None:
    town.write(A_ABOVE_B)
    assert changes(await town.hub.reload()) == [("link", "added", "a is superior of b. Both may start.")]
    [first] = await town.hub.links.list()
    town.write(A_ABOVE_B.replace("superior", "peer"), B_WITH_C)
    assert changes(await town.hub.reload()) == [
        ("link", "added", "b and c are peers. Both may start."),
        ("link", "changed", "a and b are peers. Both may start."),
    ]
    town.write(B_WITH_C)
    assert changes(await town.hub.reload()) == [("link", "removed", "a and b are peers. Both may start.")]
    assert await town.links() == ["b and c are peers. Both may start."]
    archived = [each.id for each in await town.hub.conversations.list(archived=True)]
    assert archived == [first.channel]
    reports = await town.told(EventType.CONFIG_RELOADED)
    assert [len(report["changes"]) for report in reports] == [1, 2, 1]


async def test_what_people_made_stays_and_what_the_file_names_is_the_files(town: Town) -> None:
    mine = await town.hub.links.create("a", "c")
    named = await town.hub.links.create("a", "b", direction="one_way")
    town.write(A_ABOVE_B)
    await town.hub.reload()
    taken = await town.hub.links.get(named.id)
    assert (taken.sentence, taken.origin) == ("a is superior of b. Both may start.", "config")
    with pytest.raises(Conflict, match=r"moot\.toml:13"):
        await town.hub.links.update(named.id, relationship="peer")
    with pytest.raises(Conflict, match=r"moot\.toml:13"):
        await town.hub.links.delete(named.id)
    town.write()
    await town.hub.reload()
    assert [link.id for link in await town.hub.links.list()] == [mine.id]


async def test_a_link_of_the_file_is_overridden_until_the_file_is_read_again(town: Town) -> None:
    town.write(A_ABOVE_B)
    await town.hub.reload()
    [link] = await town.hub.links.list()
    changed = await town.hub.links.update(link.id, relationship="peer", override=True)
    assert (changed.sentence, changed.origin) == ("a and b are peers. Both may start.", "overridden")
    with pytest.raises(Conflict, match="wins over changes"):
        await town.hub.links.update(link.id, direction="one_way")
    with pytest.raises(Conflict, match=r"moot\.toml:13"):
        await town.hub.links.delete(link.id)
    assert changes(await town.hub.reload()) == [("link", "changed", "a is superior of b. Both may start.")]
    again = await town.hub.links.get(link.id)
    assert (again.sentence, again.origin, again.id) == (link.sentence, "config", link.id)


async def test_an_overridden_link_goes_when_the_file_no_longer_names_it(town: Town) -> None:
    town.write(A_ABOVE_B)
    await town.hub.reload()
    [link] = await town.hub.links.list()
    await town.hub.links.update(link.id, direction="one_way", override=True)
    with pytest.raises(Conflict, match="does not have it"):
        await town.hub.links.apply([])
    town.write()
    await town.hub.reload()
    assert await town.links() == []


async def test_what_is_said_as_it_is_overrides_nothing(town: Town) -> None:
    town.write(A_ABOVE_B)
    await town.hub.reload()
    [link] = await town.hub.links.list()
    same = await town.hub.links.update(link.id, relationship="superior", override=True)
    assert (same.origin, await town.told(EventType.LINK_CHANGED)) == ("config", [])


async def test_a_link_that_was_turned_off_stays_off_until_it_is_turned_on(tmp_path: Path) -> None:
    toml = tmp_path / "moot.toml"
    toml.write_text(TEAM + A_ABOVE_B)
    async with Hub.open(tmp_path) as hub:
        [link] = await hub.links.list()
        await hub.links.update(link.id, enabled=False)
        toml.write_text(TEAM + A_ABOVE_B + 'direction = "one_way"\n')
        await hub.reload()
        assert (await hub.links.get(link.id)).sentence == "a is superior of b. The link is off."
    async with Hub.open(tmp_path) as hub:
        found = await hub.links.get(link.id)
        assert (found.enabled, found.direction) == (False, "one_way")
        await hub.links.update(link.id, enabled=True)
        await hub.reload()
        assert (await hub.links.get(link.id)).enabled


async def test_lines_that_move_are_followed_without_a_word(town: Town) -> None:
    town.write(A_ABOVE_B)
    await town.hub.reload()
    town.write("\n\n# a comment\n", A_ABOVE_B)
    assert changes(await town.hub.reload()) == []
    assert [link.place for link in await town.hub.links.list()] == ["moot.toml:16"]
    assert await town.told(EventType.LINK_CHANGED) == []


RING = (
    '"a" is superior of "b" (links[0]), "b" is superior of "c" (links[1]), "c" is superior of "a" (links[2])'
)
BROKEN = {
    "no TOML": ("[[links]\n", "13:8 is not TOML"),
    "an unknown value": (A_ABOVE_B.replace("superior", "boss"), '16:1 relationship = "boss" is not one of'),
    "nobody": (A_ABOVE_B.replace('"b"', '"bbb"'), '15:1 to = "bbb" is not an agent'),
    "a ring": (
        A_ABOVE_B + B_WITH_C + 'relationship = "superior"\n'
        '[[links]]\nfrom = "c"\nto = "a"\nrelationship = "superior"\n',
        "21:1 superiors may not form a ring; expected one of these to be a peer: " + RING,
    ),
    "a store that is not built": ('[store]\nurl = "sqlite:other.db"\n', "store.url"),
    "a name that nobody may have": ('[[agents]]\nname = "moot"\n', "a reserved name"),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_a_broken_file_changes_nothing_and_is_told(town: Town, case: str) -> None:
    text, title = BROKEN[case]
    town.write(B_WITH_C)
    await town.hub.reload()
    town.write(text, '[hub]\npolicy = "open"\n[[agents]]\nname = "newcomer"\n')
    with pytest.raises(MootError) as refused:
        await town.hub.reload()
    assert title in refused.value.title
    assert await town.links() == ["b and c are peers. Both may start."]
    assert town.hub.settings.hub.policy == "auto"
    assert "newcomer" not in {one.name for one in await town.hub.agents.list()}
    [told] = await town.told(EventType.CONFIG_REFUSED)
    assert told["title"] == refused.value.title
    if isinstance(refused.value, BadSettings):
        assert "^" in told["detail"], "the line and a caret"
        assert told["line"] == refused.value.facts["line"] > 0


async def test_a_ring_with_what_people_made_is_refused_with_its_row(town: Town) -> None:
    await town.hub.links.create("b", "c", relationship="superior")
    await town.hub.links.create("c", "a", relationship="superior")
    town.write('[[agents]]\nname = "e"\n', A_ABOVE_B)
    with pytest.raises(
        BadSettings, match=r"moot\.toml:15:1 .*b is superior of c is superior of a is superior of b"
    ) as refused:
        await town.hub.reload()
    assert refused.value.facts["line"] == 15
    assert "e" not in {one.name for one in await town.hub.agents.list()}


async def test_two_rows_that_mean_one_pair_are_refused_under_whatever_names(town: Town) -> None:
    await town.hub.agents.rename("b", "bran")
    town.write(A_ABOVE_B, '[[links]]\nfrom = "bran"\nto = "a"\n', team=TEAM.replace('"b"', '"bran"'))
    with pytest.raises(BadSettings, match=r"moot\.toml:17:1 .*linked twice"):
        await town.hub.reload()


async def test_a_home_whose_links_name_nobody_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text(TEAM + A_ABOVE_B.replace('"a"', '"aya"'))
    with pytest.raises(BadSettings, match=r'moot\.toml:14:1 from = "aya" is not an agent'):
        async with Hub.open(tmp_path):
            pass


async def test_who_is_linked_in_the_file_is_not_removed(town: Town) -> None:
    await town.hub.agents.create("guest", external=True)
    town.write('[[links]]\nfrom = "a"\nto = "guest"\n')
    await town.hub.reload()
    with pytest.raises(Conflict, match=r"guest is linked in moot\.toml:13"):
        await town.hub.agents.remove("guest")


@pytest.mark.req("S-05")
async def test_policy_limits_and_groups_are_in_force_at_once_and_the_rest_needs_a_restart(town: Town) -> None:
    await town.hub.links.create("a", "b")
    with pytest.raises(NotPermitted):
        await town.hub.acting_as("a").send("c", "hello")
    await town.hub.conversations.create("room", participants=["a", "b"])
    town.write(
        '[hub]\npolicy = "open"\nport = 9\n[groups]\nmax_depth = 5\n'
        "[limits]\npair_per_minute = 3\nopen_at_once = 7\n[host]\nlease_seconds = 44.0\n"
    )
    done = await town.hub.reload()
    assert changes(done) == [
        ("setting", "changed", 'hub.policy = "open" (was "auto")'),
        ("setting", "changed", "groups.max_depth = 5 (was 2)"),
        ("setting", "changed", "limits.pair_per_minute = 3 (was 10)"),
    ]
    assert done.restart == ("hub.port", "limits.open_at_once", "host.lease_seconds")
    await town.hub.acting_as("a").send("c", "hello")
    assert (await town.hub.conversations.get("room")).settings["max_depth"] == 5
    limits = town.hub.settings.limits
    assert (limits.pair_per_minute, limits.open_at_once) == (3, 32)
    assert (await town.hub.reload()).restart == done.restart, "until the hub starts again"


async def test_another_process_on_the_home_follows(tmp_path: Path) -> None:
    toml = tmp_path / "moot.toml"
    toml.write_text(TEAM)
    async with Hub.open(tmp_path) as one, Hub.open(tmp_path) as other:
        await one.links.create("a", "b")
        await other.conversations.list()
        toml.write_text(TEAM + '[hub]\npolicy = "open"\n')
        await one.reload()
        await store_of(other).events(after=0)
        await other._core.parts.log.catch_up()

        async def policy() -> str:
            return other.settings.hub.policy

        await until(policy, lambda found: found == "open")
        await other.acting_as("a").send("c", "hello")


async def test_only_the_owner_has_the_file_read(town: Town) -> None:
    with pytest.raises(NotPermitted, match="only the owner"):
        await town.hub.acting_as("a").reload()


async def test_syncing_again_changes_nothing_and_writes_no_event(town: Town) -> None:
    town.write(A_ABOVE_B, B_WITH_C)
    await town.hub.reload()
    before = await store_of(town.hub).last_event()
    assert changes(await town.hub.reload()) == []
    after = await store_of(town.hub).events(after=before)
    assert [event.type for event in after] == [EventType.CONFIG_RELOADED]


async def test_many_links_are_told_by_their_number(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.hub.process.settings_in_force.MAX_LISTED_LINKS", 1)
    town.write(A_ABOVE_B, B_WITH_C)
    assert [text for _, _, text in changes(await town.hub.reload())] == [
        "a is superior of b. Both may start.",
        "and 1 more links",
    ]


async def test_links_that_others_change_meanwhile_are_synced_all_the_same(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was looked at is not what is there when the decision is made."""
    town.write(A_ABOVE_B, B_WITH_C)
    await town.hub.reload()
    moved: list[int] = []
    decide = sync_links.decide

    def late(command: Any, seen: Any, at: Any) -> Any:
        if len(command.known) < 2:
            moved.append(len(command.known))
        return decide(command, seen, at)

    monkeypatch.setattr(sync_links, "decide", late)
    town.write()
    await town.hub.reload()
    assert await town.links() == []
    assert moved, "the first attempt did not know which channels it needs"


# --- the agents that a hub runs ---------------------------------------------------------------------------

ROWS = '[[agents]]\nname = "one"\nbrain = "code:crew:one"\n'
CREW = """
import asyncio
from pathlib import Path

BEGUN = Path(__file__).with_name("begun")
GO = Path(__file__).with_name("go")


async def one(turn):
    if "slowly" in turn.text:
        BEGUN.touch()
        while not GO.exists():
            await asyncio.sleep(0.005)
    return f"one: {turn.text}"


async def two(turn):
    return f"two: {turn.text}"
"""


@pytest.fixture
async def crew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Town]:
    """A hub as `moot up` opens it: it runs what moot.toml describes. Nobody takes the file in before the test does."""
    monkeypatch.setattr(file_watch, "changes", unwatched)
    async with crewed(tmp_path, monkeypatch) as town:
        yield town


@pytest.fixture
async def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Town]:
    """The same; it follows the file."""
    async with crewed(tmp_path, monkeypatch) as town:
        yield town


async def unwatched(file: Path) -> AsyncIterator[None]:
    await asyncio.Event().wait()
    yield


@asynccontextmanager
async def crewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Town]:
    (tmp_path / "crew.py").write_text(CREW)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "crew", raising=False)
    toml = tmp_path / "moot.toml"
    toml.write_text("# nobody yet\n")
    async with Hub.open(tmp_path, socket=tmp_path / "run" / "hub.sock") as hub:
        yield Town(hub, toml)


async def answer(hub: Hub, name: str, text: str = "hello") -> str:
    return (await hub.ask(name, text, timeout=40)).text


async def test_a_hub_runs_agents_that_are_added_and_changed_and_lets_go_of_others(crew: Town) -> None:
    crew.write(ROWS, team="")
    assert changes(await crew.hub.reload()) == [("agent", "added", "one was added")]
    assert await answer(crew.hub, "one") == "one: hello"
    crew.write(ROWS.replace("crew:one", "crew:two") + 'role = "smith"\n', team="")
    assert changes(await crew.hub.reload()) == [("agent", "changed", "one has a new role, brain")]
    assert await answer(crew.hub, "one") == "two: hello"
    assert (await crew.hub.agents.get("one")).role == "smith"
    crew.write("# nobody\n", team="")
    await crew.hub.reload()

    async def reach() -> str:
        return (await crew.hub.agents.get("one")).reachability

    await until(reach, lambda found: found == "away")
    crew.write(ROWS, team="")
    await crew.hub.reload()
    assert await answer(crew.hub, "one") == "one: hello"


async def test_a_turn_under_way_ends_with_the_brain_it_began_with(crew: Town, tmp_path: Path) -> None:
    crew.write(ROWS, team="")
    await crew.hub.reload()
    asking = asyncio.create_task(answer(crew.hub, "one", "slowly"))

    async def begun() -> bool:
        return (tmp_path / "begun").exists()

    await until(begun, bool)
    crew.write(ROWS.replace("crew:one", "crew:two"), team="")
    await crew.hub.reload()
    (tmp_path / "go").touch()
    assert await asking == "one: slowly"
    assert await answer(crew.hub, "one") == "two: hello"


async def test_an_agent_that_cannot_be_loaded_goes_on_as_before_and_is_told_of(crew: Town) -> None:
    crew.write(ROWS, team="")
    await crew.hub.reload()
    crew.write(ROWS.replace("crew:one", "crew:gone"), team="")
    done = await crew.hub.reload()
    assert "crew:gone cannot be loaded" in done.troubles[0]
    assert await answer(crew.hub, "one") == "one: hello"


async def test_a_program_runs_whom_it_was_given_whatever_the_file_says(tmp_path: Path) -> None:
    @agent("mine")
    async def think(turn: Any) -> str:
        return "mine"

    toml = tmp_path / "moot.toml"
    toml.write_text("")
    async with Hub.open(tmp_path, agents=[think]) as hub:
        toml.write_text('[[agents]]\nname = "mine"\nrole = "smith"\n[[agents]]\nname = "other"\n')
        await hub.reload()
        found = {one.name: (one.role, one.brain, one.reachability) for one in await hub.agents.list()}
        assert found == {"mine": ("smith", "code", "live"), "other": ("", "demo", "away")}


async def test_the_file_is_followed_while_the_hub_runs(followed: Town) -> None:
    followed.write(TEAM, A_ABOVE_B, team="")
    await until(followed.links, lambda found: found == ["a is superior of b. Both may start."])
    followed.write("[[links]\n")

    async def refusals() -> int:
        return len(await followed.told(EventType.CONFIG_REFUSED))

    await until(refusals, lambda count: count == 1)
    followed.write("", team="")
    followed.write(TEAM, B_WITH_C, team="")
    await until(followed.links, lambda found: found == ["b and c are peers. Both may start."])
    assert await refusals() == 1


async def test_a_file_that_is_emptied_takes_nothing_away_until_somebody_asks(crew: Town) -> None:
    crew.write(A_ABOVE_B)
    await crew.hub.reload()
    settings = crew.hub._core.reload.__self__  # type: ignore[attr-defined]
    crew.write(team="")
    await settings._look()
    assert len(await crew.links()) == 1
    await crew.hub.reload()
    assert await crew.links() == []


async def test_a_refused_file_enrols_nobody_even_where_its_links_name_somebody_new(town: Town) -> None:
    await town.hub.links.create("a", "b", relationship="superior")
    before = [one.name for one in await town.hub.agents.list()]
    down = '[[links]]\nfrom = "{}"\nto = "{}"\nrelationship = "superior"\n'
    town.write('[[agents]]\nname = "new"\nbrain = "demo"\n', down.format("b", "new"), down.format("new", "a"))
    with pytest.raises(MootError, match="superior of"):
        await town.hub.reload()
    assert [one.name for one in await town.hub.agents.list()] == before
    town.write('[[agents]]\nname = "new"\nbrain = "demo"\n', down.format("b", "new"))
    await town.hub.reload()
    assert await town.links() == [
        "a is superior of b. Both may start.",
        "b is superior of new. Both may start.",
    ]


async def test_who_only_opens_a_home_takes_nothing_away_by_half_a_file(tmp_path: Path) -> None:
    toml = tmp_path / "moot.toml"
    toml.write_text(TEAM + A_ABOVE_B)
    async with Hub.open(tmp_path) as hub:
        before = await hub.links.list()
        task = await hub.acting_as("a").delegate("b", "long work")
        toml.write_text(TEAM)  # an editor in the middle of its write
        async with Hub.open(tmp_path):
            pass
        toml.write_text(TEAM + A_ABOVE_B)
        async with Hub.open(tmp_path):
            pass
        assert await hub.links.list() == before
        assert (await hub.tasks.get(task.id)).state == "open"
        toml.write_text(TEAM)
        os.utime(toml, (1_700_000_000, 1_700_000_000))
        async with Hub.open(tmp_path):
            assert await hub.links.list() == [], "nobody is writing it any more"


async def test_while_a_hub_runs_only_the_hub_follows_the_file(crew: Town, tmp_path: Path) -> None:
    crew.write(A_ABOVE_B)
    await crew.hub.reload()
    crew.write()
    os.utime(tmp_path / "moot.toml", (1_700_000_000, 1_700_000_000))
    settings = crew.hub._core.reload.__self__  # type: ignore[attr-defined]
    async with settings._taking_in, Hub.open(tmp_path) as other:  # the hub has not come to it yet
        assert len(await other.links.list()) == 1


async def test_a_file_is_taken_in_when_nobody_writes_it_any_more(tmp_path: Path) -> None:
    toml, clock = tmp_path / "moot.toml", ManualClock()
    toml.write_text(TEAM + A_ABOVE_B)
    async with Hub.open(tmp_path, clock=clock) as hub:
        before = await hub.links.list()
        settings = hub._core.reload.__self__  # type: ignore[attr-defined]
        toml.write_text(TEAM)
        looking = asyncio.ensure_future(settings._look())
        await asyncio.sleep(0)
        toml.write_text(TEAM + A_ABOVE_B)
        while not looking.done():
            await clock.advance(0.1)
        assert await hub.links.list() == before
        toml.write_text(TEAM)
        looking = asyncio.ensure_future(settings._look())
        while not looking.done():
            await clock.advance(0.1)
        assert await hub.links.list() == []


async def test_a_row_that_comes_back_finds_its_id_its_channel_and_what_was_said_there(town: Town) -> None:
    town.write(A_ABOVE_B)
    await town.hub.reload()
    [first] = await town.hub.links.list()
    await town.hub.acting_as("a").send("b", "before it went")
    for again in (1, 2):
        town.write(B_WITH_C)
        await town.hub.reload()
        assert first.id not in {link.id for link in await town.hub.links.list()}
        assert (await town.hub.conversations.get(first.channel)).archived
        town.write(B_WITH_C, A_ABOVE_B.replace('"a"', '"x"').replace('"b"', '"a"').replace('"x"', '"b"'))
        await town.hub.reload()
        [back] = await town.hub.links.list(between="a,b")
        assert (back.id, back.channel, back.sentence) == (
            first.id,
            first.channel,
            "b is superior of a. Both may start.",
        )
        await town.hub.acting_as("b").send("a", f"back {again}")
    texts = [message.text for message in await town.hub.messages(first.channel)]
    assert [text for text in texts if not text.startswith("[")] == ["before it went", "back 1", "back 2"]
    assert (await town.hub.audit.verify()).ok


async def test_a_channel_whose_name_or_contents_are_gone_comes_back_all_the_same(town: Town) -> None:
    made = await town.hub.links.create("a", "b")
    await town.hub.links.delete(made.id)
    await town.hub.conversations.create("link-a+b")
    back = await town.hub.links.create("b", "a")
    assert (back.id, (await town.hub.conversations.get(back.channel)).name) == (
        made.id,
        f"link-a+b-{made.id[-8:]}",
    )
    await town.hub.links.delete(back.id, purge=True)
    third = await town.hub.links.create("a", "b")
    assert third.id != made.id
    assert (await town.hub.audit.verify()).ok
