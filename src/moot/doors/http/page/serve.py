"""Serves the page: its one document at every path of its own, and its files below /assets.

No token is needed for these: they are the same for everybody, and what they show comes from the API. The document is
never cached and carries a fresh nonce, which its policy requires of every style. Only scripts from our own files run,
and nothing is loaded from elsewhere. Files have their hash in their name and are cached for ever.

Above: app.py, for what is no route. Below: built_files.py.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request

from moot.doors.http.api.problems import UNCHANGED, Response, problem
from moot.doors.http.gate.origin import send_answer
from moot.doors.http.page.built_files import INDEX, BuiltFile, BuiltFiles
from moot.errors import NotFound, NotPermitted

NONCE: Final = b"__MOOT_NONCE__"
"""What stands in the built document for the nonce."""
OTHER_PATHS: Final = frozenset(
    {"a2a", "api", "assets", "healthz", "mcp", "metrics", "openapi.json", "readyz", "ws"}
)
"""First parts of paths that are not the page's, even if nothing is there."""
FOR_EVER: Final = "public, max-age=31536000, immutable"
REVALIDATE: Final = "no-cache"
"""Cached, and revalidated each time."""
NO_METHOD, MISSING = 405, 503
NOT_BUILT: Final = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Moot</title></head>
<body><main><h1>The page is not built</h1>
<p>The hub runs; its page was not built in this copy of Moot. In the folder of the source run</p>
<pre>make dashboard</pre>
<p>and reload. Everything else works without it: <code>moot status</code>, <code>moot chat</code>, the HTTP API.</p>
</main></body></html>
"""


def policy(nonce: str) -> str:
    return (
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; "
        f"style-src 'self' 'nonce-{nonce}'; manifest-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )


class WebPage:
    def __init__(self, built: BuiltFiles | None = None) -> None:
        self._built = built or BuiltFiles()

    def wants(self, scope: Any) -> bool:
        """Whether a path without a route is one of the page's own, asked for by somebody who would see it."""
        path: str = scope["path"]
        if scope["type"] != "http" or path.strip("/").partition("/")[0] in OTHER_PATHS:
            return False
        return path == "/" or "text/html" in Request(scope).headers.get("accept", "") or self._is_file(path)

    def _is_file(self, path: str) -> bool:
        return path.count("/") == 1 and self._built.get(path[1:]) is not None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        method = scope["method"]
        if method not in ("GET", "HEAD"):
            wrong = NotPermitted(f"{method[:20]} is not supported here", detail="allowed: GET, HEAD")
            await send_answer(problem(wrong, NO_METHOD, {"Allow": "GET, HEAD"}), send)
            return
        answer = await self._answer(scope["path"], Request(scope).headers)
        await send_answer(answer, send, head=method == "HEAD")

    async def _answer(self, path: str, headers: Mapping[str, str]) -> Response:
        name = path.removeprefix("/")
        is_asset = name.startswith("assets/")
        file = self._built.get(name) if name != INDEX else None
        if file is not None:
            return await _file(file, headers, FOR_EVER if is_asset else REVALIDATE)
        if is_asset:
            return problem(
                NotFound("there is no such file", detail="the page may have been built anew: reload it")
            )
        return self._document()

    def _document(self) -> Response:
        nonce = secrets.token_urlsafe(16)
        index = self._built.get(INDEX)
        headers = {
            "Content-Security-Policy": policy(nonce),
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "X-Frame-Options": "DENY",
        }
        html = "text/html; charset=utf-8"
        if index is None:
            return Response(NOT_BUILT, MISSING, headers, html)
        return Response(index.content.replace(NONCE, nonce.encode()), headers=headers, media=html)


async def _file(file: BuiltFile, headers: Mapping[str, str], cache_control: str) -> Response:
    response_headers = {"Cache-Control": cache_control, "ETag": file.etag, "Vary": "Accept-Encoding"}
    if file.etag in headers.get("if-none-match", ""):
        return Response(None, UNCHANGED, response_headers)
    packed = await file.gzip() if _takes_gzip(headers.get("accept-encoding", "")) else None
    if packed is None:
        return Response(file.content, headers=response_headers, media=file.media)
    return Response(packed, headers={**response_headers, "Content-Encoding": "gzip"}, media=file.media)


def _takes_gzip(accepted: str) -> bool:
    """`gzip` in the list, and not at weight 0."""
    codings = [part.replace(" ", "") for part in accepted.lower().split(",")]
    return any(
        part == "gzip" or (part.startswith("gzip;q=") and part[7:].strip("0.") != "") for part in codings
    )
