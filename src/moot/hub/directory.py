"""Names and ids: names for ids, and participants and conversations for what callers write.

Above: every method of the hub. Below: the read ports. The registry is kept in memory for names; what must be
current (a participant, a conversation) is read from the store.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from moot import shapes
from moot.errors import BadValue, NotFound
from moot.flow.steps import find
from moot.hub.queries.suggestions import completed
from moot.model.conversation import Conversation, Member
from moot.model.event import Event, EventType
from moot.model.hint import Act, Hint
from moot.model.ids import ParticipantId
from moot.model.participant import Participant
from moot.ports import ConversationVersion, Reads
from moot.rules.words.mentions import nearest
from moot.rules.words.names import is_name
from moot.settings import Settings

T = TypeVar("T")
REGISTRY_EVENTS = frozenset({EventType.AGENT_JOINED, EventType.AGENT_RENAMED})


class Directory:
    def __init__(self, reads: Reads, settings: Settings) -> None:
        self._reads = reads
        self.groups = settings.groups
        """The defaults for conversations without settings of their own."""
        self._people: dict[ParticipantId, Participant] = {}
        self._named: dict[str, Participant] = {}
        self._reads_started = 0
        self._read_in_use = 0
        """The number of the read that the names in memory come from."""
        self.on_rename: Callable[[], None] = lambda: None
        """Called when somebody's name has changed."""

    async def refresh(self) -> None:
        """Read the registry again. Of several reads that overlap, one that began earlier never undoes a later one."""
        self._reads_started += 1
        number = self._reads_started
        people = {participant.id: participant for participant in await self._reads.participants()}
        if number < self._read_in_use:
            return
        self._read_in_use = number
        before, self._people = self._people, people
        self._named = {participant.name: participant for participant in people.values()}
        if any(self.name(participant.id) != participant.name for participant in before.values()):
            self.on_rename()

    @staticmethod
    def changes_with(events: Sequence[Event]) -> bool:
        """Whether these events change anybody's name."""
        return any(event.type in REGISTRY_EVENTS or "removed" in (event.body or ()) for event in events)

    # --- from memory ---------------------------------------------------------------------------------------

    def name(self, participant_id: ParticipantId) -> str:
        participant = self._people.get(participant_id)
        return participant.name if participant is not None else participant_id

    def by_id(self, participant_id: ParticipantId) -> Participant | None:
        return self._people.get(participant_id)

    def named(self, name: str) -> Participant | None:
        """Who has this name now; former names and ids do not count."""
        return self._named.get(name)

    def people(self) -> list[Participant]:
        return list(self._people.values())

    def called(self, name: str) -> Participant:
        """The participant with this name or alias, as far as is known here; an id belongs to its owner alone."""
        participant = self._people.get(ParticipantId(name))
        for candidate in self._people.values() if participant is None else ():
            if name in (candidate.name, *candidate.aliases):
                return candidate
        if participant is None:
            names = [participant.name for participant in self._people.values()]
            title = f'nobody is called "{name}"'
            raise NotFound(title, what="agent", suggestions=nearest(name, names), ref=name)
        return participant

    def meant_by(self, words: str) -> str:
        """The name of the agent that a caller addresses by its name or by its display name. Names win; a display name
        that several agents have is refused."""
        if words in self._named or ParticipantId(words) in self._people:
            return words
        looks = words.strip().casefold()
        alike = [
            participant.name
            for participant in self._people.values()
            if participant.listed and participant.display.casefold() == looks != ""
        ]
        is_alias = len(alike) > 0 and any(
            words in participant.aliases for participant in self._people.values()
        )
        if len(alike) > 1 and not is_alias:
            raise BadValue(
                f'several agents are shown as "{words}"', detail=f"name one of {', '.join(sorted(alike))}"
            )
        return alike[0] if alike and not is_alias else words

    # --- from the store ------------------------------------------------------------------------------------

    async def participant(self, name: str) -> Participant:
        participant = await _look_up(self._reads.participant, name)
        if participant is None:
            fix = (Hint(Act.NEW_AGENT, agent=name),) if is_name(name) else ()
            title = f'no agent is called "{name}"'
            missing = NotFound(title, what="agent", fix=(*fix, Hint(Act.LIST_AGENTS)), ref=name)
            raise await self.with_suggestions(missing)
        return participant

    async def addressee(self, name: str) -> Participant:
        """A participant that can be written to; a removed one is refused."""
        participant = await self.participant(name)
        if participant.removed:
            raise await self.with_suggestions(find.gone(participant))
        return participant

    async def conversation(self, ref: str) -> Conversation:
        conversation = await _look_up(self._reads.conversation, ref)
        if conversation is None:
            raise await self._no_conversation(ref)
        return conversation

    async def version(self, ref: str, member: ParticipantId) -> ConversationVersion:
        """How far a conversation has come, and whether somebody is in it."""
        version = await _look_up(partial(self._reads.version, member=member), ref)
        if version is None:
            raise await self._no_conversation(ref)
        return version

    async def _no_conversation(self, ref: str) -> NotFound:
        fix = (Hint(Act.LIST_CONVERSATIONS), Hint(Act.NEW_CONVERSATION, conversation=ref))
        missing = NotFound(f'no conversation is called "{ref}"', what="conversation", fix=fix, ref=ref)
        return await self.with_suggestions(missing)

    async def with_suggestions(self, refusal: NotFound) -> NotFound:
        """A refusal about a name that nobody has, with the names that come near."""
        ref = refusal.facts.get("ref")
        if not ref or ":" in str(ref) or refusal.suggestions:  # no name has a colon
            return refusal
        if refusal.what == "note":  # hub/notes.py names those
            return refusal
        # a question for an agent does not reveal conversations
        is_agent = refusal.what == "agent"
        places = [] if is_agent else await self._reads.conversations(archived=False, kind=None)
        return completed(refusal, self._people.values(), [place.name for place in places])

    # --- for the outside -------------------------------------------------------------------------------------

    async def shape(self, conversation: Conversation) -> shapes.Conversation:
        return self.shape_with(conversation, await self._reads.members(conversation.id))

    def shape_with(self, conversation: Conversation, members: Sequence[Member]) -> shapes.Conversation:
        people = self._people
        seats = tuple(
            shapes.Seat(
                name=self.name(m.participant),
                kind=people[m.participant].kind.value if m.participant in people else "agent",
                joined_at=shapes.when(m.joined_at),
                mark=m.mark,
            )
            for m in members
        )
        settings = conversation.settings.over(self.groups)
        return shapes.Conversation.of(conversation, seats, settings, self.name)


async def _look_up(find: Callable[[str], Awaitable[T | None]], ref: str) -> T | None:
    """Look up a name; None for a text that cannot be encoded."""
    try:
        return await find(ref)
    except UnicodeEncodeError:
        return None
