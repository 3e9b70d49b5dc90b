"""Conversations, messages, turns, agents and their events, as the outside sees them."""

from collections.abc import Sequence

from msgspec import structs

from moot.errors import TimedOut
from moot.model import conversation as model_conversation
from moot.model import event as model_event
from moot.model import message as model_message
from moot.model import participant as model_participant
from moot.model import turn as model_turn
from moot.model.ids import address
from moot.model.json import Json, JsonObject
from moot.model.records import token as model_token
from moot.rules.activity import Activity
from moot.rules.palette import chosen_index
from moot.shapes.holds import HeldMessage, holds_of
from moot.shapes.shape import Names, Shape, when


class Message(Shape, frozen=True, rename={"sender": "from"}):
    id: str
    conversation: str
    seq: int
    sender: str
    kind: str
    text: str
    mentions: tuple[str, ...]
    reply_to: str | None
    root: str
    hop: int
    intent: str | None
    version: int
    at: str | None
    metadata: JsonObject
    context: str = ""
    """Context of its docmem node, `text:agent:ID`, with the author's id, which does not change when the name does."""

    @classmethod
    def of(cls, message: model_message.Message, names: Names) -> "Message":
        return cls(
            id=message.id,
            conversation=message.conversation,
            seq=message.seq,
            sender=names(message.author),
            kind=message.kind.value,
            text=message.text,
            mentions=tuple(names(participant_id) for participant_id in message.mentions),
            reply_to=address(message.conversation, message.reply_to) if message.reply_to else None,
            root=message.root,
            hop=message.hop,
            intent=message.intent or None,
            version=message.version,
            at=when(message.at),
            metadata=_without_model(message.metadata),
            context=message.context,
        )


def _without_model(metadata: JsonObject) -> JsonObject:
    """Version 0.1 put the model and its address into every message, where its audit chain now holds them."""
    names_it = ":" in str(metadata.get("brain", ""))
    return {name: value for name, value in metadata.items() if name != "brain"} if names_it else metadata


class Seat(Shape, frozen=True):
    """A participant of a conversation."""

    name: str
    kind: str
    joined_at: str | None
    mark: str


class Conversation(Shape, frozen=True):
    id: str
    name: str
    kind: str
    participants: tuple[Seat, ...]
    settings: JsonObject
    home: str | None
    channel_type: str | None
    channel_group_id: str | None
    created_at: str | None
    updated_at: str | None
    archived: bool

    @classmethod
    def of(
        cls,
        conversation: model_conversation.Conversation,
        seats: tuple[Seat, ...],
        settings: model_conversation.GroupSettings,
        names: Names,
    ) -> "Conversation":
        return cls(
            id=conversation.id,
            name=conversation.name,
            kind=conversation.kind.value,
            participants=seats,
            settings={
                key: str(v) if isinstance(v, str) else v for key, v in structs.asdict(settings).items()
            },
            home=names(conversation.home) if conversation.home else None,
            channel_type=conversation.channel_type or None,
            channel_group_id=conversation.channel_group_id or None,
            created_at=when(conversation.created_at),
            updated_at=when(conversation.updated_at),
            archived=conversation.archived,
        )


