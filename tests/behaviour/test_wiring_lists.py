"""A list of links, applied as a whole: `hub.links.apply`. One decision, or a refusal that changes nothing."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.errors import BadValue, Conflict, MootError, NotFound, NotPermitted
from moot.shapes import AppliedLinks

pytestmark = pytest.mark.req("S-12")
TEAM = "".join(f'[[agents]]\nname = "{name}"\nbrain = "demo"\n' for name in ("a", "b", "c", "d"))
A_ABOVE_B = {"from": "a", "to": "b", "relationship": "superior"}
B_WITH_C = {"from": "b", "to": "c"}
IN_TOML = '[[links]]\nfrom = "a"\nto = "b"\nrelationship = "superior"\n'


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    (tmp_path / "moot.toml").write_text(TEAM)
    async with Hub.open(tmp_path) as hub:
        yield hub


@pytest.fixture
async def configured(tmp_path: Path) -> AsyncIterator[Hub]:
    """With a link of moot.toml."""
    (tmp_path / "moot.toml").write_text(TEAM + IN_TOML)
    async with Hub.open(tmp_path) as hub:
        yield hub


async def links(hub: Hub) -> list[str]:
    return [link.sentence for link in await hub.links.list()]


async def test_what_the_list_says_is_made_changed_and_deleted(hub: Hub) -> None:
    await hub.links.create("b", "c", relationship="superior")
    await hub.links.create("c", "d")
    done = await hub.links.apply([A_ABOVE_B, B_WITH_C])
    assert [link.sentence for link in done.made] == ["a is superior of b. Both may start."]
    assert [(one.before.sentence, one.after.sentence) for one in done.changed] == [
        ("b is superior of c. Both may start.", "b and c are peers. Both may start.")
    ]
    assert [link.sentence for link in done.removed] == ["c and d are peers. Both may start."]
    assert await links(hub) == ["b and c are peers. Both may start.", "a is superior of b. Both may start."]
    same = [B_WITH_C, {"from": "b", "to": "a", "relationship": "subordinate"}]
    again = await hub.links.apply(same)
    assert again == AppliedLinks((), (), (), (), {}, again.version)


async def test_a_look_says_the_same_and_changes_nothing(hub: Hub) -> None:
    await hub.links.create("c", "d")
    before = await links(hub)
    looked = await hub.links.apply([A_ABOVE_B], dry_run=True)
    assert await links(hub) == before
    done = await hub.links.apply([A_ABOVE_B])
    assert [link.sentence for link in looked.made] == [link.sentence for link in done.made]
    assert (looked.removed, looked.cuts_off) == (done.removed, done.cuts_off)
    assert looked.made[0].id == ""
    assert done.made[0].id


async def test_it_says_whom_it_cuts_off(hub: Hub) -> None:
    done = await hub.links.apply([A_ABOVE_B])
    assert done.cuts_off == {"a": ("c", "d"), "b": ("c", "d")}
    more = await hub.links.apply([A_ABOVE_B, B_WITH_C])
    assert more.cuts_off == {"c": ("d",)}


async def test_links_of_moot_toml_may_be_repeated_and_are_left_as_they_are(configured: Hub) -> None:
    [before] = await configured.links.list()
    done = await configured.links.apply([A_ABOVE_B, B_WITH_C])
    assert [link.sentence for link in done.made] == ["b and c are peers. Both may start."]
    assert (await configured.links.list())[0] == before


@pytest.mark.parametrize(
    "rows", [[B_WITH_C], [{"from": "a", "to": "b"}, B_WITH_C]], ids=["left out", "otherwise"]
)
async def test_a_list_that_says_a_link_of_moot_toml_otherwise_is_refused_as_a_whole(
    configured: Hub, rows: list[dict[str, Any]]
) -> None:
    await configured.links.create("c", "d")
    before = await links(configured)
    with pytest.raises(Conflict, match=r"moot\.toml:13") as refused:
        await configured.links.apply(rows)
    assert refused.value.facts["place"] == "moot.toml:13"
    assert await links(configured) == before
    looked = await configured.links.apply(rows, dry_run=True)
    assert [link.place for link in looked.in_the_way] == ["moot.toml:13"]
    assert len(looked.made) == 1


@pytest.mark.parametrize(
    ("row", "kind", "words"),
    [
        ({"from": "a", "to": "nobody"}, NotFound, "nobody"),
        ({"from": "a", "to": "a"}, Conflict, "itself"),
        ({"from": "c", "to": "b"}, Conflict, "twice"),
        ({"from": "c", "to": "a", "relationship": "superior"}, Conflict, "its own superior"),
        ({"from": "c", "to": "d", "relationship": "boss"}, BadValue, "relationship"),
        ({"from": "c", "to": "d", "colour": "red"}, BadValue, "colour"),
    ],
)
async def test_one_bad_row_refuses_them_all_and_is_named(
    hub: Hub, row: dict[str, Any], kind: type[Exception], words: str
) -> None:
    await hub.links.create("c", "d")
    before = await links(hub)
    rows = [A_ABOVE_B, {"from": "b", "to": "c", "relationship": "superior"}, row]
    with pytest.raises(kind, match=words) as refused:
        await hub.links.apply(rows)
    assert isinstance(refused.value, MootError)
    assert refused.value.facts["row"] in ((0, 1, 2) if "superior" in words else (2,))
    assert await links(hub) == before


async def test_links_of_who_was_removed_wait_for_its_return(hub: Hub) -> None:
    await hub.agents.create("guest", external=True)
    kept = await hub.links.create("c", "guest")
    await hub.agents.remove("guest")
    done = await hub.links.apply([A_ABOVE_B])
    assert done.removed == ()
    assert kept.id in {link.id for link in await hub.links.list()}


async def test_a_list_may_turn_on_what_was_turned_off(hub: Hub) -> None:
    made = await hub.links.create("a", "b")
    await hub.links.update(made.id, enabled=False)
    off = {"from": "a", "to": "b", "enabled": False}
    assert (await hub.links.apply([off])).changed == ()
    [one] = (await hub.links.apply([{"from": "a", "to": "b"}])).changed
    assert (one.before.enabled, one.after.enabled) == (False, True)


async def test_agents_apply_nothing(hub: Hub) -> None:
    with pytest.raises(NotPermitted):
        await hub.acting_as("a").links.apply([A_ABOVE_B])


async def test_lists_applied_at_once_leave_one_of_them(hub: Hub) -> None:
    lists: list[list[dict[str, str]]] = [[A_ABOVE_B], [B_WITH_C], [{"from": "c", "to": "d"}], []]
    await asyncio.gather(*(hub.links.apply(rows) for rows in lists * 3))
    left = await links(hub)
    assert len(left) <= 1
    channels = await hub.conversations.list(kind="link")
    assert len(channels) == len(left)


async def test_a_list_is_refused_if_somebody_changed_a_link_since_it_was_looked_at(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        for name in ("a", "b", "c"):
            await hub.agents.create(name)
        wanted = [{"from": "a", "to": "b"}]
        look = await hub.links.apply(wanted, dry_run=True)
        await hub.links.create("b", "c")
        with pytest.raises(Conflict, match="have changed since you looked"):
            await hub.links.apply(wanted, expects=look.version)
        assert [link.sentence for link in await hub.links.list()] == ["b and c are peers. Both may start."]
        look = await hub.links.apply(wanted, dry_run=True)
        await hub.links.apply(wanted, expects=look.version)
        assert [link.sentence for link in await hub.links.list()] == ["a and b are peers. Both may start."]
