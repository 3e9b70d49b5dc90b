"""The map and its table: the same links by mouse and by keys, said in words, never moved by events."""

from datetime import UTC, datetime
from urllib.error import HTTPError
from urllib.parse import quote
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Profile, go, signed_in
from tests.page.running_hub import RunningHub
from tests.page.waiting import at_rest, until

NODES = ".react-flow__node"


def newcomer(hub: RunningHub) -> str:
    name = f"new-{uuid4().hex[:6]}"
    hub.api("POST", "/api/agents", {"name": name, "role": "a newcomer", "kind": "agent"})
    return name


def link_between(hub: RunningHub, one: str, other: str) -> list[dict[str, object]]:
    rows = hub.api("GET", "/api/links")["links"]
    return [row for row in rows if {row["from"], row["to"]} == {one, other}]


def on_map(page: Page, name: str) -> tuple[float, float, float, float]:
    box = page.locator(f'.react-flow__node[data-id="{name}"]').bounding_box()
    assert box is not None
    return box["x"], box["y"], box["width"], box["height"]


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=6)
    page.mouse.move(*end, steps=6)
    page.mouse.up()


@pytest.mark.req("S-16")
def test_dragging_and_keys_make_the_same_link(profile: Profile, hub: RunningHub) -> None:
    dragged, keyed = newcomer(hub), newcomer(hub)
    places = {"critic": (0, 0), "arya": (400, 0), "gendry": (400, 200), dragged: (0, 200), keyed: (220, 320)}
    positions = {name: {"x": x, "y": y} for name, (x, y) in places.items()}
    hub.api("PUT", "/api/topology/positions", {"positions": positions})
    page = signed_in(profile(), hub, "/topology")
    page.wait_for_selector(f'.react-flow__node[data-id="{dragged}"]')
    at_rest(page, NODES)
    x, y, width, height = on_map(page, "critic")
    to_x, to_y, to_width, _ = on_map(page, dragged)
    drag(page, (x + width / 2, y + height), (to_x + to_width / 2, to_y))
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"critic is superior of {dragged}. Both may start.")
    page.get_by_role("button", name="Link them").click()
    expect(page.get_by_test_id("sentence")).to_contain_text(
        f"critic is superior of {dragged}. Both may start."
    )
    for choice, sentence in (
        ("They are peers", "are peers"),
        (f"critic is superior of {dragged}", "is superior of"),
    ):
        page.get_by_label(choice).click()
        expect(page.get_by_test_id("sentence")).to_contain_text(sentence)
    page.keyboard.press("Escape")

    page.locator('.react-flow__node[data-id="critic"]').focus()
    page.keyboard.press("l")
    page.get_by_label("To", exact=True).select_option(keyed)
    page.get_by_label(f"critic is superior of {keyed}").check()
    page.get_by_role("button", name="Link them").press("Enter")
    expect(page.get_by_test_id("sentence")).to_contain_text(f"critic is superior of {keyed}. Both may start.")
    [one], [other] = link_between(hub, "critic", dragged), link_between(hub, "critic", keyed)
    assert [one[field] for field in ("from", "direction", "relationship", "enabled")] == [
        other[field] for field in ("from", "direction", "relationship", "enabled")
    ]


def test_a_second_link_and_a_link_to_oneself_are_refused_in_words(page: Page, hub: RunningHub) -> None:
    page.goto(f"{hub.url}/topology")
    page.get_by_role("button", name="Link …").click()
    page.get_by_label("From", exact=True).select_option("arya")
    page.get_by_label("To", exact=True).select_option("arya")
    page.get_by_role("button", name="Link them").click()
    expect(page.get_by_role("alert").filter(has_text="cannot be linked to itself")).to_be_visible()
    page.get_by_label("To", exact=True).select_option("gendry")
    page.get_by_role("button", name="Link them").click()
    expect(page.get_by_test_id("sentence")).to_have_text("arya is superior of gendry. Both may start.")
    assert len(link_between(hub, "arya", "gendry")) == 1


def test_a_link_of_the_settings_file_is_locked_and_says_where(page: Page, hub: RunningHub) -> None:
    [link] = link_between(hub, "arya", "gendry")
    page.goto(f"{hub.url}/topology?edge={link['id']}")
    expect(page.get_by_text("This link is defined in moot.toml:")).to_be_visible()
    expect(page.get_by_role("switch")).to_be_disabled()
    page.get_by_role("button", name="What they are told").click()
    expect(page.get_by_text("gendry reports to you")).to_be_visible()


