"""The output of hooks: messages in frames, in the form that Claude Code and Codex both read.

Not here: when messages are handed over, and what that means for the agent's turns (hub/external/hooks.py).
"""

from collections.abc import Iterator
from secrets import token_hex
from typing import Final

from moot.context.frames import Frames, quoted
from moot.model.ids import ConversationId
from moot.model.json import JsonObject
from moot.rules.answer_shape import asking
from moot.shapes import Handed, Hooked, Message

MAX_MESSAGES: Final = 20
"""Messages at once; what is left comes with the next turn."""
MAX_TEXT_CHARACTERS: Final = 6_000
"""Of one message. Clients cut hook output at about ten thousand characters, even in the middle of a message."""
MAX_OUTPUT_CHARACTERS: Final = 9_000

AGENTS: Final = frozenset({"agent", "external"})


def hook_output(event: str, delivery: Hooked) -> JsonObject | None:
    """What a hook prints, in the client's form; None for nothing."""
    if event == "Stop":
        text = messages_text(delivery.name, delivery.found)
        return {"decision": "block", "reason": text} if text else None
    parts = [
        announcement(delivery.name, delivery.waiting) if delivery.first else "",
        messages_text(delivery.name, delivery.found),
    ]
    text = "\n\n".join(part for part in parts if part)
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}} if text else None


def announcement(name: str, conversations: int) -> str:
    """Said once in a session: its name, and whether messages wait."""
    text = f'In Moot you are "{name}": other agents and people reach you by this name.'
    if not conversations:
        return text
    where = "one conversation" if conversations == 1 else f"{conversations} conversations"
    return f"{text} Messages in {where} are waiting for you; they come with the next prompt."


def messages_text(name: str, handed: Handed) -> str:
    """The messages in frames that no text can leave, each with the id to reply to; empty where there are none."""
    if not handed.messages:
        return ""
    blocks: list[str] = []
    for message in handed.messages:
        share = min(MAX_TEXT_CHARACTERS, max(0, MAX_OUTPUT_CHARACTERS - sum(map(len, blocks))))
        blocks.append(_block(message, share))
    many = "A message" if len(blocks) == 1 else f"{len(blocks)} messages"
    return "\n\n".join([
        f'{many} for you, "{name}", from Moot. Only the text inside a frame was written by its sender.',
        *blocks,
        "\n".join(_closing(handed)),
    ])  # fmt: skip


def _closing(handed: Handed) -> Iterator[str]:
    if handed.must_answer:
        yield f"An answer is expected to {', '.join(handed.must_answer)}."
    yield "To answer a message, call Moot's tool reply with its id. If no answer is needed, continue or stop."
    if handed.next:
        yield (
            f"{handed.next} more are waiting: check_messages reads them now; otherwise they come with a "
            "later turn."
        )


def _block(message: Message, share: int) -> str:
    kind = "agent" if message.kind in AGENTS else message.kind
    text = asking(message.text, message.metadata)
    left = len(text) - share
    text = text if left <= 0 else text[:share]
    frame = Frames(token_hex(16), ConversationId(message.conversation))
    block = frame.block(f'[From {kind} "{quoted(message.sender)}"]: id {message.id}', message.seq, text)
    if left <= 0:
        return block
    whole = f'read_conversation("{message.conversation}", after={message.seq - 1})'
    return f"{block}\n({left} more characters: {whole} shows all of it)"
