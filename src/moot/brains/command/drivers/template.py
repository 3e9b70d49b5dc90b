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

from moot.brains.command.driver import (
    CliDied,
    CliEvent,
    CliSetup,
    OpenedSession,
    PromptEnded,
    PromptEnding,
    TextDelta,
)
from moot.brains.command.program.cli_process import CliProcess

MAX_OUTPUT_CHARACTERS: Final = 4 << 20
"""A program that writes more is ended."""
REFUSED_FLAGS: Final = (
    "--dangerously",
    "--allow-dangerously",
    "--yolo",
    "--allow-all",
    "bypassPermissions",
    "--full-auto",
    "danger-full-access",
)
"""Flags that take a CLI's own brakes off."""


def words_of(line: str) -> list[str]:
    """The words of a command line. Raises ValueError if it cannot be split; its message is for people."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"cannot be split into words: {error}") from None
    if not words:
        raise ValueError("has no program")
    return words


def refused_flag(words: list[str]) -> str:
    """The first word that takes off a CLI's own brakes; empty if there is none."""
    return next((word for word in words if any(flag in word for flag in REFUSED_FLAGS)), "")


class TemplateDriver:
    name = "template"
    keeps_partial = False

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._process: CliProcess | None = None
        self._interrupted = False

    async def open(self, setup: CliSetup, resume: str | None) -> OpenedSession:
        """Nothing runs between turns, so there is nothing to resume."""
        self._setup = setup
        return OpenedSession(str(uuid4()))

    async def prompt(self, text: str) -> AsyncIterator[CliEvent]:
        self._interrupted = False
        setup = self._setup
        values = {"{prompt}": text, "{project}": str(setup.project), "{agent}": setup.agent}
        argv = [_fill(word, values) for word in self._words]
        process = self._process = await CliProcess.start(
            await asyncio.to_thread(setup.wrap, argv, ()),
            cwd=setup.project,
            environ=setup.environ,
            run_folder=setup.run_folder,
        )
        reads_input = "{prompt}" not in " ".join(self._words)
        # beside reading what it writes: a program may write before it has read everything
        feeding = asyncio.create_task(_feed(process, text if reads_input else ""))
        try:
            async for event in self._output(process):
                yield event
        finally:
            feeding.cancel()
            await process.end()

    async def _output(self, process: CliProcess) -> AsyncIterator[CliEvent]:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        size = 0
        async for piece in process.pieces():
            words = decode(piece)
            size += len(words)
            if size > MAX_OUTPUT_CHARACTERS:
                yield PromptEnded(
                    PromptEnding.ERROR,
                    f"it wrote more than {MAX_OUTPUT_CHARACTERS >> 20} MiB and was stopped",
                )
                return
            yield TextDelta(words)
        code = await process.exit_code()
        if self._interrupted:
            yield PromptEnded(PromptEnding.INTERRUPTED)
        elif code:
            words = " ".join(process.last_words.split())[-300:]
            yield PromptEnded(
                PromptEnding.ERROR,
                f"{self._words[0]} ended with exit code {code}" + (f": {words}" if words else ""),
            )
        else:
            yield PromptEnded(PromptEnding.END)

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
    """Write its input, for as long as it reads."""
    with suppress(CliDied):
        await process.write(text.encode())
    await process.end_input()


def _fill(word: str, values: dict[str, str]) -> str:
    """One pass: a placeholder inside the prompt is not filled in."""
    parts: list[str] = []
    while word:
        at, mark = min(((word.find(mark), mark) for mark in values if mark in word), default=(-1, ""))
        if at < 0:
            break
        parts += [word[:at], values[mark]]
        word = word[at + len(mark) :]
    return "".join((*parts, word))
