"""The page as the hub serves it: its document under a strict policy, its files for ever, and nothing else."""

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from moot.doors.http import app
from moot.doors.http.page.built_files import BuiltFiles
from moot.doors.http.page.serve import WebPage
from tests.doors.http.world import World, opened
from tests.support.waiting import PATIENCE

DOCUMENT = (
    '<!doctype html><meta property="csp-nonce" content="__MOOT_NONCE__">'
    '<script type="module" nonce="__MOOT_NONCE__" src="/assets/index-abc.js"></script>'
)
SCRIPT = "console.log('moot');" * 200
MAP = "/assets/index-abc.js.map"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def web(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    (folder / "assets").mkdir(parents=True)
    (folder / "assets" / "index-abc.js").write_text(SCRIPT)
    (folder / "assets" / "index-abc.js.map").write_text("{}")
    (folder / "moot.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / "index.html").write_text(DOCUMENT)
    return folder


@pytest.fixture
async def served(tmp_path: Path, web: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr(app, "WebPage", lambda: WebPage(BuiltFiles(web)))
    home = tmp_path / "home"
    home.mkdir()
    async with opened(home) as world:
        yield world


def nonce_of(answer: httpx2.Response) -> str:
    [nonce] = re.findall(r"'nonce-([^']+)'", answer.headers["content-security-policy"])
    return str(nonce)


async def test_the_document_has_a_fresh_nonce_and_a_policy_that_names_it(served: World) -> None:
    first, second = [await served.client.get("/") for _ in range(2)]
    assert (first.status_code, first.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert nonce_of(first) != nonce_of(second)
    assert first.text.count(nonce_of(first)) == 2
    assert "__MOOT_NONCE__" not in first.text
    policy = first.headers["content-security-policy"]
    for part in (
        "default-src 'none'", "script-src 'self'", "connect-src 'self'", "img-src 'self' data:", "font-src 'self'",
        f"style-src 'self' 'nonce-{nonce_of(first)}'", "frame-ancestors 'none'", "base-uri 'none'",
        "form-action 'none'",
    ):  # fmt: skip
        assert part in policy.split("; ")
    assert "unsafe" not in policy
    assert first.headers["cache-control"] == "no-store"
    assert first.headers["referrer-policy"] == "no-referrer"
    assert first.headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in first.headers


async def test_a_browser_gets_the_document_at_every_path_of_the_page(served: World) -> None:
    for path in ("/now", "/c/c1/m/12", "/topology?edge=l1", "/settings/brains", "/index.html"):
        answer = await served.client.get(path, headers=HTML)
        assert answer.status_code == 200, path
        assert nonce_of(answer) in answer.text


async def test_what_belongs_to_others_is_not_found_whoever_asks(served: World) -> None:
    for path in ("/api/nothing", "/api", "/ws/nothing", "/mcp/nothing", "/assets/nothing.js", "/a2a/arya"):
        answer = await served.client.get(path, headers=HTML)
        assert answer.status_code == 404, path
        assert answer.headers["content-type"] == "application/problem+json"


async def test_a_program_that_asks_for_a_path_of_the_page_is_told_that_nothing_is_there(
    served: World,
) -> None:
    assert (await served.client.get("/now", headers={"Accept": "application/json"})).status_code == 404


async def test_files_are_kept_for_ever_compressed_and_not_sent_twice(served: World) -> None:
    path = "/assets/index-abc.js"
    plain = await served.client.get(path, headers={"Accept-Encoding": "identity"})
    assert (plain.text, plain.headers.get("content-encoding")) == (SCRIPT, None)
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    async with served.client.stream("GET", path, headers={"Accept-Encoding": "br, gzip"}) as packed:
        raw = b"".join([piece async for piece in packed.aiter_raw()])
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.headers["vary"] == "Accept-Encoding"
    assert gzip.decompress(raw).decode() == SCRIPT
    assert len(raw) < len(SCRIPT) / 10
    again = await served.client.get(path, headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    refused = await served.client.get(path, headers={"Accept-Encoding": "gzip;q=0"})
    assert "content-encoding" not in refused.headers


async def test_a_file_that_has_not_changed_leaves_its_connection_open(served: World) -> None:
    etag = (await served.client.get("/moot.svg")).headers["etag"]
    reader, writer = await asyncio.open_connection("127.0.0.1", served.at.port)
    head = f"GET /moot.svg HTTP/1.1\r\nHost: 127.0.0.1:{served.at.port}\r\nIf-None-Match: {etag}\r\n\r\n"
    async with asyncio.timeout(PATIENCE):
        for _ in range(2):
            writer.write(head.encode())
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 304 ")
    writer.close()


async def test_a_file_beside_the_document_is_asked_about_each_time(served: World) -> None:
    answer = await served.client.get("/moot.svg")
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("image/svg+xml", "no-cache")
    assert (await served.client.head("/moot.svg")).content == b""


async def test_nothing_is_served_that_is_no_file_of_the_page(served: World) -> None:
    up = "%2e%2e"
    for path in (f"/assets/{up}/index.html", f"/assets/{up}/{up}/__init__.py", "/assets//etc/passwd", MAP):
        url = httpx2.URL(served.at.url).copy_with(raw_path=path.encode())
        assert (await served.client.get(url)).status_code == 404, path


async def test_a_link_among_the_files_is_not_followed(served: World, web: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.js").write_text("secret")
    (web / "assets" / "secret.js").symlink_to(tmp_path / "secret.js")
    (web / "index.html").write_text(DOCUMENT + " ")
    assert (await served.client.get("/assets/secret.js")).status_code == 404


async def test_only_reading_is_supported(served: World) -> None:
    answer = await served.client.post("/")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


async def test_a_page_that_is_built_anew_is_served_without_a_restart(served: World, web: Path) -> None:
    (web / "assets" / "index-new.js").write_text("new")
    (web / "index.html").write_text(DOCUMENT.replace("abc", "new"))
    assert "index-new.js" in (await served.client.get("/")).text
    assert (await served.client.get("/assets/index-new.js")).text == "new"


async def test_where_the_page_is_not_built_the_answer_says_how(served: World, web: Path) -> None:
    (web / "index.html").unlink()
    answer = await served.client.get("/now", headers=HTML)
    assert answer.status_code == 503
    assert "make dashboard" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_another_host_or_origin_gets_nothing_of_the_page_either(served: World) -> None:
    assert (await served.client.get("/", headers={"Host": "evil.example"})).status_code == 421
    assert (await served.client.get("/", headers={"Origin": "http://evil.example"})).status_code == 403
