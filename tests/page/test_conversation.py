"""Conversations in the browser: fast at any length, honest about who will answer, and stored exactly once."""

import re
from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.conftest import LONG, go
from tests.page.running_hub import RunningHub
from tests.page.waiting import at_rest, until

SCROLLER = ".transcript__scroll"


def open_chat(page: Page, hub: RunningHub, where: str) -> None:
    go(page, f"/c/{where}")
    page.wait_for_selector("[data-composer]")


def compose(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)


def distance_to_end(page: Page) -> float:
    return float(
        page.eval_on_selector(SCROLLER, "box => box.scrollHeight - box.scrollTop - box.clientHeight")
    )


def first_visible(page: Page) -> tuple[int, float]:
    seq, top = page.evaluate(
        """() => {
          const box = document.querySelector('.transcript__scroll').getBoundingClientRect();
          const place = (one) => [Number(one.dataset.seq), one.getBoundingClientRect().top - box.top];
          const seen = [...document.querySelectorAll('article')].map(place).filter(([, top]) => top >= 0);
          return seen.sort((a, b) => a[1] - b[1])[0];
        }"""
    )
    return int(seq), float(top)


def test_older_messages_come_in_above_without_a_jump(page: Page, hub: RunningHub) -> None:
    open_chat(page, hub, "long")
    page.wait_for_selector(f'article[data-seq="{LONG}"]')
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/messages?*", hold)
    page.eval_on_selector(SCROLLER, "box => { box.scrollTop = 500; }")
    until(lambda: held, page=page)  # scrolling up asks for older messages
    at_rest(page, "article")
    seq, top = first_visible(page)
    for route in held:
        route.continue_()
    page.unroute("**/messages?*")
    page.wait_for_function("seq => document.querySelector('.transcript__room').offsetHeight > 12000", arg=seq)
    at_rest(page, "article")
    still = page.locator(f'article[data-seq="{seq}"]')
    box = page.locator(SCROLLER).bounding_box()
    now = still.bounding_box()
    assert box is not None
    assert now is not None
    assert abs((now["y"] - box["y"]) - top) <= 2


def test_what_comes_in_while_one_reads_moves_nothing_and_is_counted(page: Page, hub: RunningHub) -> None:
    open_chat(page, hub, "long")
    page.wait_for_selector(f'article[data-seq="{LONG}"]')
    page.eval_on_selector(SCROLLER, "box => { box.scrollTop = box.scrollHeight - box.clientHeight - 2500; }")
    at_rest(page, "article")
    before = first_visible(page)
    seq = hub.say("long", "somebody came in")["seq"]
    expect(page.get_by_text("↓ 1 new")).to_be_visible()
    at_rest(page, "article")
    assert first_visible(page) == pytest.approx(before, abs=2)
    page.get_by_text("↓ 1 new").click()
    page.wait_for_selector(f'article[data-seq="{seq}"]')