class Turn(Shape, frozen=True):
    id: str
    agent: str
    conversation: str
    lo: int
    hi: int
    duty: str
    reason: str
    state: str
    until: str | None
    attempt: int
    cause: str | None
    started_at: str | None
    ended_at: str | None
    message: str | None
    usage: JsonObject | None
    error: str | None
    rule: str | None = None
    """The rule by which it failed or was cancelled."""
    kept: str | None = None
    """The text of a reply that was refused; like `given`, only for its agent and the owner."""
    trace: str | None = None
    """Where in its code the agent failed: file and line of each frame; only for the owner."""
    given: JsonObject | None = None
    steps: tuple[JsonObject, ...] = ()
    held: tuple[HeldMessage, ...] = ()
    """Messages of other agents that called it, with how long each was held: senders in a hurry are slowed down."""

    @classmethod
    def of(
        cls,
        turn: model_turn.Turn,
        names: Names,
        *,
        kept: str | None = None,
        trace: str | None = None,
        given: JsonObject | None = None,
        steps: tuple[JsonObject, ...] = (),
    ) -> "Turn":
        return cls(
            id=str(turn.id),
            agent=names(turn.agent),
            conversation=turn.conversation,
            lo=turn.lo,
            hi=turn.hi,
            duty=turn.duty.value,
            reason=turn.reason.value,
            state=turn.state.value,
            until=when(turn.due) if turn.state is model_turn.TurnState.HELD else None,
            attempt=turn.attempt,
            cause=address(turn.conversation, turn.cause) if turn.cause else None,
            started_at=when(turn.started_at),
            ended_at=when(turn.ended_at),
            message=address(turn.conversation, turn.message) if turn.message else None,
            usage=turn.usage,
            error=turn.error or (turn.rule.value if turn.rule else None),
            rule=turn.rule.value if turn.rule else None,
            kept=kept,
            trace=trace,
            given=given,
            steps=steps,
            held=holds_of(turn),
        )


def still_open(turns: Sequence[Turn], seconds: float) -> TimedOut:
    """The time to wait was over while these turns were still open."""
    turns_open = [turn.to_dict() for turn in turns]
    return TimedOut(f"{len(turns_open)} turns are still open after {seconds:g} s", open=turns_open)


class Agent(Shape, frozen=True):
    id: str
    name: str
    aliases: tuple[str, ...]
    display: str
    kind: str
    role: str
    brain: str
    project: str
    status: str
    activity: JsonObject
    reachability: str
    queue: int
    last_active: str | None
    color: int
    avatar: str
    door: str

    @classmethod
    def of(
        cls,
        participant: model_participant.Participant,
        doing: Activity,
        now: float,
        *,
        queue: int,
        last: float = 0.0,
    ) -> "Agent":
        """`last` is when it last had a turn."""
        return cls(
            id=participant.id,
            name=participant.name,
            aliases=participant.aliases,
            display=participant.display or participant.name,
            kind=participant.kind.value,
            role=participant.role,
            brain=participant.brain,
            project=participant.project,
            status=doing.status,
            activity={"state": doing.state, "label": doing.label, "since": when(doing.since)},
            reachability=participant.reachable(now).value,
            queue=queue,
            last_active=when(max(participant.last_active, last)),
            color=chosen_index(participant.name, participant.config.color),
            avatar=participant.config.avatar,
            door=participant.door or "sdk",
        )


class Event(Shape, frozen=True):
    id: str | None
    type: str
    at: str | None
    conversation: str | None
    by: str | None
    body: JsonObject

    @classmethod
    def of(cls, event: model_event.Event, names: Names, body: JsonObject) -> "Event":
        return cls(
            id=str(event.id) if event.id else None,
            type=event.type,
            at=when(event.at),
            conversation=event.conversation,
            by=names(event.by) if event.by else None,
            body=body,
        )


DUTY_WORDS = {"must": "had to", "may": "could", "observes": "not asked", "blocked": "blocked"}


class Because(Shape, frozen=True):
    """One agent's part in a message, and the rule it follows from."""

    agent: str
    duty: str
    rule: str
    reason: str
    state: str
    turn: str | None
    error: str | None = None
    """What went wrong, if its turn failed or expired."""

    def __str__(self) -> str:
        """For people. What an agent that was not asked did meanwhile is nobody's answer."""
        has_state = self.duty not in ("observes", "blocked") or self.state == "cancelled"
        part = f"{DUTY_WORDS[self.duty]}, {self.state}" if has_state else DUTY_WORDS[self.duty]
        return f"{self.agent}: {part} ({self.rule}): {self.reason.removeprefix(f'{self.agent} ')}"


class Why(Shape, frozen=True):
    message: str
    cause: JsonObject | None
    agents: tuple[Because, ...]
    conversation: str = ""
    """The name of the conversation that the message is in."""

    def __str__(self) -> str:
        """For people: what `print(await hub.why(id))` shows."""
        answers = f", in answer to {self._display_id(str(self.cause['message']))}" if self.cause else ""
        rows = [f"  {row}" for row in self.agents] or ["  there were no agents"]
        return "\n".join((f"why {self._display_id(self.message)}{answers}", *rows))

    def _display_id(self, message: str) -> str:
        """A message as people call it, where it is in the same conversation."""
        (here, _, _), (there, _, seq) = self.message.rpartition(":"), message.rpartition(":")
        return f"{self.conversation}:{seq}" if self.conversation and here == there else message


