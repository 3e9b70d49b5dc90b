"""Lines a person types, without holding up what happens meanwhile."""

import asyncio
import contextlib
import sys
import termios
import threading
from collections.abc import Iterator

try:
    import readline  # also gives input() arrow keys and history
except ImportError:
    readline = None  # type: ignore[assignment]


def line_so_far() -> str:
    """What has been typed since the prompt."""
    return readline.get_line_buffer() if "readline" in sys.modules else ""


@contextlib.contextmanager
def left_as_found() -> Iterator[None]:
    """Leaving in the middle of a line must not leave the terminal without echo."""
    try:
        before = termios.tcgetattr(sys.stdin.fileno())
    except (termios.error, OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)


async def typed(prompt: str) -> str | None:
    """The next line, or None at its end. A thread of its own waits, so that leaving never waits for a key."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str | None] = loop.create_future()

    def settle(line: str | None) -> None:
        if not answer.done():
            answer.set_result(line)

    def read() -> None:
        try:
            line: str | None = input(prompt)
        except (EOFError, OSError, ValueError):
            line = None
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, line)

    threading.Thread(target=read, name="moot-keyboard", daemon=True).start()
    return await answer