@pytest.mark.req("J-10", "M-02")
def test_an_answer_is_written_before_the_eyes_and_looks_as_its_agent(page: Page, hub: RunningHub) -> None:
    where = hub.conversation(f"looks-{uuid4().hex[:6]}", "arya", "scribe")
    open_chat(page, hub, where)
    compose(page, "@scribe what has come in?")
    page.keyboard.press("Enter")
    expect(page.locator('article[data-seq="1"]')).to_be_visible()
    writing = page.locator(".message-bubble--agent", has_text="scribe").first
    expect(writing).to_contain_text("scribe is writing")
    expect(writing).to_contain_text("so far")
    hub.go_on(where)
    expect(page.locator('article[data-seq="2"]')).to_contain_text("so far and to the end")
    expect(page.get_by_text("scribe is writing")).to_have_count(0)

    where = hub.conversation(f"looks-{uuid4().hex[:6]}", "arya", "gendry")
    open_chat(page, hub, where)
    compose(page, "@arya what now?")
    page.keyboard.press("Enter")
    expect(page.locator(f'[data-conversation="{where}"] article[data-seq="2"]')).to_be_visible()
    own = page.locator('article[data-seq="1"] .message-bubble--user')
    bubble = page.locator('article[data-seq="2"] .message-bubble--agent')
    content = bubble.locator(".message-bubble__content")
    assert content.evaluate("one => getComputedStyle(one).borderLeftColor") == "rgb(211, 54, 130)"
    assert content.evaluate("one => getComputedStyle(one).borderLeftWidth") == "3px"
    assert content.evaluate("one => getComputedStyle(one).backgroundColor") == "rgb(46, 30, 40)"
    assert (
        own.locator(".message-bubble__content").evaluate("one => getComputedStyle(one).backgroundColor")
        == "rgb(37, 99, 235)"
    )
    header = bubble.locator(".message-bubble__agent-header")
    expect(header.locator(".message-bubble__agent-dot")).to_be_visible()
    expect(header.locator(".message-bubble__agent-name")).to_have_text("arya")
    expect(header.locator(".message-bubble__time")).to_have_text(re.compile(r"\d\d:\d\d"))
    own_box, answer_box = own.locator(".message-bubble__content").bounding_box(), content.bounding_box()
    assert own_box is not None
    assert answer_box is not None
    assert own_box["x"] > answer_box["x"], "people's words stand at the right, agents' at the left"
    label = page.locator('article[data-seq="2"]').get_attribute("aria-label") or ""
    assert re.match(r"arya, \d\d:\d\d: ", label)
    hub.settled(where)
    at_rest(page, "article")
    assert distance_to_end(page) <= 2


def test_the_only_agent_of_a_conversation_of_two_has_no_bubble(page: Page, hub: RunningHub) -> None:
    where = hub.api("POST", "/api/implicit", {"participants": ["critic"]})["id"]
    hub.say(where, "hello")
    hub.settled(where)
    open_chat(page, hub, where)
    expect(page.locator(".message-bubble--assistant").first).to_be_visible()


MARKDOWN = """# A heading

| pair | price |
|---|---|
| AAPL | **8 %** |

1. first, with `code`
2. second, [a link](https://example.org) and [a trap](javascript:alert(1))

```python
print("<b>as written</b>")
```
"""


@pytest.mark.req("J-11")
def test_markdown_is_drawn_whole_and_nothing_in_it_runs(page: Page, hub: RunningHub) -> None:
    where = hub.conversation(f"drawn-{uuid4().hex[:6]}", "arya")
    hub.say(where, MARKDOWN)
    open_chat(page, hub, where)
    body = page.locator('article[data-seq="1"]')
    expect(body.locator("table td").nth(1).locator("strong")).to_have_text("8 %")
    expect(body.locator(".markdown__heading")).to_have_text("A heading")
    expect(body.locator("ol li")).to_have_count(2)
    expect(body.locator("ol li code")).to_have_text("code")
    expect(body.locator("pre code")).to_contain_text('print("<b>as written</b>")')
    links = body.locator("a[href]").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    assert links == ["https://example.org"]


DRAFTS = [
    "@arya status?", "@gendry @critic compare", "what next?", "@all go", "mail arya@example.org", "`@arya`",
    "@nobody hey", "@arya @arya twice", "@ARYA loud", "hello @gendry, and @critic.", "(@critic)", "@arya's turn",
    "arya, are you there?", "> @arya said so", "```\n@gendry\n```", "@gendry\n\n@critic", "**@arya**", "@arya: go",
    "https://example.org/@gendry", "@critic!", "@arya/@gendry", "thanks", "@everyone listen", "@ everybody", "a @ b",
    "@arya @nobody", "\\@arya", "[@gendry](https://example.org)", "@gendry?", "one, two, @critic, three",
]  # fmt: skip


