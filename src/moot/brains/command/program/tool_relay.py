"""Carries bytes between an MCP client's pipe and the host's socket: what an ACP agent starts as Moot's MCP server.

    tool_relay.py SOCKET

Run as a script; it imports nothing of Moot. It needs no authentication: the socket belongs to one agent's process, in a
folder that only the owner can enter.
"""

import os
import select
import socket
import sys

_CHUNK = 65536


def main(path: str) -> None:
    line = socket.socket(socket.AF_UNIX)
    line.connect(path)
    with line:
        while True:
            ready, _, _ = select.select([0, line.fileno()], [], [])
            if 0 in ready:
                data = os.read(0, _CHUNK)
                if not data:
                    return
                line.sendall(data)
            if line.fileno() in ready:
                data = line.recv(_CHUNK)
                if not data:
                    return
                os.write(1, data)


if __name__ == "__main__":
    main(sys.argv[1])
