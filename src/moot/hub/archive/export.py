"""Export conversations page by page: JSON Lines that can be imported again, or Markdown for people.

Above: the command line. Below: the read ports alone; no hub is needed or disturbed.
A conversation is exported up to its newest message at that moment.
"""

from collections.abc import AsyncIterator, Sequence

from msgspec import to_builtins

from moot.hub.archive import transcript
from moot.model.conversation import Conversation, Member
from moot.model.ids import NO_ROOT, SYSTEM, TOOL, ParticipantId
from moot.model.message import Message
from moot.model.participant import Kind, Participant
from moot.ports import Page, Reads
from moot.rules.words.redact import redacted, redacted_values

PAGE = 500
NOBODYS = (SYSTEM, TOOL)


class Export:
    """One export. Counts what it has written."""

    def __init__(self, reads: Reads, people: Sequence[Participant], *, redact: bool = False) -> None:
        self._reads = reads
        self._people = {participant.id: participant for participant in people}
        self._people_written: set[str] = set()
        self.redact = redact
        self.conversations = 0
        self.messages = 0

    @classmethod
    async def of(cls, reads: Reads, *, redact: bool = False) -> "Export":
        return cls(reads, await reads.participants(), redact=redact)

    def name(self, participant_id: ParticipantId) -> str:
        participant = self._people.get(participant_id)
        return participant.name if participant is not None else participant_id

    def person(self, participant_id: ParticipantId) -> Participant | None:
        return self._people.get(participant_id)

    def clean(self, text: str) -> str:
        return redacted(text) if self.redact else text

    async def members(self, conversation: Conversation) -> list[Member]:
        """In joining order."""
        members: list[Member] = await self._reads.members(conversation.id)
        return members

    async def pages(self, conversation: Conversation) -> AsyncIterator[list[Message]]:
        after = 0
        while after < conversation.head:
            page = Page(after=after, before=conversation.head + 1, limit=PAGE)
            messages = await self._reads.messages(conversation.id, page)
            if not messages:
                return
            self.messages += len(messages)
            yield messages
            after = messages[-1].seq

    # --- JSON Lines ----------------------------------------------------------------------------------------

    async def jsonl(self, conversations: Sequence[Conversation]) -> AsyncIterator[bytes]:
        """Whole lines, some at a time."""
        yield transcript.written(transcript.HeaderLine(transcript.VERSION, redacted=self.redact))
        for conversation in conversations:
            async for chunk in self._conversation(conversation):
                yield chunk
            self.conversations += 1

    async def _conversation(self, conversation: Conversation) -> AsyncIterator[bytes]:
        members = await self.members(conversation)
        seated = [*[m.participant for m in members], *([conversation.home] if conversation.home else [])]
        lines = [line for participant_id in seated for line in self._introduced(participant_id, Kind.AGENT)]
        lines.append(
            transcript.ConversationLine(
                id=conversation.id,
                name=self.clean(conversation.name),
                kind=conversation.kind.value,
                created_at=transcript.moment(conversation.created_at),
                updated_at=transcript.moment(conversation.updated_at),
                participants=tuple(
                    transcript.MemberEntry(self.name(m.participant), transcript.moment(m.joined_at))
                    for m in members
                ),
                settings=to_builtins(conversation.settings),
                home=self.name(conversation.home) if conversation.home else "",
                archived=conversation.archived,
                channel_type=conversation.channel_type,
                channel_group_id=conversation.channel_group_id,
            )
        )
        yield b"".join(map(transcript.written, lines))
        count = 0
        async for page in self.pages(conversation):
            count += len(page)
            yield b"".join([transcript.written(line) for message in page for line in self._message(message)])
        summaries = [line async for line in self._summaries(conversation)]
        end = transcript.EndLine(messages=count, summaries=len(summaries))
        yield b"".join([*map(transcript.written, summaries), transcript.written(end)])

    def _introduced(self, participant_id: ParticipantId, kind: Kind) -> list[transcript.AnyLine]:
        """The person's line, before it is first needed."""
        if participant_id in self._people_written or participant_id in NOBODYS:
            return []
        self._people_written.add(participant_id)
        participant = self._people.get(participant_id) or Participant(
            id=participant_id, name=participant_id, kind=kind
        )
        return [
            transcript.PersonLine(
                participant.name, participant.kind.value, participant.display, self.clean(participant.role)
            )
        ]

    def _message(self, message: Message) -> list[transcript.AnyLine]:
        lines = self._introduced(message.author, message.kind)
        for mentioned in message.mentions:
            lines += self._introduced(mentioned, Kind.AGENT)
        metadata = {key: value for key, value in message.metadata.items() if key != "deleted"}
        lines.append(
            transcript.MessageLine(
                seq=message.seq,
                sender=self.name(message.author),
                kind=message.kind.value,
                at=transcript.moment(message.at),
                text=self.clean(message.text),
                mentions=tuple(map(self.name, message.mentions)),
                reply_to=message.reply_to,
                root=_root(message),
                hop=message.hop,
                intent=message.intent,
                version=version_at_origin(message),
                deleted=is_deleted(message),
                metadata=redacted_values(metadata) if self.redact else metadata,
            )
        )
        return lines

    async def _summaries(self, conversation: Conversation) -> AsyncIterator[transcript.SummaryLine]:
        """Summaries that are still valid; deleting a message also deletes the summaries that may quote it."""
        for epoch in range(1, conversation.epoch + 1):
            summary = await self._reads.summary_of(conversation.id, epoch)
            if summary is not None:
                yield transcript.SummaryLine(
                    upto=summary.upto,
                    text=self.clean(summary.text),
                    by=summary.by,
                    at=transcript.moment(summary.at),
                    version=summary.version,
                    usage=summary.usage,
                )


def _root(message: Message) -> int | str:
    if message.root in (NO_ROOT, message.id):
        return 0
    where, _, seq = message.root.rpartition(":")
    return int(seq) if where == message.conversation and seq.isdecimal() else message.root


def is_deleted(message: Message) -> bool:
    return bool(message.metadata.get("deleted"))


def version_at_origin(message: Message) -> int:
    """An imported message continues the version count of its origin; marking it as deleted here was no change."""
    imported = message.metadata.get("imported")
    if not isinstance(imported, dict):
        return message.version
    here = message.version - 1 - bool(imported.get("deleted"))
    return int(imported.get("version", 1)) + here


async def chosen(reads: Reads, ref: str | None) -> list[Conversation]:
    """One conversation by name or id, an archived one too; or all there are, in the order they were made."""
    if ref is not None:
        conversation = await reads.conversation(ref)
        if conversation is not None:
            return [conversation]
    every = [
        each for archived in (False, True) for each in await reads.conversations(archived=archived, kind=None)
    ]
    if ref is None:
        return sorted(every, key=lambda each: each.id)
    return [each for each in every if each.name == ref][-1:]
