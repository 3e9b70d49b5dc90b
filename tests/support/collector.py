"""A collector of traces: takes what a hub sends it, as OpenTelemetry's own would."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Collector:
    """An HTTP server that takes OTLP as JSON."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        collector = self

        class Taking(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                collector.requests.append((self.path, dict(self.headers), body))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *words: Any) -> None:
                """Quiet."""

        self._server = HTTPServer(("127.0.0.1", 0), Taking)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def spans(self) -> list[dict[str, Any]]:
        return [
            span
            for _, _, body in self.requests
            for resource in body["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}
