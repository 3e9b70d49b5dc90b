"""The support tour as it is seen in a browser, as a short animated picture: part of `make picture`.

Chromium paints the frames and compresses them; only what has changed since the one before is kept. The container that
makes a film of them is put together here.
"""

from __future__ import annotations

import base64
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from moot.cli.talk.demo_support import CUSTOMER, PLACE
from tests.page.conftest import free_port, signed_in
from tests.page.running_hub import RunningHub

SIZE = {"width": 960, "height": 540}
SLOWER = 3
HOLDS_MS = 2600
ANSWERS = 2
"""That it was passed on, and what came of it."""
MAX_TOUR_SECONDS = 60.0
QUESTION = "The total of my invoice is 3 cents too high. Why?"
SETTINGS = """
[hub]
port = {port}
user = "karl"

[[agents]]
name = "manager"
role = "support manager"
brain = "demo"

[[agents]]
name = "support"
role = "support desk"
brain = "demo"

[[agents]]
name = "engineering"
role = "support engineer"
brain = "demo"

[[links]]
from = "manager"
to = "support"
relationship = "superior"

[[links]]
from = "manager"
to = "engineering"
relationship = "superior"
"""
# Compares a frame with the one before and returns what is new of it, compressed, with its place.
NEWS = """async (png) => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + png;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  pen.drawImage(image, 0, 0);
  const now = new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer);
  const before = window.before;
  window.before = now;
  let [left, top, right, bottom] = [image.width, image.height, -1, -1];
  for (let y = 0; y < image.height; y += 1)
    for (let x = 0; x < image.width; x += 1) {
      if (before && before[y * image.width + x] === now[y * image.width + x]) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
  if (right < 0) return null;
  left -= left % 2;
  top -= top % 2;
  const [width, height] = [right - left + 1, bottom - top + 1];
  const cut = new OffscreenCanvas(width, height);
  cut.getContext('2d').drawImage(canvas, left, top, width, height, 0, 0, width, height);
  const blob = await cut.convertToBlob({ type: 'image/webp', quality: 0.8 });
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return { left, top, width, height, webp: btoa(text) };
}"""


@dataclass
class Frame:
    left: int
    top: int
    width: int
    height: int
    bits: bytes
    milliseconds: int = 0


def _three(number: int) -> bytes:
    return number.to_bytes(3, "little")


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def _bits(webp: bytes) -> bytes:
    """The compressed picture in a file of one, as a chunk: what surrounds it is not needed in a film."""
    at = 12
    while at < len(webp):
        name, (size,) = webp[at : at + 4], struct.unpack_from("<I", webp, at + 4)
        if name in (b"VP8 ", b"VP8L"):
            return _chunk(name, webp[at + 8 : at + 8 + size])
        at += 8 + size + size % 2
    raise ValueError("there is no picture in this file")


def film(frames: list[Frame], width: int, height: int) -> bytes:
    """An animated WebP that begins again by itself."""
    body = _chunk(b"VP8X", bytes([2, 0, 0, 0]) + _three(width - 1) + _three(height - 1))
    body += _chunk(b"ANIM", b"\0\0\0\0" + struct.pack("<H", 0))
    for one in frames:
        place = _three(one.left // 2) + _three(one.top // 2) + _three(one.width - 1) + _three(one.height - 1)
        body += _chunk(b"ANMF", place + _three(one.milliseconds) + b"\2" + one.bits)
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


class Camera:
    """Keeps what a page shows: each paint while it runs, and single looks."""

    def __init__(self, page: Page, aside: Page) -> None:
        self.frames: list[Frame] = []
        self._page = page
        self._aside = aside
        self._session = page.context.new_cdp_session(page)
        self._session.on("Page.screencastFrame", self._painted)
        self._paints: list[tuple[float, str]] = []

    def run(self) -> None:
        self._session.send("Page.startScreencast", {"format": "png"})

    def stop(self) -> None:
        """What was painted meanwhile is shown so slowly that an eye can follow."""
        self._session.send("Page.stopScreencast")
        ends = [at for at, _ in self._paints[1:]] + [self._paints[-1][0] + 0.3]
        for (at, png), end in zip(self._paints, ends, strict=True):
            self._add(png, max(40, int((end - at) * 1000 * SLOWER)))

    def look(self, milliseconds: int) -> None:
        """What is seen now, and for how long it is shown."""
        self._add(base64.b64encode(self._page.screenshot()).decode(), milliseconds)

    def _painted(self, told: Any) -> None:
        self._session.send("Page.screencastFrameAck", {"sessionId": told["sessionId"]})
        self._paints.append((told["metadata"]["timestamp"], told["data"]))

    def _add(self, png: str, milliseconds: int) -> None:
        news: Any = self._aside.evaluate(NEWS, png)
        if news is None:
            self.frames[-1].milliseconds += milliseconds
            return
        bits = _bits(base64.b64decode(news.pop("webp")))
        self.frames.append(Frame(**news, bits=bits, milliseconds=milliseconds))


def desk(folder: Path) -> RunningHub:
    """A hub with the help desk of `moot demo --tour support`, which nobody has asked anything yet."""
    hub = RunningHub(folder / "support", free_port())
    (hub.home / "moot.toml").write_text(SETTINGS.format(port=hub.port))
    hub.start()
    hub.api("POST", "/api/agents", {"name": CUSTOMER, "kind": "human"})
    hub.conversation(PLACE, "support", CUSTOMER)
    places = {"manager": (220, 0), "support": (20, 170), "engineering": (420, 170), CUSTOMER: (20, 330)}
    positions = {name: {"x": x, "y": y} for name, (x, y) in places.items()}
    hub.api("PUT", "/api/topology/positions", {"positions": positions})
    return hub


def ask(hub: RunningHub) -> str:
    """The customer asks; where."""
    where = hub.conversation(PLACE)
    hub.api("POST", f"/api/conversations/{where}/messages", {"text": QUESTION}, Moot_Act_As=CUSTOMER)
    return where


def wait_for_answer(hub: RunningHub, where: str, page: Page | None = None) -> None:
    until = time.monotonic() + MAX_TOUR_SECONDS
    while sum(one["from"] == "support" for one in hub.messages(where)) < ANSWERS:
        assert time.monotonic() < until, "the customer got no answer"
        if page is None:
            time.sleep(0.05)
        else:  # what it paints comes in meanwhile
            page.wait_for_timeout(30)


def record(browser: Browser, folder: Path, to: Path) -> None:
    hub = desk(folder)
    try:
        context = browser.new_context(viewport=SIZE, color_scheme="dark")  # type: ignore[arg-type]
        page = signed_in(context, hub, "/topology")
        page.wait_for_selector('.react-flow__node[data-id="manager"]')
        page.wait_for_timeout(800)
        camera = Camera(page, browser.new_page())
        camera.look(900)
        camera.run()
        where = ask(hub)
        wait_for_answer(hub, where, page)
        page.wait_for_timeout(1200)
        camera.stop()
        for path in ("/tasks", f"/c/{where}"):
            page.goto(hub.url + path)
            page.wait_for_selector("[data-ready=true]")
            page.wait_for_timeout(700)
            camera.look(HOLDS_MS)
        to.write_bytes(film(camera.frames, SIZE["width"], SIZE["height"]))
    finally:
        hub.stop()
