"""Conversations as Markdown: to be read, quoted and kept, not to be read back.

Every text stands in a block quote of its own. Whatever it holds, an open code fence, a heading, raw HTML, a line of
dashes, ends where the quote ends, so no message can change how the next one looks or pass for one.
"""

import re
from collections.abc import AsyncIterator, Iterator, Sequence

from msgspec import json

from moot.hub.archive.export import Export, is_deleted, version_at_origin
from moot.hub.archive.transcript import moment
from moot.model.conversation import Conversation, Member
from moot.model.message import Message
from moot.model.participant import Kind

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_ENDS = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")


async def markdown(export: Export, conversations: Sequence[Conversation]) -> AsyncIterator[bytes]:
    """One conversation with its facts as front matter; several one behind the other, each under its heading."""
    single = len(conversations) == 1
    for conversation in conversations:
        facts = _facts(export, conversation, await export.members(conversation))
        yield _head(conversation.name, facts, front_matter=single, export=export).encode()
        async for page in export.pages(conversation):
            yield "".join([_message(export, message) for message in page]).encode("utf-8", "replace")
        export.conversations += 1


def _facts(export: Export, conversation: Conversation, members: list[Member]) -> Iterator[tuple[str, object]]:
    yield "conversation", export.clean(conversation.name)
    yield "id", conversation.id
    yield "kind", conversation.kind.value
    yield "created", moment(conversation.created_at)
    yield "updated", moment(conversation.updated_at)
    yield "messages", conversation.head
    if conversation.archived:
        yield "archived", True
    yield "speakers", [_speaker(export, member) for member in members]
    if export.redact:
        yield "redacted", True


def _speaker(export: Export, member: Member) -> str:
    participant = export.person(member.participant)
    kind = participant.kind.value if participant is not None else "agent"
    return f"{export.name(member.participant)} ({kind})"


def _head(name: str, facts: Iterator[tuple[str, object]], *, front_matter: bool, export: Export) -> str:
    """Values are written as JSON, which every reader of YAML understands."""
    lines = [f"{key}: {json.encode(value).decode()}" for key, value in facts]
    title = f"# {plain(export.clean(name))}\n\n"
    if front_matter:
        return "\n".join(["---", *lines, "---", "", title])
    return title + "".join(f"- {line}\n" for line in lines) + "\n"


def _message(export: Export, message: Message) -> str:
    facts = [f"#{message.seq}", moment(message.at)[:19].replace("T", " ") + " UTC"]
    if message.reply_to:
        facts.append(f"reply to #{message.reply_to}")
    deleted = is_deleted(message)
    if version_at_origin(message) > 1 and not deleted:
        facts.append("edited")
    return f"### {_author(export, message)}\n{' · '.join(facts)}\n\n{_quoted(export, message, deleted=deleted)}\n"


def _author(export: Export, message: Message) -> str:
    name = plain(export.name(message.author))
    match message.kind:
        case Kind.SYSTEM:
            return "notice"
        case Kind.TOOL:
            call = f"{message.metadata.get('tool', '')} for {message.metadata.get('for', '')}"
            return f"tool {plain(export.clean(call))}"
        case kind:
            brain = message.metadata.get("brain")
            made = f", {plain(str(brain))}" if brain else ""
            return f"{name} ({kind.value}{made})"


def _quoted(export: Export, message: Message, *, deleted: bool) -> str:
    if deleted:
        return "> *deleted*\n"
    lines = _ENDS.split(export.clean(message.text))
    return "".join(f"> {line}\n" if line.strip() else ">\n" for line in lines)


def plain(text: str) -> str:
    """One line without any meaning in Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
