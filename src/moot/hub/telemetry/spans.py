"""Traces: a span for each message and each turn that this process has stored, from what is stored and nothing else.

All of a chain is one trace: its id is made from the instance and the chain's root, a span's id from the message's
address or the turn and its fence. So every process makes the same ids, and nothing has to be carried along: a reply on
one machine hangs under its turn, and that under the message on another machine that called it; what goes out to a chat
app hangs under its message. No texts, no names: ids and counts.

Above: runtime.py hands in commits. Below: otlp.py sends. Attributes of agents and models are named as OpenTelemetry's
`gen_ai` conventions name them.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from msgspec import Struct

from moot.model.event import Commit, Event
from moot.model.ids import RootId, address
from moot.model.message import Message
from moot.model.records.chat_apps.bridge import BridgePost, BridgePostState
from moot.model.turn import OPEN, Turn, TurnState

FAILED: Final = frozenset({TurnState.FAILED, TurnState.EXPIRED})
Value = str | int | bool


class Span(Struct, frozen=True):
    trace: str
    id: str
    parent: str
    """Empty where a trace begins."""
    name: str
    start: float
    end: float
    attributes: dict[str, Value]
    failed: bool = False


def trace_id(instance: str, root: str) -> str:
    return sha256(f"{instance}/{root}".encode()).hexdigest()[:32]


def message_span_id(instance: str, where: str) -> str:
    return sha256(f"{instance}/message/{where}".encode()).hexdigest()[:16]


def turn_span_id(instance: str, turn: str, fence: int) -> str:
    return sha256(f"{instance}/turn/{turn}/{fence}".encode()).hexdigest()[:16]


def post_span_id(instance: str, post: str, tries: int) -> str:
    return sha256(f"{instance}/bridge/{post}/{tries}".encode()).hexdigest()[:16]


class Spans:
    """The spans of one instance."""

    def __init__(self, instance: str) -> None:
        self._instance = instance

    def of(self, commit: Commit) -> Iterator[Span]:
        turns = {event.turn.id: event.turn for event in commit.events if event.turn is not None}
        for message in commit.messages:
            if message.version == 1:
                yield self._message(message, turns.get(message.turn) if message.turn is not None else None)
        for event in commit.events:
            if _ends_a_turn(event) and event.turn is not None:
                yield self._turn(event.turn, event.at)

    def _message(self, message: Message, turn: Turn | None) -> Span:
        instance, where = self._instance, address(message.conversation, message.seq)
        fence = turn.fence if turn is not None else 0
        parent = turn_span_id(instance, str(message.turn), fence) if message.turn is not None else ""
        attributes: dict[str, Value] = {
            "moot.conversation.id": message.conversation,
            "moot.message.id": where,
            "moot.message.kind": str(message.kind),
            "moot.message.hop": message.hop,
            "moot.author.id": message.author,
        }
        trace = trace_id(instance, message.root)
        name = "reply" if parent else "send"
        return Span(trace, message_span_id(instance, where), parent, name, message.at, message.at, attributes)

    def _turn(self, turn: Turn, at: float) -> Span:
        instance = self._instance
        usage = turn.usage or {}
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.id": turn.agent,
            "gen_ai.conversation.id": turn.conversation,
            "moot.turn.id": str(turn.id),
            "moot.turn.state": str(turn.state),
            "moot.turn.attempt": turn.attempt,
            "moot.turn.tools": len(turn.steps),
        }
        counts = {"input_tokens": "gen_ai.usage.input_tokens", "output_tokens": "gen_ai.usage.output_tokens"}
        attributes |= {
            name: count for key, name in counts.items() if isinstance(count := usage.get(key), int)
        }
        cause = message_span_id(instance, address(turn.conversation, turn.cause)) if turn.cause else ""
        return Span(
            trace_id(instance, turn.root),
            turn_span_id(instance, str(turn.id), turn.fence),
            cause,
            "turn",
            turn.started_at or at,
            turn.ended_at or at,
            attributes,
            failed=turn.state in FAILED,
        )

    def of_post(self, post: BridgePost, root: RootId) -> Span:
        """A piece of a message on its way to a chat app, from when it was planned to its result."""
        instance, where = self._instance, address(post.conversation, post.seq)
        attributes: dict[str, Value] = {
            "moot.conversation.id": post.conversation,
            "moot.message.id": where,
            "moot.bridge": post.bridge,
            "moot.bridge.state": str(post.state),
            "moot.bridge.tries": post.tries,
        }
        return Span(
            trace_id(instance, root),
            post_span_id(instance, post.id, post.tries),
            message_span_id(instance, where),
            "bridge",
            post.created_at,
            post.updated_at,
            attributes,
            failed=post.state is not BridgePostState.SENT,
        )


def _ends_a_turn(event: Event) -> bool:
    """One that was begun: what was cancelled before that took no time."""
    turn = event.turn
    return turn is not None and turn.state not in OPEN and turn.started_at > 0
