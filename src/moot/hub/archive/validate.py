"""Read an export to its last line before anything is stored, and say of every broken line where and why.

Keeps only what is needed to plan: the conversations, the people, and how many lines belong to each.
"""

import hashlib
import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from moot.errors import BadValue
from moot.hub.archive import transcript
from moot.hub.commands.values import check_described, overrides
from moot.model.conversation import ConversationKind, GroupOverrides
from moot.model.hint import Act, Hint
from moot.model.ids import parse_address
from moot.model.participant import Kind
from moot.rules.words.names import NameProblem, check_conversation_name, is_conversation_id
from moot.rules.words.text import TextProblem, check_text, unfit_letter

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
MAX_SHOWN: Final = 20
SHOWN_BESIDE: Final = ("tool", "for", "brain", "notice", "sender", "type")
MAX_NOTE_CHARACTERS: Final = 500
NO_EXPORT: Final = 'not a Moot export: expected {"type":"moot-export", …} on the first line'
NOBODYS: Final = {"system": Kind.SYSTEM.value, "tool": Kind.TOOL.value}
"""Names that belong to no participant: notices and tool results."""
_KINDS = frozenset(kind.value for kind in Kind)
_PAIR: Final = 2


class Planned(Struct):
    """One conversation of the file."""

    number: int
    """The line it begins on."""
    line: transcript.ConversationLine
    settings: GroupOverrides
    messages: int = 0
    summaries: int = 0
    whole: bool = False


class Checked(Struct):
    digest: str
    conversations: list[Planned]
    people: dict[str, transcript.PersonLine]


class Wrong(ValueError):
    """What is wrong with a line."""


