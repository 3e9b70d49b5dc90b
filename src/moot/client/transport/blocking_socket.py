"""The transport for a program that makes a few calls and exits: it blocks until each answer.

The same lines over the same socket as `SocketTransport`, and the calls that sdk/ declares, by the names that the socket
knows. Light on purpose: a loop, the declarations and the shapes of answers take longer to import than a call takes, so
answers are plain values here.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

from moot.client.transport.refusal import error_from
from moot.errors import HubAbsent
from moot.model.hint import Act, Hint
from moot.model.json import JsonObject

GREETING_SECONDS = 10.0
MAX_ADDRESS_BYTES = 100
"""The kernel takes 107 bytes; a home may lie deeper than that."""
CREDENTIALS = 12
"""Bytes of three numbers: process, user and group at the other end."""


class BlockingConnection:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._incoming = connection.makefile("rb")
        self._number = 0
        self.name = ""
        """Who the caller is, as the hub says."""
        self.is_lost = False
        """The hub has gone, and what was asked last may be done or not."""

    @classmethod
    def find(cls, path: str) -> BlockingConnection | None:
        """The hub behind a socket; None if no hub answers there."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(GREETING_SECONDS)
            _connect(connection, path)
            hub = cls(connection)
            hub._send({"hello": 1, "door": "cli"})
            hub.name = str(hub._next("hello")["hello"]["name"])
            connection.settimeout(None)
        except (OSError, ValueError, LookupError, TypeError):
            connection.close()
            return None
        return hub

    def close(self) -> None:
        self._incoming.close()
        self._connection.close()

    def call(self, method: str, speaker: str | None = None, /, **arguments: Any) -> Any:
        """Call a method of the hub; what it refuses is raised as the class that it raised."""
        self._number += 1
        try:
            self._send({"call": self._number, "do": method, "as": speaker, "in": None, "with": arguments})
            answer = self._next("answer")
        except (OSError, ValueError):
            self.is_lost = True
            raise HubAbsent(
                "the hub stopped during the request", fix=(Hint(Act.START_HUB), Hint(Act.RUN_DOCTOR))
            ) from None
        if "error" in answer:
            raise error_from(answer["error"])
        return answer["value"]

    def _send(self, line: JsonObject) -> None:
        self._connection.sendall(json.dumps(line).encode() + b"\n")

    def _next(self, kind: str) -> JsonObject:
        """The next line of this kind; there is only one call at a time, so it is the answer."""
        while line := self._incoming.readline():
            answer = json.loads(line)
            if isinstance(answer, dict) and kind in answer:
                return answer
        raise ConnectionResetError("the connection was closed")


def _connect(connection: socket.socket, path: str) -> None:
    """Connect, only to a process of the same user."""
    if len(os.fsencode(path)) <= MAX_ADDRESS_BYTES:
        connection.connect(path)
    else:
        folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
        try:
            connection.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
        finally:
            os.close(folder)
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS)
    if int.from_bytes(credentials[4:8], sys.byteorder) not in (os.getuid(), 0):
        raise PermissionError(f"the process listening at {path} belongs to another user")