def test_events_move_no_node_and_stillness_still_counts(profile: Profile, hub: RunningHub) -> None:
    page = signed_in(profile(motion="reduce"), hub, "/topology")
    at_rest(page, NODES)
    before = [on_map(page, name) for name in ("arya", "gendry", "critic")]
    for number in range(3):
        hub.api("POST", "/api/agents/gendry/send", {"text": f"still {number}"}, Moot_Act_As="arya")
    expect(page.locator("[data-count]").first).to_be_visible()
    assert page.evaluate("document.getAnimations().length") == 0
    assert [on_map(page, name) for name in ("arya", "gendry", "critic")] == before


@pytest.mark.req("M-02")
def test_a_pulse_runs_from_the_true_sender(profile: Profile, hub: RunningHub) -> None:
    [link] = link_between(hub, "arya", "gendry")
    hub.settled(str(link["channel"]))  # nobody says anything there but what is said here
    page = signed_in(profile(), hub, "/topology")
    page.wait_for_selector('.react-flow__node[data-id="arya"]')
    page.evaluate(
        """() => {
          window.pulses = [];
          const note = (node) => node.classList?.contains('map-pulse') && window.pulses.push(node.dataset.from);
          new MutationObserver((all) => { for (const one of all) one.addedNodes.forEach(note); })
            .observe(document.querySelector('.map'), { subtree: true, childList: true });
        }"""
    )
    hub.api("POST", "/api/agents/arya/send", {"text": "coming from below"}, Moot_Act_As="gendry")
    page.wait_for_function("() => window.pulses.length > 0")
    assert page.evaluate("window.pulses")[0] == "gendry"


def test_a_deleted_link_comes_back_as_itself(page: Page, hub: RunningHub) -> None:
    other = newcomer(hub)
    made = hub.api("POST", "/api/links", {"from": "critic", "to": other})
    page.goto(f"{hub.url}/topology?edge={made['id']}")
    page.get_by_role("button", name="Delete link").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    [link] = until(lambda: link_between(hub, "critic", other))
    assert (link["id"], link["enabled"]) == (made["id"], True)


@pytest.mark.req("S-16")
def test_two_peers_under_one_superior_are_drawn_where_nobody_has_placed_them(
    profile: Profile, hub: RunningHub
) -> None:
    context = profile()
    graph = hub.api("GET", "/api/topology")
    [first, second] = [row for row in graph["agents"] if row["name"] in ("gendry", "critic")]
    [link] = [row for row in graph["links"] if row["to"] == "gendry" and row["from"] == "arya"]
    ends = (("arya", "gendry", "superior"), ("arya", "critic", "superior"), ("gendry", "critic", "peer"))
    links = [
        {**link, "id": f"l{number}", "from": a, "to": b, "relationship": how}
        for number, (a, b, how) in enumerate(ends)
    ]
    agents = [{**row, "x": None, "y": None} for row in graph["agents"]]
    context.route("**/api/topology", lambda route: route.fulfill(json={"agents": agents, "links": links}))
    page = signed_in(context, hub, "/topology")
    at_rest(page, NODES)
    assert on_map(page, "arya")[1] < on_map(page, first["name"])[1] == on_map(page, second["name"])[1]
    page.get_by_role("button", name="Tidy").click()
    expect(page.get_by_text("Tidied.")).to_be_visible()


