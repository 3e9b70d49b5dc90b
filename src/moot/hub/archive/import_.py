"""Import an export: first read and checked to its last line, then stored in batches that can be resumed.

Above: the command line. Below: flow/import_batch.py, the only way to store messages from elsewhere.

Nothing of a file with a broken line is stored. A file is identified by its digest, a message by its line: an
interrupted import goes on where it stopped, and a repeated one changes nothing.

People and agents are found by name, where a person is a person and an agent an agent; whoever is unknown is enrolled
without credentials, agents as `external`. Nobody can speak as them until somebody says so.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

from msgspec import Struct, structs

from moot.errors import BadName, BadValue, Conflict
from moot.flow import begin_import, end_import, enrol, import_batch
from moot.flow.enrol import Newcomer
from moot.flow.import_batch import ImportedMessage
from moot.hub.archive import transcript
from moot.hub.archive.validate import Checked, Planned, lines_of
from moot.hub.core import Core
from moot.model.conversation import Conversation, ConversationKind
from moot.model.ids import SYSTEM, TOOL, ConversationId, ParticipantId, RootId, address, parse_address
from moot.model.json import JsonObject
from moot.model.message import Summary
from moot.model.participant import Kind
from moot.rules.words.names import CONVERSATION_LENGTH

BATCH: Final = 200
BATCH_BYTES: Final = 4 * 1024 * 1024
MAX_NAMES: Final = 1000


class ImportedPerson(Struct, frozen=True):
    name: str
    kind: str
    called: str
    """Its name here."""
    known: bool


class ImportOutcome(Struct, frozen=True):
    """The outcome for one conversation."""

    name: str
    called: str
    id: str
    messages: int
    """Added now, or to be added."""
    state: str
    """`new`, `resumed` or `there`."""


class ImportReport(Struct, frozen=True):
    conversations: tuple[ImportOutcome, ...]
    people: tuple[ImportedPerson, ...]
    dry_run: bool = False


class Import:
    """One file on its way in."""

    def __init__(self, core: Core, me: ParticipantId, checked: Checked) -> None:
        self._core = core
        self._store = core.parts.store
        self._me = me
        self._checked = checked
        self._ids: dict[str, ParticipantId] = {"system": SYSTEM, "tool": TOOL}
        self._rooms: dict[str, ConversationId] = {}
        """Conversation id in the file → here."""

    async def preview(self) -> ImportReport:
        """What would happen; nothing is stored."""
        people = [await self._person(person, dry=True) for person in self._checked.people.values()]
        outcomes: list[ImportOutcome] = []
        used_names: set[str] = set()
        for planned in self._checked.conversations:
            room = await self._earlier_import(planned)
            state = _state(planned, room)
            called = (
                room.name if state == "there" and room is not None else await self._free(planned, used_names)
            )
            used_names.add(called)
            head = room.head if room is not None else 0
            left = 0 if state == "there" else planned.messages - head
            outcomes.append(ImportOutcome(planned.line.name, called, room.id if room else "", left, state))
        return ImportReport(tuple(outcomes), tuple(people), dry_run=True)

    async def run(self, file: BinaryIO) -> ImportReport:
        people = [await self._person(person, dry=False) for person in self._checked.people.values()]
        await self._core.directory.refresh()
        rooms = [await self._room(planned) for planned in self._checked.conversations]
        outcomes: list[ImportOutcome] = []
        blocks = _blocks(file, self._checked)
        for planned, (room, state) in zip(self._checked.conversations, rooms, strict=True):
            lines = next(blocks)
            if state == "there":
                for _ in lines:
                    pass
                outcomes.append(ImportOutcome(planned.line.name, room.name, room.id, 0, state))
                continue
            summaries = await self._bring(room, planned, lines)
            opened = await self._open(room, planned, summaries)
            added = planned.messages - room.head
            outcomes.append(ImportOutcome(planned.line.name, opened.name, opened.id, added, state))
        return ImportReport(tuple(outcomes), tuple(people))

    # --- who -----------------------------------------------------------------------------------------------

    async def _person(self, person: transcript.PersonLine, *, dry: bool) -> ImportedPerson:
        """The participant with that name and kind, or a new one under a free name."""
        human = person.kind == Kind.HUMAN.value
        for name in _candidates(person.name):
            participant = await self._store.participant(name)
            if participant is not None and (participant.kind is Kind.HUMAN) is human:
                self._ids[person.name] = participant.id
                return ImportedPerson(person.name, person.kind, participant.name, known=True)
            if participant is None and await self._enrolled(person, name, human=human, dry=dry):
                return ImportedPerson(person.name, person.kind, name, known=False)
        raise Conflict(f"no name is left for {person.name}")

    async def _enrolled(self, person: transcript.PersonLine, name: str, *, human: bool, dry: bool) -> bool:
        kind = Kind.HUMAN if human else Kind.EXTERNAL
        new = Newcomer(name, kind, person.display, person.role, "" if human else "external")
        do = self._store.preview if dry else self._store.transact
        try:
            try:
                [participant] = await do(enrol, enrol.Enrol((new,), fresh=True))
            except BadValue:  # its display name there is a participant's name here
                [participant] = await do(enrol, enrol.Enrol((structs.replace(new, display=""),), fresh=True))
        except BadName:
            return False  # reserved here, or too similar to another name: try the next
        self._ids[person.name] = participant.id
        return True

    # --- where ---------------------------------------------------------------------------------------------

    async def _earlier_import(self, planned: Planned) -> Conversation | None:
        """The conversation that an earlier import of the same file has begun or finished."""
        key = self._key(planned.number)
        for archived in (False, True):
            for conversation in await self._store.conversations(archived=archived, kind=None):
                if conversation.key == key:
                    return conversation
        return None

    def _key(self, number: int) -> str:
        return f"import:{self._checked.digest[:32]}:{number}"

    async def _room(self, planned: Planned) -> tuple[Conversation, str]:
        room, line = await self._earlier_import(planned), planned.line
        if room is None:
            command = begin_import.BeginImport(
                author=self._me,
                key=self._key(planned.number),
                name=line.name,
                kind=ConversationKind(line.kind),
                created_at=transcript.seconds(line.created_at),
                seats=tuple(
                    begin_import.ImportedMember(self._ids[seat.name], transcript.seconds(seat.joined_at))
                    for seat in line.participants
                ),
                settings=planned.settings,
                home=self._ids.get(line.home),
            )
            made = await self._core.do(begin_import, command)
            self._rooms[line.id] = made.id
            return made, "new"
        self._rooms[line.id] = room.id
        return room, _state(planned, room)

    async def _free(self, planned: Planned, used_names: set[str]) -> str:
        for name in _numbered(planned.line.name):
            there = await self._store.conversation(name)
            if planned.line.archived or (name not in used_names and there is None):
                return name
        raise Conflict(f"no name is left for {planned.line.name}")

    async def _open(self, room: Conversation, planned: Planned, summaries: list[Summary]) -> Conversation:
        """Under its own name or, if that is in use, with a number appended."""
        line = planned.line
        for name in _numbered(line.name):
            command = end_import.EndImport(
                author=self._me,
                conversation=room.id,
                name=name,
                updated_at=transcript.seconds(line.updated_at),
                archived=line.archived,
                summaries=tuple(summaries),
            )
            try:
                opened: Conversation = await self._core.do(end_import, command)
            except Conflict as taken:
                if "conversation" not in taken.facts:
                    raise
                continue
            return opened
        raise Conflict(f"no name is left for {line.name}")

    # --- what ----------------------------------------------------------------------------------------------

    async def _bring(
        self, room: Conversation, planned: Planned, lines: Iterator[tuple[int, transcript.AnyLine]]
    ) -> list[Summary]:
        batch: list[ImportedMessage] = []
        size = 0
        summaries: list[Summary] = []
        for number, line in lines:
            if isinstance(line, transcript.SummaryLine):
                summaries.append(_summary(line))
            if not isinstance(line, transcript.MessageLine) or line.seq <= room.head:
                continue
            batch.append(self._item(line, number, planned, room.id))
            size += len(line.text)
            if len(batch) == BATCH or size > BATCH_BYTES:
                await self._send(room.id, batch)
                size = 0
        await self._send(room.id, batch)
        return summaries

    async def _send(self, room: ConversationId, batch: list[ImportedMessage]) -> None:
        if batch:
            await self._core.do(import_batch, import_batch.ImportBatch(self._me, room, tuple(batch)))
            batch.clear()

    def _item(
        self, line: transcript.MessageLine, number: int, planned: Planned, room: ConversationId
    ) -> ImportedMessage:
        origin = address(ConversationId(planned.line.id), line.seq)
        earlier = line.metadata.get("imported")
        imported: JsonObject = {"id": origin, **(earlier if isinstance(earlier, dict) else {})}
        imported.pop("deleted", None)
        imported |= {"version": line.version} if line.version > 1 or "version" in imported else {}
        imported |= {"deleted": True} if line.deleted else {}
        root = self._root(line.root, room)
        if not root and line.root:
            imported.setdefault("root", line.root)
        return ImportedMessage(
            seq=line.seq,
            author=self._ids[line.sender],
            kind=Kind(line.kind),
            text=line.text,
            at=transcript.seconds(line.at),
            root=root,
            imported=imported,
            hop=line.hop,
            mentions=tuple(self._ids[name] for name in line.mentions),
            reply_to=line.reply_to,
            intent=line.intent,
            deleted=line.deleted,
            metadata={key: value for key, value in line.metadata.items() if key != "deleted"},
            key=self._key(number),
        )

    def _root(self, root: int | str, room: ConversationId) -> RootId:
        """A chain from a conversation of the same file continues there; of others only the address is kept."""
        if isinstance(root, int):
            return RootId(address(room, root) if root else "")
        where, seq = parse_address(root)
        there = self._rooms.get(where)
        return RootId(address(there, seq) if there is not None else "")


def _state(planned: Planned, room: Conversation | None) -> str:
    if room is None:
        return "new"
    whole = room.head >= planned.messages
    return "there" if whole and room.archived <= planned.line.archived else "resumed"


def _summary(line: transcript.SummaryLine) -> Summary:
    return Summary(
        conversation=ConversationId(""),
        epoch=0,
        upto=line.upto,
        text=line.text,
        by=line.by,
        at=transcript.seconds(line.at),
        version=line.version,
        usage=line.usage,
    )


def _candidates(name: str) -> Iterator[str]:
    yield name
    yield f"{name[:50]}-imported"
    for number in range(2, MAX_NAMES):
        yield f"{name[:50]}-imported-{number}"


def _numbered(name: str) -> Iterator[str]:
    yield name
    for number in range(2, MAX_NAMES):
        tail = f"-{number}"
        yield name[: CONVERSATION_LENGTH - len(tail)] + tail


def _blocks(file: BinaryIO, checked: Checked) -> Iterator[Iterator[tuple[int, transcript.AnyLine]]]:
    """The lines of each conversation, behind its own line. Each block is read to its end before the next."""
    file.seek(0)
    lines = lines_of(file)

    def block() -> Iterator[tuple[int, transcript.AnyLine]]:
        for number, raw in lines:
            line = transcript.read(raw)
            if isinstance(line, transcript.EndLine):
                return
            yield number, line

    for _ in checked.conversations:
        yield block()
