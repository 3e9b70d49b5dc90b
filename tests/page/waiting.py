"""Waiting for what a browser or a hub does in its own time. Nothing here promises how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from playwright.sync_api import Page

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds: longer than tests/support/waiting.py, as a hub, a browser and its processes share the cores here."""
PATIENCE_MS = PATIENCE * 1000
LIMIT = 300
"""Seconds for a test, with what is made for all of them: the page, a long conversation, a hub, a browser."""

# Where they stand, and whether anything still moves by itself, frame after frame. Frames and not milliseconds: on a
# machine that is busy elsewhere nothing happens in those.
AT_REST = """(selector) => new Promise((done) => {
  const placed = () => JSON.stringify([...document.querySelectorAll(selector)].map((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    return [x, y, width, height];
  }));
  const moves = (one) => one.playState === 'running' && one.effect.getComputedTiming().iterations !== Infinity;
  let [before, still] = ['', 0];
  const look = () => {
    const now = placed();
    still = now !== '[]' && now === before && !document.getAnimations().some(moves) ? still + 1 : 0;
    before = now;
    if (still >= 20) done();
    else requestAnimationFrame(look);
  };
  look();
})"""


def until(look: Callable[[], T], is_so: Callable[[T], object] = bool, page: Page | None = None) -> T:
    """Look again and again until it is so; fails with what was seen last. What a page does meanwhile is answered if it
    is given."""
    end = time.monotonic() + PATIENCE
    while not is_so(seen := look()):
        assert time.monotonic() < end, f"still {seen!r} after {PATIENCE} s"
        if page is None:
            time.sleep(0.02)
        else:
            page.wait_for_timeout(20)
    return seen


def at_rest(page: Page, selector: str) -> None:
    """Until what the selector finds stands where it stays."""
    page.wait_for_selector(selector)
    page.evaluate(AT_REST, selector)
