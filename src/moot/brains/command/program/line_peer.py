"""JSON-RPC over lines: requests both ways, notifications in, noise ignored. codex and ACP agents speak it.

Above: codex.py, acp.py. Below: cli_process.py. An unknown request of the other side is answered with an error, so that
it does not wait for ever.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from msgspec import DecodeError, json

from moot.brains.command.driver import CliDied
from moot.brains.command.program.cli_process import CliProcess
from moot.model.json import JsonObject

UNKNOWN_METHOD: Final = -32601
FAILED: Final = -32603
OPEN_SECONDS: Final = 60.0

OnRequest = Callable[[str, JsonObject], Awaitable[JsonObject | None]]
"""Returns the result of a request; None if its method is unknown."""


class RpcError(Exception):
    """The other side answered with an error."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class LinePeer:
    def __init__(
        self,
        process: CliProcess,
        on_request: OnRequest,
        on_notification: Callable[[str, JsonObject], None],
        version: str = "",
        wait_for_room: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.process = process
        self._on_request = on_request
        self._on_notification = on_notification
        self._wait_for_room = wait_for_room
        self._version = {"jsonrpc": version} if version else {}
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count(1)
        self._answering: set[asyncio.Task[None]] = set()
        self._reading = asyncio.create_task(self._read())

    async def request(
        self, method: str, params: JsonObject, seconds: float | None = OPEN_SECONDS
    ) -> JsonObject:
        """The result of a request. If `seconds` is None it waits for as long as the process lives."""
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            await self._send({"id": number, "method": method, "params": params})
            async with asyncio.timeout(seconds):
                result = await answer
        except TimeoutError:
            raise CliDied(f"it did not answer {method} within {seconds:g} s") from None
        finally:
            self._pending.pop(number, None)
        return result if isinstance(result, dict) else {}

    async def notify(self, method: str, params: JsonObject) -> None:
        await self._send({"method": method, "params": params})

    async def close(self) -> None:
        await self.process.end()
        for task in (self._reading, *self._answering):
            task.cancel()

    async def _send(self, message: JsonObject) -> None:
        await self.process.write(json.encode({**self._version, **message}) + b"\n")

    async def _read(self) -> None:
        why = ""
        try:
            async for line in self.process.lines():
                with suppress(DecodeError):  # noise
                    message = json.decode(line)
                    if isinstance(message, dict):
                        self._on_message(message)
                if self._wait_for_room is not None:
                    await self._wait_for_room()
        except Exception as error:  # a message of an unexpected shape: reading stops here
            why = f"{type(error).__name__}: {error}"
        finally:
            for answer in self._pending.values():
                if not answer.done():
                    answer.set_exception(CliDied("its process has ended"))
            self._on_notification("", {"why": why})

    def _on_message(self, message: JsonObject) -> None:
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str):
            params = message.get("params") or {}
            if number is None:
                self._on_notification(method, params)
                return
            task = asyncio.get_running_loop().create_task(self._reply(number, method, params))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
            return
        waiting = self._pending.get(number) if isinstance(number, int) else None
        if waiting is None or waiting.done():
            return
        if (error := message.get("error")) is not None:
            details = error if isinstance(error, dict) else {}
            waiting.set_exception(
                RpcError(str(details.get("message", error)), int(details.get("code", 0) or 0))
            )
        else:
            waiting.set_result(message.get("result"))

    async def _reply(self, number: Any, method: str, params: JsonObject) -> None:
        error: JsonObject = {"code": UNKNOWN_METHOD, "message": f"unknown method {method}"}
        try:
            result = await self._on_request(method, params)
        except Exception as trouble:  # whatever it was: the other side waits for an answer
            result, error = None, {"code": FAILED, "message": f"{type(trouble).__name__}: {trouble}"}
        with suppress(CliDied):
            if result is None:
                await self._send({"id": number, "error": error})
            else:
                await self._send({"id": number, "result": result})
