"""What the fake model says when nobody wrote a script: honest, deterministic, and alive enough for a demo.

It takes name, role and colleagues from the words of Moot's own prompts, quotes what it was asked, asks a colleague
when a person spoke, and passes when the prompt lets it and nobody meant it. object other prompt is simply quoted.
"""

import re
from hashlib import sha256
from typing import Final

from moot.rules.words.silence import PASS
from moot.testing.fake_llm.answers import Answer, Fault
from moot.testing.fake_llm.requests import Request

MARK: Final = "(fake model)"
QUOTED: Final = 60
FAULT_MODEL: Final = "fault-"

_ME: Final = re.compile(r"You are (?P<name>[a-z][\w.-]*)(?:, (?P<role>[^.\n]+))?[.\n]")
_COLLEAGUE: Final = re.compile(r"^- (?P<name>[a-z][\w.-]*) \(agent\)", re.MULTILINE)
_FRAME: Final = re.compile(
    r'^\[From (?P<kind>\w+)(?: "(?P<name>[^"\n]*)")?\]:(?: #\d+ <(?P<edge>\w+)>)?\n(?P<text>.*?)(?:\n</(?P=edge)>|\Z)',
    re.MULTILINE | re.DOTALL,
)
_MENTION: Final = re.compile(r"(?<![\w@])@[a-z][\w-]*")
_NOTE: Final = re.compile(r"^\[Moot\]:.*", re.MULTILINE | re.DOTALL)

ANSWERS: Final = (
    "On {topic}: as {role}, I would look at what it costs first.",
    "{topic}: seen as {role}, there are two ways, and the shorter one is enough.",
    "As {role} I would begin with the plain case of {topic}, and see.",
)


def reply(request: Request) -> Answer:
    """The answer to any request."""
    if request.model.startswith(FAULT_MODEL):
        return Answer(f"A fault by name. {MARK}", fault=_fault(request.model))
    me = _ME.search(request.system)
    name = me["name"] if me else ""
    kind, words = _newest(request.last)
    is_mine = bool(name) and re.search(rf"(?<![\w@])@{re.escape(name)}(?![\w-])", words) is not None
    is_for_all = kind == "human" and not _MENTION.search(words)
    if PASS in request.last and not is_mine and not is_for_all:
        return Answer(PASS)
    role = (me["role"] if me else None) or "a model that is none"
    text = _pick(ANSWERS, f"{name}|{words}").format(topic=f'"{_topic(words)}"', role=role)
    colleagues = [met["name"] for met in _COLLEAGUE.finditer(request.system) if met["name"] != name]
    if kind == "human" and colleagues and len(_MENTION.findall(words)) <= 1:
        text += f" @{_pick(tuple(colleagues), words)}, what do you think?"
    return Answer(f"{text} {MARK}")


def _fault(model: str) -> Fault:
    try:
        return Fault(model.removeprefix(FAULT_MODEL))
    except ValueError:
        return Fault.OK


def _newest(text: str) -> tuple[str, str]:
    """Who spoke last in what the model was given, and the words; without frames it is all one person's."""
    frames = list(_FRAME.finditer(text))
    if frames:
        return frames[-1]["kind"], frames[-1]["text"]
    return "human", _NOTE.sub("", text)


def _topic(text: str) -> str:
    words = " ".join(_MENTION.sub("", text).split()).strip(" ,.!?:;\"'")
    if not words:
        return "nothing much"
    return words if len(words) <= QUOTED else words[:QUOTED].rsplit(" ", 1)[0] + " …"


def _pick(choices: tuple[str, ...], seed: str) -> str:
    return choices[sha256(seed.encode("utf-8", "replace")).digest()[0] % len(choices)]