@pytest.mark.req("M-02")
def test_what_the_preview_says_is_who_is_owed(page: Page, hub: RunningHub) -> None:
    places = [hub.conversation(f"preview-{uuid4().hex[:6]}", "arya", "gendry", "critic") for _ in DRAFTS]
    for where, draft in zip(places, DRAFTS, strict=True):
        go(page, f"/c/{where}")
        with page.expect_response("**/preview") as answer:
            compose(page, draft)
        said = answer.value.json()
        wake = page.get_by_test_id("wake")
        expect(wake).to_have_attribute("data-must", " ".join(said["must"]))
        expect(wake).to_have_attribute("data-may", " ".join(said["may"]))
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-conversation="{where}"] article[data-seq="1"]')).to_be_visible()
        first = hub.messages(where)[0]
        assert first["text"] == draft
        rows = hub.api("GET", f"/api/messages/{first['id']}/why")["agents"]
        assert {row["agent"] for row in rows if row["duty"] == "must"} == set(said["must"]), draft
        hub.api("POST", f"/api/conversations/{where}/stop", {})


@pytest.mark.req("M-02")
def test_why_names_every_agent_in_the_words_of_the_hub(page: Page, hub: RunningHub) -> None:
    where = hub.conversation(f"why-{uuid4().hex[:6]}", "arya", "gendry", "critic")
    posted = hub.say(where, "@arya why so?")
    hub.settled(where)
    open_chat(page, hub, where)
    article = page.locator('article[data-seq="1"]')
    article.focus()
    page.keyboard.press("w")
    rows = page.get_by_test_id("why").locator("li")
    told = hub.api("GET", f"/api/messages/{posted['id']}/why")["agents"]
    expect(rows).to_have_count(len(told))
    for row in told:
        expect(page.get_by_test_id("why").locator(f'[data-agent="{row["agent"]}"]')).to_contain_text(
            row["reason"]
        )
    page.keyboard.press("Escape")
    expect(article).to_be_focused()


def swallow(route: Route) -> None:
    """The hub gets it, the page never hears of it."""
    route.fetch()


def stored(hub: RunningHub, where: str, text: str) -> int:
    return sum(one["text"] == text for one in hub.messages(where))


def test_one_message_for_a_double_enter_a_lost_answer_and_a_reload(page: Page, hub: RunningHub) -> None:
    where = hub.conversation(f"once-{uuid4().hex[:6]}")
    open_chat(page, hub, where)
    compose(page, "entered twice")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator("article")).to_have_count(1)

    def lost(route: Route) -> None:
        route.fetch()
        route.abort()
        page.unroute("**/messages")

    page.route("**/messages", lost)
    compose(page, "the answer was lost")
    page.keyboard.press("Enter")
    expect(page.locator("article")).to_have_count(2)
    expect(page.get_by_test_id("pending")).to_have_count(0)

    page.route("**/messages", swallow)
    compose(page, "reloaded in flight")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    page.unroute_all(behavior="ignoreErrors")
    page.reload()
    expect(page.locator("article")).to_have_count(3)
    expect(page.get_by_test_id("pending")).to_have_count(0)
    texts = ("entered twice", "the answer was lost", "reloaded in flight")
    assert [stored(hub, where, text) for text in texts] == [1, 1, 1]


@pytest.mark.parametrize("status", [409, 429])
def test_what_the_hub_does_not_take_goes_back_into_the_line(page: Page, hub: RunningHub, status: int) -> None:
    where = hub.conversation(f"not-taken-{uuid4().hex[:6]}")
    open_chat(page, hub, where)
    problem = {"status": status, "code": "E999", "title": "it is not the moment", "retryable": status == 429}

    def refuse(route: Route) -> None:
        route.fulfill(status=status, json=problem, headers={"Retry-After": "0.02"})

    page.route("**/messages", refuse)
    compose(page, "keep me")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("refusal")).to_contain_text("it is not the moment")
    expect(page.get_by_label("Message", exact=True)).to_have_value("keep me")
    expect(page.get_by_test_id("pending")).to_have_count(0)
    assert hub.messages(where) == []
    page.unroute_all(behavior="ignoreErrors")
    page.keyboard.press("Enter")
    expect(page.locator("article")).to_have_count(1)