def test_an_agent_is_added_from_the_map_and_opened_by_keys(page: Page, hub: RunningHub) -> None:
    page.goto(f"{hub.url}/topology")
    page.get_by_role("button", name="Add agent").click()
    name = f"added-{uuid4().hex[:6]}"
    page.get_by_label("Name").fill(name)
    page.get_by_label("Role").fill("a newcomer")
    page.get_by_label("somewhere else").check()
    page.get_by_role("button", name="Register").click()
    expect(page.locator(".side-panel")).to_contain_text("a newcomer")
    assert page.url.endswith(f"?node={name}")
    assert hub.api("GET", f"/api/agents/{name}")["kind"] == "external"
    page.keyboard.press("Escape")
    expect(page.locator(".side-panel")).to_have_count(0)
    page.locator('.react-flow__node[data-id="arya"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator(".side-panel")).to_contain_text("arya is superior of gendry. Both may start.")


COUNTED = """() => [...document.querySelectorAll('.map-label__count')]
  .reduce((sum, one) => sum + Number(one.dataset.count), 0)"""


def test_looking_back_shows_what_had_passed_by_then(profile: Profile, hub: RunningHub) -> None:
    before = datetime.now(UTC).isoformat()
    hub.api("POST", "/api/agents/gendry/send", {"text": "to look back on"}, Moot_Act_As="arya")
    [link] = link_between(hub, "arya", "gendry")
    hub.settled(str(link["channel"]))
    page = signed_in(profile(), hub, f"/topology?at={quote(datetime.now(UTC).isoformat())}")
    expect(page.get_by_test_id("replay")).to_be_visible()
    expect(page.locator(".map-label__count").first).to_be_visible()
    now = page.evaluate(COUNTED)
    page.goto(f"{hub.url}/topology?at={quote(before)}")
    expect(page.get_by_test_id("replay")).to_be_visible()
    page.wait_for_selector('.react-flow__node[data-id="arya"]')
    page.wait_for_function(f"(now) => ({COUNTED})() < now", arg=now)
    page.get_by_role("button", name="Back to live").click()
    expect(page.get_by_test_id("replay")).to_have_count(0)


def test_the_table_has_the_same_links(profile: Profile, hub: RunningHub) -> None:
    page = signed_in(profile(width=320, height=640), hub, "/topology")
    page.get_by_role("button", name="arya is superior of gendry. Both may start.").first.click()
    expect(page.get_by_test_id("sentence")).to_have_text("arya is superior of gendry. Both may start.")


@pytest.mark.req("S-16")
def test_a_link_of_the_file_shows_the_row_that_would_change_it(page: Page, hub: RunningHub) -> None:
    [link] = link_between(hub, "arya", "gendry")
    go(page, f"/topology?edge={link['id']}")
    panel = page.locator(".side-panel")
    expect(panel.get_by_label("They are peers")).to_be_disabled()
    panel.get_by_role("button", name="Change the file").click()
    panel.get_by_label("They are peers").check()
    change = page.get_by_test_id("file-change")
    expect(change).to_contain_text('- relationship = "superior"')
    expect(change).to_contain_text('+ relationship = "peer"')
    expect(change).to_contain_text("moot.toml:")
    change.get_by_role("button", name="Copy").click()
    row = '[[links]]\nfrom = "arya"\nto = "gendry"\nrelationship = "peer"\n'
    until(lambda: page.evaluate("navigator.clipboard.readText()"), lambda copied: copied == row)
    [still] = link_between(hub, "arya", "gendry")
    assert still["relationship"] == "superior"


@pytest.mark.req("S-16", "S-12")
def test_a_link_of_the_file_is_overridden_until_the_file_is_read_again(page: Page, hub: RunningHub) -> None:
    [link] = link_between(hub, "arya", "gendry")
    go(page, f"/topology?edge={link['id']}")
    panel = page.locator(".side-panel")
    panel.get_by_role("button", name="Override until next reload").click()
    panel.get_by_label("only arya").click()
    expect(page.get_by_test_id("sentence")).to_have_text("arya is superior of gendry. Only arya may start.")
    expect(panel).to_contain_text("overridden here")
    panel.get_by_role("button", name="Reload the file now").click()
    expect(page.get_by_test_id("sentence")).to_have_text("arya is superior of gendry. Both may start.")
    expect(panel.get_by_label("They are peers")).to_be_disabled()
    assert link_between(hub, "arya", "gendry")[0]["origin"] == "config"


def write(hub: RunningHub, sender: str, receiver: str) -> None:
    text = {"text": f"a word {uuid4().hex[:4]}"}
    hub.api("POST", f"/api/agents/{receiver}/send", text, Moot_Act_As=sender)


def write_until_one_is_held(page: Page, hub: RunningHub, sender: str, receiver: str) -> None:
    """Each that comes soon after another is held for longer, from two seconds up to half a minute."""
    for _ in range(7):
        write(hub, sender, receiver)
        for _ in range(5):
            if page.locator("[data-held]").count():
                return
            page.wait_for_timeout(200)


def keep_writing(hub: RunningHub, sender: str, receiver: str) -> None:
    for _ in range(60):
        write(hub, sender, receiver)


def is_counted(page: Page, hub: RunningHub, channel: str) -> bool:
    """Whether the map says how many have passed within the hour."""
    said = sum(one["kind"] != "system" for one in hub.messages(channel))
    return f"{said}/h" in page.locator(".map-label__count").all_inner_texts()


@pytest.mark.req("S-16")
def test_what_is_held_counts_down_and_what_is_refused_is_marked_at_its_sender(
    page: Page, hub: RunningHub
) -> None:
    first, second = newcomer(hub), "critic"
    made = hub.api("POST", "/api/links", {"from": first, "to": second})
    go(page, f"/topology?edge={made['id']}")
    page.wait_for_selector(f'.react-flow__node[data-id="{second}"]')
    write_until_one_is_held(page, hub, first, second)
    expect(page.locator("[data-held]")).to_be_visible()
    until(lambda: is_counted(page, hub, made["channel"]), page=page)
    with pytest.raises(HTTPError, match="429"):
        keep_writing(hub, first, second)
    expect(page.locator(f'[data-refused="{first}"]')).to_be_visible()
    expect(page.locator(".map-refusal")).to_contain_text(first)
    go(page, f"/links/{made['id']}")
    expect(page.locator(".thin-line", has_text=f"{first} → {second}: #").first).to_contain_text("held")
    expect(page.locator(".thin-line--bad").first).to_contain_text(f"{first} → {second}, send refused")
