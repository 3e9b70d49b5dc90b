"""What a scripted CLI does, whichever protocol it speaks; see the package."""

import itertools
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moot.testing.fake_cli.tour import acts_for

PRICE = 0.01
"""Dollars for each prompt."""
VERSION = "9.9.9"


class ActInterrupted(Exception):
    """Somebody stopped what was prompted."""


class ProviderFails(Exception):
    """The provider failed."""


class JsonPipe:
    """Lines of JSON: a reader beside the script, so that it can be interrupted and answered."""

    def __init__(self, on_message: Callable[[dict[str, Any]], None]) -> None:
        self._writing = threading.Lock()
        self._on_message = on_message

    def send(self, message: dict[str, Any]) -> None:
        self.write(json.dumps(message))

    def write(self, line: str) -> None:
        with self._writing:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def read(self) -> None:
        for line in sys.stdin:
            if line.strip():
                self._on_message(json.loads(line))
        os._exit(0)


class ScriptedSession:
    """What a CLI remembers: how often it was prompted, and what it has cost."""

    def __init__(self, id: str, *, resume: bool) -> None:
        self.id = id
        self._path = Path(os.environ.get("HOME", "/tmp")) / ".fake_clis" / f"{id}.json"
        if resume and not self._path.exists():
            raise LookupError(id)
        saved = json.loads(self._path.read_text()) if resume else {}
        self.prompts: list[str] = saved.get("prompts", [])
        self.cost = float(saved.get("cost", 0.0))

    def keep(self, prompt: str = "") -> None:
        self.prompts += [prompt] if prompt else []
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps({"prompts": self.prompts, "cost": self.cost}))


def acts_of(prompt: str) -> list[str]:
    for block in reversed(re.split(r"(?m)^\[From ", prompt)):
        acts = [line[2:] for line in block.splitlines() if line.startswith("! ")]
        if acts:
            return acts
    return ["say I am here"]


class ScriptedCli(ABC):
    """What all of them do; how it is said is the protocol's own business."""

    ends_its_commands = True
    """When it is interrupted."""
    tour = ""
    """Whose part of the tour it plays; else what it is told in the messages."""

    def __init__(self) -> None:
        self.pipe = JsonPipe(self.on_message)
        self.prompts: queue.Queue[str] = queue.Queue()
        self.stopped = threading.Event()
        self.answers: dict[Any, queue.Queue[Any]] = {}
        self.numbers = itertools.count(1)
        self.session: ScriptedSession
        self.child: subprocess.Popen[str] | None = None

    def main(self) -> None:
        threading.Thread(target=self.pipe.read, daemon=True).start()
        while True:
            text = self.prompts.get()
            self.stopped.clear()
            try:
                self.session.keep(text)
                self.began(text)
                for act in self.acts(text):
                    self.play(act, text)
                self.session.cost += PRICE
                self.session.keep()
                self.ended("end")
            except ActInterrupted:
                self.ended("interrupted")
            except ProviderFails as refusal:
                self.ended("error", str(refusal))

    def acts(self, prompt: str) -> list[str]:
        newest = re.split(r"(?m)^\[From ", prompt)[-1]
        return acts_for(self.tour, newest) if self.tour else acts_of(prompt)

    def play(self, act: str, prompt: str) -> None:
        word, _, rest = act.partition(" ")
        match word:
            case "say" | "slow" | "until":
                self.speak(word, rest)
            case "run" | "beside":
                self.run(*rest.split(" ; ", 1) if word == "beside" else (rest,))
            case "moot":
                tool, _, arguments = rest.partition(" ")
                self.report(str(self.call(tool, json.loads(arguments or "{}"))))
            case "wish":
                tool, _, action = rest.partition(" ")
                self.report(self.wish(tool, action))
            case "fail":
                raise ProviderFails(rest)
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang" | "noise" | "flood":
                self.misbehave(word, rest)
            case "env" | "prompt":
                echo = prompt.replace("\n! ", "\n| ")
                self.say(
                    echo if word == "prompt" else f"{rest} is {'set' if rest in os.environ else 'not set'}"
                )
            case _:
                self.more(word, rest)

    def speak(self, word: str, rest: str) -> None:
        if word != "until":
            self.say(rest, 0.1 if word == "slow" else 0.0)
            return
        while not Path(rest).exists():
            self.say("word ", 0.05)

    def misbehave(self, word: str, rest: str) -> None:
        if word == "hang":
            self.pause(3600)
        elif word == "noise":
            self.pipe.write("warning: this is not JSON")
            self.pipe.write("[1, 2]")
        for _ in range(int(rest) if word == "flood" else 0):
            self.delta("word ")

    def more(self, word: str, rest: str) -> None:
        """What only one protocol can do."""
        self.say(f"there is no act {word}")

    def pause(self, seconds: float) -> None:
        if self.stopped.wait(seconds):
            raise ActInterrupted

    def say(self, text: str, pause: float = 0.0) -> None:
        for piece in re.findall(r"\S+\s*|\s+", text):
            self.pause(pause)
            self.delta(piece)

    def report(self, outcome: str) -> None:
        """What came of a tool: in tests it is said, on a tour it is the agent's own business."""
        if not self.tour:
            self.say(outcome)

    def run(self, command: str, call: str = "") -> None:
        """A command; with `call` a tool of Moot's while it runs."""
        number = f"tool-{next(self.numbers)}"
        self.tool_began(number, command)
        self.child = subprocess.Popen(
            command,
            shell=True,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        if call:
            tool, _, arguments = call.partition(" ")
            self.call(tool, json.loads(arguments or "{}"))
        while self.child.poll() is None:
            if self.stopped.wait(0.02):
                if self.ends_its_commands:
                    os.killpg(self.child.pid, signal.SIGKILL)
                raise ActInterrupted
        output = self.child.stdout.read() if self.child.stdout else ""
        self.tool_ended(number, output, self.child.returncode)

    def answer_to(self, number: Any) -> Any:
        """What the other side answers to a request of ours."""
        waiting = self.answers.setdefault(number, queue.Queue())
        while True:
            try:
                return waiting.get(timeout=0.02)
            except queue.Empty:
                if self.stopped.is_set():
                    raise ActInterrupted from None

    def on_answer(self, number: Any, answer: Any) -> None:
        self.answers.setdefault(number, queue.Queue()).put(answer)

    # --- each protocol's own --------------------------------------------------------------------------------------

    @abstractmethod
    def on_message(self, message: dict[str, Any]) -> None: ...

    @abstractmethod
    def began(self, text: str) -> None: ...

    @abstractmethod
    def delta(self, piece: str) -> None: ...

    @abstractmethod
    def tool_began(self, number: str, command: str) -> None: ...

    @abstractmethod
    def tool_ended(self, number: str, output: str, code: int) -> None: ...

    @abstractmethod
    def call(self, tool: str, arguments: dict[str, Any]) -> Any: ...

    @abstractmethod
    def wish(self, tool: str, action: str) -> str: ...

    @abstractmethod
    def ended(self, how: str, why: str = "") -> None: ...