def delete(page: Page) -> None:
    page.locator("article").hover()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Delete").click()


def test_a_deleted_message_can_be_taken_back_and_closing_the_page_carries_it_out(
    page: Page, hub: RunningHub
) -> None:
    where = hub.conversation(f"deleted-{uuid4().hex[:6]}")
    hub.say(where, "think again")
    open_chat(page, hub, where)
    delete(page)
    expect(page.locator(".message-bubble")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".message-bubble")).to_contain_text("think again")
    assert stored(hub, where, "think again") == 1
    delete(page)
    page.goto(f"{hub.url}/now")
    page.wait_for_selector("[data-ready=true]")
    until(lambda: stored(hub, where, "think again"), lambda count: count == 0)


def test_a_place_without_messages_says_whom_one_could_ask(page: Page, hub: RunningHub) -> None:
    open_chat(page, hub, hub.conversation(f"empty-{uuid4().hex[:6]}", "gendry"))
    expect(page.get_by_role("button", name="@gendry what do you think?")).to_be_visible()
    composer = page.locator("[data-composer]").bounding_box()
    assert composer is not None
    assert composer["y"] > 650
    open_chat(page, hub, hub.conversation(f"alone-{uuid4().hex[:6]}"))
    expect(page.get_by_text("You are alone here.")).to_be_visible()


def test_a_reader_at_the_end_stays_there_when_a_panel_opens(page: Page, hub: RunningHub) -> None:
    open_chat(page, hub, "long")
    page.wait_for_selector("article")
    at_rest(page, "article")
    wide = page.locator(SCROLLER).evaluate("box => box.clientWidth")
    page.get_by_role("button", name="Details").click()
    page.wait_for_function(
        "wide => document.querySelector('.transcript__scroll').clientWidth < wide", arg=wide
    )
    at_rest(page, "article")
    assert distance_to_end(page) <= 2


def test_a_refusal_keeps_the_draft_and_says_why(page: Page, hub: RunningHub) -> None:
    where = hub.conversation(f"refused-{uuid4().hex[:6]}")
    open_chat(page, hub, where)
    page.wait_for_selector("[data-composer]")
    long = "x" * 300_000
    page.get_by_label("Message", exact=True).fill(long)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("refusal")).to_contain_text("Not sent")
    assert page.get_by_label("Message", exact=True).input_value() == long
    assert hub.messages(where) == []


@pytest.mark.req("G-12")
def test_commands_are_offered_carried_out_and_asked_about(page: Page, hub: RunningHub) -> None:
    where = hub.conversation(f"slash-{uuid4().hex[:6]}", "arya")
    open_chat(page, hub, where)
    box = page.get_by_label("Message", exact=True)
    box.press_sequentially("/group l")
    page.get_by_role("option", name="/group list").click()
    box.press("Enter")
    expect(page.get_by_test_id("command-output")).to_contain_text("arya")
    box.fill("/compact")
    box.press("Enter")
    expect(page.get_by_test_id("command-output")).to_contain_text("/compact")
    box.fill("/archive")
    box.press("Enter")
    page.get_by_role("button", name="Yes, do it").click()
    page.wait_for_url("**/c")
    assert hub.api("GET", f"/api/conversations/{where}")["archived"]
    assert hub.messages(where) == []


def test_drafts_stay_where_they_were_written(page: Page, hub: RunningHub) -> None:
    one, other = hub.conversation("draft-one"), hub.conversation("draft-two")
    open_chat(page, hub, one)
    compose(page, "unfinished")
    page.locator(".chat-row", has_text="draft-two").click()
    expect(page.get_by_label("Message", exact=True)).to_have_value("")
    page.locator(".chat-row", has_text="draft-one").click()
    expect(page.get_by_label("Message", exact=True)).to_have_value("unfinished")
    page.reload()
    expect(page.get_by_label("Message", exact=True)).to_have_value("unfinished")
    assert other != one
