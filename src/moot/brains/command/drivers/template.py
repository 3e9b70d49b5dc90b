"""`command:TEMPLATE`: any program, once per turn; its standard output is the answer.

    brain = "command:aider --no-git --message {prompt}"

The line is split into words as a shell would, and no shell is involved. `{prompt}`, `{project}` and `{agent}` are
filled in, each within its word; without `{prompt}` the prompt is given on standard input. Above: command_brain.py.
"""

import asyncio
import codecs
import shlex
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final
from uuid import uuid4

from moot.brains.command.driver import CliDied, CliPlace, Ended, Happened, Opened, PromptEnding, Spoke
from moot.brains.command.program.cli_process import CliProcess

MAX_OUTPUT_CHARACTERS: Final = 4 << 20
"""Characters of an answer; a program that writes more is ended."""
FLAGS: Final = (
    "--dangerously",
    "--allow-dangerously",
    "--yolo",
    "--allow-all",
    "bypassPermissions",
    "--full-auto",
    "danger-full-access",
)
"""What takes a CLI's own brakes off."""


def words_of(line: str) -> list[str]:
    """The words of a command line. Raises ValueError where it cannot be split, with words for people."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {error}") from None
    if not words:
        raise ValueError("has no program")
    return words


def refused_flag(words: list[str]) -> str:
    """The first word that takes off a CLI's own brakes; empty where there is none."""
    return next((word for word in words if any(flag in word for flag in FLAGS)), "")


class TemplateDriver:
    name = "template"
    keeps_partial = False

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._process: CliProcess | None = None
        self._interrupted = False

    async def open(self, place: CliPlace, resume: str | None) -> Opened:
        """Nothing runs between turns, so there is nothing to resume."""
        self._place = place
        return Opened(str(uuid4()))

    async def prompt(self, text: str) -> AsyncIterator[Happened]:
        self._interrupted = False
        place = self._place
        filled = {"{prompt}": text, "{project}": str(place.project), "{agent}": place.agent}
        argv = [_filled(word, filled) for word in self._words]
        process = self._process = await CliProcess.start(
            await asyncio.to_thread(place.wrap, argv, ()),
            cwd=place.project,
            environ=place.environ,
            run_folder=place.run_folder,
        )
        by_input = "{prompt}" not in " ".join(self._words)
        # beside reading what it writes: a program may write before it has read everything
        feeding = asyncio.create_task(_feed(process, text if by_input else ""))
        try:
            async for happened in self._output(process):
                yield happened
        finally:
            feeding.cancel()
            await process.end()

    async def _output(self, process: CliProcess) -> AsyncIterator[Happened]:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        size = 0
        async for piece in process.pieces():
            words = decode(piece)
            size += len(words)
            if size > MAX_OUTPUT_CHARACTERS:
                yield Ended(
                    PromptEnding.ERROR,
                    f"it wrote more than {MAX_OUTPUT_CHARACTERS >> 20} MiB and was stopped",
                )
                return
            yield Spoke(words)
        code = await process.exit_code()
        if self._interrupted:
            yield Ended(PromptEnding.INTERRUPTED)
        elif code:
            words = " ".join(process.last_words.split())[-300:]
            yield Ended(
                PromptEnding.ERROR,
                f"{self._words[0]} ended with exit code {code}" + (f": {words}" if words else ""),
            )
        else:
            yield Ended(PromptEnding.END)

    async def interrupt(self) -> None:
        self._interrupted = True
        if self._process is not None:
            await self._process.end()

    async def close(self) -> None:
        if self._process is not None:
            await self._process.end()

    @property
    def alive(self) -> bool:
        return True


async def _feed(process: CliProcess, text: str) -> None:
    """Give it its input, as far as it reads that."""
    with suppress(CliDied):
        await process.write(text.encode())
    await process.end_input()


def _filled(word: str, filled: dict[str, str]) -> str:
    """One pass: what stands in a prompt is not filled in again."""
    parts: list[str] = []
    while word:
        at, mark = min(((word.find(mark), mark) for mark in filled if mark in word), default=(-1, ""))
        if at < 0:
            break
        parts += [word[:at], filled[mark]]
        word = word[at + len(mark) :]
    return "".join((*parts, word))