def lines_of(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Numbered from one; a last line without an end counts. Blank lines are skipped."""
    number = 0
    while raw := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if raw.strip():
            yield number, raw


def check(file: BinaryIO, label: str, *, limit_bytes: int) -> Checked:
    """The whole file, or one error that names the first broken line and counts the others."""
    reading = _TranscriptReader(limit_bytes)
    wrong: list[tuple[int, str]] = []
    digest = hashlib.sha256()
    last = 0
    for number, raw in lines_of(file):
        digest.update(raw)
        last = number
        try:
            reading.take(number, raw)
        except Wrong as reason:
            wrong.append((number, str(reason)))
            if isinstance(reason, Hopeless) or len(wrong) >= MAX_SHOWN:
                break
    if not wrong and (unfinished := reading.unfinished()):
        wrong.append((last, unfinished))
    if wrong:
        raise _refusal(label, wrong)
    return Checked(digest.hexdigest(), reading.conversations, reading.people)


class Hopeless(Wrong):
    """The rest of the file cannot be checked."""


def _refusal(label: str, wrong: list[tuple[int, str]]) -> BadValue:
    number, reason = wrong[0]
    others = [f"{label}:{line}: {why}" for line, why in wrong[1:4]]
    more = [f"and {len(wrong) - 4} more"] if len(wrong) > 4 else []  # noqa: PLR2004  three are shown
    return BadValue(
        f"{label}:{number}: {reason}",
        detail="\n".join([*others, *more, "nothing was stored"]),
        fix=(Hint(Act.EXPORT_AGAIN),),
        file=label,
        line=number,
        lines=[line for line, _ in wrong],
    )


class _TranscriptReader:
    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._header: transcript.HeaderLine | None = None
        self._ids: set[str] = set()
        self.conversations: list[Planned] = []
        self.people: dict[str, transcript.PersonLine] = {}

    @property
    def _open(self) -> Planned | None:
        return self.conversations[-1] if self.conversations and not self.conversations[-1].whole else None

    def unfinished(self) -> str:
        if self._header is None:
            return "the file is empty; expected a Moot export"
        if self._open is not None:
            return f"the file ends in the middle of {self._open.line.name}: its end line is missing"
        return ""

    def take(self, number: int, raw: bytes) -> None:
        line = self._read(raw)
        match line:
            case None:
                pass  # the header
            case transcript.HeaderLine():
                raise Wrong("a second moot-export line; a file has exactly one, at the start")
            case transcript.PersonLine():
                self._person(line)
            case transcript.ConversationLine():
                self._conversation(number, line)
            case transcript.MessageLine():
                self._message(line)
            case transcript.SummaryLine():
                self._summary(line)
            case transcript.EndLine():
                self._end(line)

    def _read(self, raw: bytes) -> transcript.AnyLine | None:
        if len(raw) > MAX_LINE_BYTES:
            raise Hopeless(f"longer than {MAX_LINE_BYTES} bytes")
        try:
            line = transcript.read(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            reason = re.sub(r"\s+", " ", str(problem))[:200]
            if self._header is None:
                raise Hopeless(f"{NO_EXPORT}, and this line is something else: {reason}") from None
            raise Wrong(f"{reason[:1].lower()}{reason[1:]}") from None
        if self._header is not None:
            return line
        if not isinstance(line, transcript.HeaderLine):
            raise Hopeless(NO_EXPORT)
        if line.version != transcript.VERSION:
            raise Hopeless(
                f"an export of version {line.version}; this version of Moot reads version "
                f"{transcript.VERSION}"
            )
        self._header = line
        return None

    def _person(self, line: transcript.PersonLine) -> None:
        if line.kind not in _KINDS or line.name in NOBODYS:
            raise Wrong(f"{line.name} ({line.kind}) cannot be a participant")
        if not line.name.strip():
            raise Wrong("a person without a name")
        try:
            check_described(role=line.role, display=line.display)
        except BadValue as problem:
            raise Wrong(f"{line.name[:40]}: {problem.title}") from None
        earlier = self.people.setdefault(line.name, line)
        if earlier.kind != line.kind:
            raise Wrong(f"{line.name} is {line.kind} here, but was {earlier.kind} before")

    def _conversation(self, number: int, line: transcript.ConversationLine) -> None:
        if self._open is not None:
            raise Hopeless(f"a conversation begins before the end line of {self._open.line.name}")
        if line.kind not in {kind.value for kind in ConversationKind}:
            raise Hopeless(f'unknown kind of conversation "{line.kind}"')
        if line.id in self._ids or not is_conversation_id(line.id):
            raise Hopeless(f'the id "{line.id}" is empty, taken or invalid')
        self._ids.add(line.id)
        planned = Planned(number, line, GroupOverrides())
        self.conversations.append(planned)
        try:
            check_conversation_name(line.name)
            planned.settings = overrides(line.settings)
        except NameProblem as problem:
            raise Wrong(
                f'"{line.name[:40]}" cannot be used as its name: expected {problem.expected}'
            ) from None
        except BadValue as problem:
            raise Wrong(f"settings: {problem.title}") from None
        for at in (line.created_at, line.updated_at, *[seat.joined_at for seat in line.participants]):
            _time(at)
        self._known(*[seat.name for seat in line.participants], *([line.home] if line.home else []))
        if line.kind == ConversationKind.DIRECT.value and len(line.participants) > _PAIR:
            raise Wrong("a direct conversation has two participants")

    def _message(self, line: transcript.MessageLine) -> None:
        room = self._inside("message")
        room.messages += 1
        if line.seq != room.messages:
            expected, room.messages = room.messages, line.seq
            raise Wrong(f"expected message {expected}, got message {line.seq}")
        self._author(line)
        self._known(*line.mentions)
        _time(line.at)
        if not 0 <= line.reply_to < line.seq:
            raise Wrong(f"reply_to {line.reply_to} must be lower than the message's own number {line.seq}")
        if line.version < 1 or line.hop < 0:
            raise Wrong("version must be at least 1, and hop at least 0")
        _root(line)
        _metadata(line)
        self._text(line)

    def _author(self, line: transcript.MessageLine) -> None:
        kind = NOBODYS.get(line.sender)
        if kind is None:
            self._known(line.sender)
            kind = self.people[line.sender].kind
        human = Kind.HUMAN.value
        nobody = line.sender in NOBODYS
        if (
            line.kind not in _KINDS
            or (nobody and line.kind != kind)
            or (kind == human) != (line.kind == human)
        ):
            raise Wrong(f"a message of kind {line.kind} from {line.sender}, who is {kind}")
        if line.kind in NOBODYS.values() and not nobody:
            raise Wrong(f"a message of kind {line.kind} from {line.sender}")

    def _text(self, line: transcript.MessageLine) -> None:
        try:
            check_text(line.text, limit_bytes=self._limit)
        except TextProblem as problem:
            if problem.problem != "empty":
                raise Wrong(f"text: expected {problem.expected} (limits.message_bytes)") from None
        if line.deleted and line.text:
            raise Wrong("it is marked as deleted but has a text")

    def _summary(self, line: transcript.SummaryLine) -> None:
        room = self._inside("summary")
        room.summaries += 1
        _time(line.at)
        if not 0 < line.upto <= room.messages or not line.text.strip():
            raise Wrong(f"a summary up to {line.upto} of {room.messages} messages, or without a text")

    def _end(self, line: transcript.EndLine) -> None:
        room = self._inside("end")
        room.whole = True
        if (line.messages, line.summaries) != (room.messages, room.summaries):
            raise Wrong(
                f"it says {line.messages} messages and {line.summaries} summaries, but there are "
                f"{room.messages} and {room.summaries}"
            )

    def _inside(self, what: str) -> Planned:
        if self._open is None:
            raise Wrong(f"{what} line outside a conversation")
        return self._open

    def _known(self, *names: str) -> None:
        for name in names:
            if name not in self.people:
                raise Wrong(f'no earlier person line describes "{name[:40]}"')


def _time(text: str) -> None:
    try:
        if not transcript.seconds(text) > 0:
            raise ValueError(text)
    except (ValueError, OverflowError):
        raise Wrong(
            f'"{text[:40]}" is not a time; expected for example 2027-01-15T08:00:00.000000Z'
        ) from None


def _metadata(line: transcript.MessageLine) -> None:
    """Refuse metadata that would not fit in the line that names the author."""
    for key in SHOWN_BESIDE:
        value = line.metadata.get(key, "")
        if (
            not isinstance(value, str)
            or len(value) > MAX_NOTE_CHARACTERS
            or unfit_letter(value)
            or '"' in value
        ):
            raise Wrong(f"metadata.{key} is not a short line of text")
    if not isinstance(line.metadata.get("imported", {}), dict):
        raise Wrong("metadata.imported is not an object")


def _root(line: transcript.MessageLine) -> None:
    try:
        if isinstance(line.root, str):
            parse_address(line.root)
        elif not 0 <= line.root <= line.seq:
            raise ValueError("a chain cannot begin after the message")
    except ValueError as problem:
        raise Wrong(f"root: {problem}") from None