class DeliveryProgress(Shape, frozen=True):
    """How far a message got with one agent, and when."""

    agent: str
    duty: str
    state: str
    rule: str
    reason: str
    reachability: str
    turn: str | None
    stored_at: str | None
    woken_at: str | None
    started_at: str | None
    ended_at: str | None
    attempt: int
    error: str | None


class Replayed(Shape, frozen=True):
    """The result of a replay."""

    equal: bool
    turns: int
    conversations: int
    gaps: int
    repeats: int
    differ: tuple[str, ...] = ()
    """Turns whose rebuilt view differs."""


class Token(Shape, frozen=True):
    """A token as it is listed, without its secret."""

    id: str
    agent: str
    scopes: tuple[str, ...]
    created_at: str | None
    used_at: str | None
    revoked_at: str | None
    kind: str = "program"
    """`program`, `browser` for one in which somebody signed in, `code` for a link that signs in once."""
    expires_at: str | None = None

    @classmethod
    def of(cls, token: model_token.Token, names: Names) -> "Token":
        return cls(
            id=token.id,
            agent=names(token.participant),
            scopes=tuple(scope.value for scope in token.scopes),
            created_at=when(token.created_at),
            used_at=when(token.used_at),
            revoked_at=when(token.revoked_at),
            kind=token.kind.value,
            expires_at=when(token.expires_at),
        )


class IssuedToken(Shape, frozen=True):
    """A new token; its secret is shown only here."""

    id: str
    agent: str
    token: str
    scopes: tuple[str, ...]


class Hit(Shape, frozen=True):
    message: Message
    snippet: str


class Heard(Shape, frozen=True):
    """A message as an agent sees it, with its role and content as a model gets them."""

    message: Message
    role: str
    content: str

    def __getattr__(self, name: str) -> Json:
        return getattr(self.message, name)

    def to_dict(self) -> JsonObject:
        return {**self.message.to_dict(), "role": self.role, "content": self.content}


class View(Shape, frozen=True):
    """What an outside agent sees in its open turn."""

    turn: Turn
    conversation: Conversation
    deadline: float | None
    """When the turn expires, in seconds since the epoch."""
    trigger: Message
    """The newest message that caused the turn."""
    new: tuple[Message, ...]
    """Messages from others since its last turn here."""
    messages: tuple[Heard, ...]
    """The messages it is shown."""


class Handed(Shape, frozen=True):
    """Messages that were waiting. The next call acknowledges them."""

    messages: tuple[Message, ...] = ()
    next: int | None = None
    """Number of further messages waiting, or null."""
    must_answer: tuple[str, ...] = ()
    """Ids of messages that require an answer."""
    earlier: tuple[str, ...] = ()
    """If earlier messages were left out: the message they follow."""
    handed: tuple[str, ...] = ()
    """To be sent back with the next call."""


class Removed(Shape, frozen=True):
    """A search filter, and the number of results without it (counted up to 1,000)."""

    filter: str
    hits: int

    def sentence(self) -> str:
        return f"nothing found; without {self.filter} there would be {self.hits}"


class Hooked(Shape, frozen=True):
    """What a client's hook should deliver at an event of an agent's session."""

    name: str
    waiting: int = 0
    """At the start of a session: conversations with waiting messages."""
    found: Handed = Handed()
    first: bool = False
    """Whether this is the first hook of the session."""


class Arrival(Shape, frozen=True):
    """An outside agent, and where its newest session came from."""

    name: str
    client: str
    folder: str
    pid: int
    """The process that connected for it; it may have ended."""


class Received(Shape, frozen=True):
    """A message in an inbox."""

    message: Message
    unread: bool

    def to_dict(self) -> JsonObject:
        return {**self.message.to_dict(), "unread": self.unread}
