"""What the page shows is what the hub has, whatever happens to the line between them."""

import re
from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.conftest import Profile, go, signed_in
from tests.page.running_hub import RunningHub
from tests.page.waiting import at_rest, until


def shown(page: Page) -> list[int]:
    return [
        int(seq) for seq in page.eval_on_selector_all("article", "all => all.map((one) => one.dataset.seq)")
    ]


def test_a_killed_hub_is_told_of_and_nothing_is_missed_afterwards(profile: Profile, hub: RunningHub) -> None:
    where = hub.conversation(f"killed-{uuid4().hex[:6]}")
    hub.say(where, "before")
    page = signed_in(profile(), hub, f"/c/{where}")
    expect(page.locator("article")).to_have_count(1)
    hub.kill()
    banner = page.get_by_test_id("banner")
    expect(banner).to_contain_text("Reconnecting")
    page.get_by_label("Message", exact=True).fill("written while it was away")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("pending")).to_have_count(1)
    hub.start()
    hub.say(where, "after")
    expect(banner).to_have_count(0)
    expect(page.get_by_test_id("pending")).to_have_count(0)
    expect(page.locator("article")).to_have_count(3)
    assert sorted(shown(page)) == [one["seq"] for one in hub.messages(where)]


def test_a_page_that_was_offline_for_half_a_minute_catches_up(profile: Profile, hub: RunningHub) -> None:
    where = hub.conversation(f"offline-{uuid4().hex[:6]}")
    context = profile()
    page = context.new_page()
    page.clock.install()
    page.goto(f"{hub.url}/c/{where}#code={hub.code()}")
    page.wait_for_selector("[data-ready=true]")
    context.set_offline(True)
    banner = page.get_by_test_id("banner")
    expect(banner).to_be_visible()
    for number in range(5):
        hub.say(where, f"missed {number}")
    page.clock.run_for(30_000)
    expect(banner).to_contain_text(
        re.compile(r"may be ([3-9]\d|\d{3,}) s|may be \d+ min")
    )  # as long as it took
    context.set_offline(False)
    page.clock.run_for(6000)
    expect(page.locator("article")).to_have_count(5)
    expect(banner).to_have_count(0)
    assert shown(page) == [one["seq"] for one in hub.messages(where)]


@pytest.mark.parametrize("frame", ["lagged", "reset"])
def test_a_stream_that_ends_early_is_taken_up_again(profile: Profile, hub: RunningHub, frame: str) -> None:
    where = hub.conversation(f"{frame}-{uuid4().hex[:6]}")
    context = profile()
    broken = [True]

    def cut(route: object) -> None:
        if broken.pop() if broken else False:
            route.fulfill(content_type="text/event-stream", body=f'event: {frame}\ndata: {{"after":"1"}}\n\n')  # type: ignore[attr-defined]
        else:
            route.continue_()  # type: ignore[attr-defined]

    context.route("**/api/events*", cut)
    page = signed_in(context, hub, f"/c/{where}")
    hub.say(where, "still here")
    expect(page.locator("article")).to_have_count(1)


def test_what_is_said_while_a_conversation_is_being_read_is_shown(profile: Profile, hub: RunningHub) -> None:
    """The page learns of it by an event, before the answer comes in which it is missing."""
    where = hub.conversation(f"reading-{uuid4().hex[:6]}")
    context = profile()
    page = context.new_page()
    first = [True]

    def answer_late(route: Route) -> None:
        if not first:
            route.continue_()
            return
        first.clear()
        answer = route.fetch()
        hub.say(where, "just now")
        expect(page.get_by_text("just now").first).to_be_visible()  # in the list, by the event
        route.fulfill(response=answer)

    context.route("**/messages?before=*", answer_late)
    page.goto(f"{hub.url}/c/{where}#code={hub.code()}")
    expect(page.locator("article")).to_have_count(1)


def test_a_tab_takes_over_when_the_one_that_follows_is_closed(profile: Profile, hub: RunningHub) -> None:
    where = hub.conversation(f"leader-{uuid4().hex[:6]}")
    context = profile()
    first = signed_in(context, hub, f"/c/{where}")
    second = context.new_page()
    second.goto(f"{hub.url}/c/{where}")
    second.wait_for_selector("[data-ready=true]")
    first.close()
    hub.say(where, "the leader has gone")
    expect(second.locator("article")).to_have_count(1)


class Held:
    """Requests that wait until a test lets them go on."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.routes: list[Route] = []
        self.holding = True

    def __call__(self, route: Route) -> None:
        if self.holding:
            self.routes.append(route)
        else:
            route.continue_()

    def one(self) -> Route:
        until(lambda: self.routes, page=self._page)
        return self.routes.pop(0)


RESET = 'event: reset\ndata: {"after":"1"}\n\n'


def test_a_conversation_opened_while_everything_is_read_again_stays_shown(
    profile: Profile, hub: RunningHub
) -> None:
    where = hub.conversation(f"again-{uuid4().hex[:6]}")
    hub.say(where, "before")
    context = profile()
    page = context.new_page()
    stream, graph = Held(page), Held(page)
    context.route("**/api/events*", stream)
    page.goto(f"{hub.url}/now#code={hub.code()}")
    page.wait_for_selector("[data-ready=true]")
    context.route("**/api/topology", graph)
    stream.one().fulfill(content_type="text/event-stream", body=RESET)
    reading = graph.one()
    go(page, f"/c/{where}")
    expect(page.locator("article")).to_have_count(1)
    reading.continue_()
    continued = stream.one()
    assert "after=0" not in continued.request.url, "from where it was read, not from the beginning"
    hub.say(where, "after")
    continued.continue_()
    expect(page.locator("article")).to_have_count(2)


def test_an_answer_that_comes_late_takes_nothing_away_that_was_read_since(
    profile: Profile, hub: RunningHub
) -> None:
    where = hub.conversation(f"late-{uuid4().hex[:6]}")
    hub.say(where, "before")
    context = profile()
    page = context.new_page()
    stream, thread = Held(page), Held(page)
    context.route("**/api/events*", stream)
    page.goto(f"{hub.url}/now#code={hub.code()}")
    page.wait_for_selector("[data-ready=true]")
    context.route("**/messages?before=*", thread)
    go(page, f"/c/{where}")
    late = thread.one()
    answer = late.fetch()
    hub.say(where, "meanwhile")
    thread.holding = False
    stream.one().fulfill(content_type="text/event-stream", body=RESET)
    stream.holding = False
    expect(page.locator("article")).to_have_count(2)
    with page.expect_response("**/messages?before=*"):
        late.fulfill(response=answer)
    at_rest(page, "article")
    assert shown(page) == [1, 2]
