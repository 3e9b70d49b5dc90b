"""The outermost check: is this request meant for this hub, and not sent by a foreign web page?

A page in somebody's browser can reach loopback. It cannot choose the Host header, which after DNS rebinding names the
page's own site, nor leave out the Origin. Both must match exactly. There are no cookies, so a browser sends no
credential on its own.
"""

from collections.abc import Iterable
from typing import Any

from moot.doors.http.api.problems import WITHOUT_BODY, Response, problem
from moot.errors import NotPermitted

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MISDIRECTED = 421
FOREIGN = 403
PLAIN_PORTS = {"http": 80, "https": 443}


def hosts(names: Iterable[str], port: int, scheme: str = "http") -> frozenset[str]:
    """Every Host header that means this hub. The port may be left out only if it is the default."""
    names_here = [name.lower() for name in (*LOOPBACK, *names)]
    bracketed = [f"[{name}]" if ":" in name and not name.startswith("[") else name for name in names_here]
    exact = {f"{name}:{port}" for name in bracketed}
    return frozenset(exact | (set(bracketed) if PLAIN_PORTS[scheme] == port else set()))


def refusal_for(
    headers: Iterable[tuple[bytes, bytes]], allowed_hosts: frozenset[str], scheme: str = "http"
) -> Response | None:
    """None if the request may pass, otherwise the answer to it."""
    values: dict[bytes, list[str]] = {b"host": [], b"origin": []}
    for name, value in headers:
        if name in values:
            values[name].append(value.decode("latin-1"))
    if len(values[b"host"]) != 1 or values[b"host"][0].lower() not in allowed_hosts:
        refusal = NotPermitted(
            "this hub does not answer to that Host header",
            detail=f"it answers to {', '.join(sorted(allowed_hosts))}",
            fix=("use one of these addresses", "add the name to hub.names in moot.toml"),
        )
        return problem(refusal, MISDIRECTED)
    origins = {f"{scheme}://{host}" for host in allowed_hosts}
    if values[b"origin"] and (len(values[b"origin"]) > 1 or values[b"origin"][0].lower() not in origins):
        return problem(NotPermitted("web pages from another origin may not send requests here"), FOREIGN)
    return None


class Guard:
    """The outermost layer: nothing behind it sees a request that does not pass."""

    def __init__(self, app: Any, allowed_hosts: frozenset[str], scheme: str = "http") -> None:
        self._app = app
        self._allowed_hosts = allowed_hosts
        self._scheme = scheme

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answer = refusal_for(scope.get("headers", ()), self._allowed_hosts, self._scheme)
        if answer is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await send_answer(answer, send)
        else:
            await deny_handshake(answer, send)


async def send_answer(answer: Response, send: Any, *, head: bool = False) -> None:
    """Send an answer, with the headers that every answer has."""
    body = answer.body()
    headers = {
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        **({} if answer.value is None else {"content-type": answer.media}),
        **{name.lower(): value for name, value in answer.headers.items()},
        "content-length": str(len(body)),
    }
    if answer.status in WITHOUT_BODY:
        del headers["content-length"]
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    await send({"type": "http.response.body", "body": b"" if head else body})


async def deny_handshake(answer: Response, send: Any) -> None:
    """The same answer to a WebSocket handshake that is not complete: plain HTTP."""

    async def as_handshake(event: dict[str, Any]) -> None:
        await send({**event, "type": f"websocket.{event['type']}"})

    await send_answer(answer, as_handshake)
