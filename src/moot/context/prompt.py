"""From a view to a prompt, and to the note by which the inspector makes the same prompt again.

A prompt is: the system text; what stands for the beginning (summary, pinned task); the window, in order, own words
as the assistant's, all others in frames; the closing of each earlier turn where it stood; this turn's closing; the
tool calls of this turn so far. Nothing in it depends on the clock, and each part depends only on what is stored, so
the next prompt begins with all of this one until the window moves by a block or another summary begins.

Above: the host, which hands prompts to model brains; the hub's inspector. Below: view.py, frames.py, closing_words.py.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct, structs

from moot.context import identity
from moot.context.closing_words import HUB, closing
from moot.context.frames import Framed, Frames, line
from moot.context.live_views import LiveViews, Spawn
from moot.context.organisation import Organisation, org_place
from moot.context.templates import Templates
from moot.context.view import TurnView, ViewReads, Views
from moot.context.window import Size, tokens
from moot.model.conversation import ConversationKind
from moot.model.event import TAKEN_BACK, Event
from moot.model.ids import ConversationId, ParticipantId
from moot.model.message import Message, Summary
from moot.model.participant import Kind, Participant
from moot.model.prompt import Offered, Prompt, PromptLine, ToolCall, ToolSpec
from moot.model.records.link import Policy
from moot.model.records.task import TASKS
from moot.model.turn import MOVES_CURSOR, Given, Turn, TurnState
from moot.ports import Records
from moot.rules import answer_shape
from moot.rules.org_place import OrgPlace
from moot.rules.words.silence import PASS

MAX_REMEMBERED = 256
"""Last prompts kept to measure how much of the next one they share."""
MAX_EARLIER = 200
"""Closings of earlier turns in one prompt."""
FRAME_TOKENS = 20
IN_TEXT = "text-"
"""Calls that a model wrote into its text have no id of a provider: their results are shown in frames."""
UPDATE_TASK = "update_task"
"""The tool by which a worker says how far it is."""
ABOUT = "[About this conversation]:"
MAX_SHOWN = 32_768
"""Characters of a single message that a model is shown."""

Names = Callable[[ParticipantId], str]
ById = Callable[[ParticipantId], Participant | None]


class PromptReads(ViewReads, Records, Protocol):
    """What a prompt is made from."""


class ShownPrompt(Struct, frozen=True):
    """A prompt with the note of it, and the text that the note refers to by its fingerprint."""

    prompt: Prompt
    given: Given
    text: str


class Context:
    def __init__(
        self,
        reads: PromptReads,
        templates: Templates,
        workspaces: Path,
        by_id: ById,
        secret: str,
        *,
        roles: Mapping[ParticipantId, str] = MappingProxyType({}),
        policy: Callable[[], Policy] = lambda: Policy.AUTO,
    ) -> None:
        """`roles` are those that the owner wrote, in moot.toml or in the program that opened the hub; `policy` answers
        with the one in force."""
        self._reads = reads
        self._views = Views(reads)
        self._live: LiveViews | None = None
        self._templates = templates
        self._workspaces = workspaces
        self._by_id = by_id
        self._secret = secret
        self._roles = roles
        self._policy = policy
        self.organisation = Organisation(templates, by_id, self._owners_role)
        self._last: OrderedDict[tuple[ParticipantId, ConversationId], bytes] = OrderedDict()

    def keep_views(self, spawn: Spawn) -> LiveViews:
        """From now on conversations are kept in memory, and brought up to date as the log tells of them."""
        self._live = LiveViews(self._reads, spawn)
        self._views = Views(self._reads, self._live)
        return self._live

    def on_events(self, events: Sequence[Event]) -> None:
        """Prompts that quote what was taken back are not remembered."""
        if self._live is not None:
            self._live.on_events(events)
        gone = {event.conversation for event in events if event.type in TAKEN_BACK}
        for where in [where for where in self._last if where[1] in gone] if gone else ():
            del self._last[where]

    def frames(self, conversation: ConversationId) -> Frames:
        return Frames(self._secret, conversation)

    async def view(self, turn: Turn, agent: Participant, size: Size) -> TurnView:
        return await self._views.of(turn, agent, size, _cost)

    async def again(self, turn: Turn, agent: Participant, given: Given) -> TurnView:
        return await self._views.again(turn, agent, given)

    async def prompt(self, view: TurnView, offered: Offered) -> ShownPrompt:
        """What a model is given for the turn now."""
        place = await self.org_place(view.agent.id)
        offered = structs.replace(offered, tools=self._useful(offered.tools, place))
        system = await self.system(view, offered, place)
        names = self._names(view)
        lines = await self._lines(view, names.__getitem__)
        prompt = Prompt(system=system, lines=lines, tools=offered.tools, stable=len(lines))
        flat = flattened(prompt)
        note = Given(
            start=view.start,
            digest=fingerprint(flat),
            system=fingerprint(system.encode()),
            epoch=view.summary.epoch if view.summary else 0,
            pinned=view.pinned.seq if view.pinned else 0,
            names={participant_id: name for participant_id, name in names.items() if participant_id != name},
            tools=tuple(tool.name for tool in offered.tools),
            size=len(flat),
            shared=self._shared(view, flat),
        )
        going_on = structs.replace(prompt, lines=(*lines, *await self._steps(view.turn)))
        return ShownPrompt(going_on, note, system)

    async def shown_again(self, turn: Turn, agent: Participant, given: Given) -> tuple[Prompt, bool]:
        """The prompt a turn was given, and whether it is byte for byte the same still."""
        view = await self.again(turn, agent, given)
        text = await self._reads.text(given.system) if given.system else ""
        members = {m.author for m in view.messages}
        names = {
            participant_id: given.names.get(participant_id, participant_id)
            for participant_id in (*members, *(m.participant for m in view.members))
        }
        lines = await self._lines(view, lambda participant_id: names.get(participant_id, participant_id))
        prompt = Prompt(system=text or "", lines=lines)
        return prompt, fingerprint(flattened(prompt)) == given.digest

    # --- the parts ---------------------------------------------------------------------------------------

    async def org_place(self, participant_id: ParticipantId) -> OrgPlace:
        """Where somebody stands now."""
        found = await org_place(self._reads, self._policy(), participant_id)
        participant = self._by_id(participant_id)
        return structs.replace(found, is_person=participant is not None and participant.kind is Kind.HUMAN)

    def _useful(self, tools: Sequence[ToolSpec], place: OrgPlace) -> tuple[ToolSpec, ...]:
        return tuple(self._described(tool) for tool in tools if place.meets(tool.needs))

    def _described(self, tool: ToolSpec) -> ToolSpec:
        """A tool in the words of its template, where there is one."""
        template = f"tools/{tool.name}.md.j2"
        if not self._templates.has(template):
            return tool
        words = self._templates.render(template, description=tool.description)
        return structs.replace(tool, description=words)

    async def system(self, view: TurnView, offered: Offered, place: OrgPlace) -> str:
        """The owner's words stand as they are; what anybody else may have set is in `about`, in a frame."""
        others = [
            participant
            for member in view.members
            if member.participant != view.agent.id
            and (participant := self._by_id(member.participant)) is not None
        ]
        return self._templates.render(
            "system.md.j2",
            agent={"name": view.agent.name, "role": self._owners_role(view.agent)},
            conversation={"name": line(view.conversation.name), "kind": view.conversation.kind.value},
            others=[
                {
                    "name": participant.name,
                    "kind": _kind(participant.kind),
                    "role": self._owners_role(participant),
                }
                for participant in others
            ],
            about=self._about(view, others, place),
            identity=identity.read(self._workspaces, view.agent.id),
            organisation=self.organisation.place(place),
            link=self._link(view, place),
            task=await self._task(view, offered),
            tools_off=offered.off,
            text_form=offered.text_form,
        )

    def _link(self, view: TurnView, place: OrgPlace) -> str:
        if view.conversation.kind is not ConversationKind.LINK:
            return ""
        link = place.graph.of_channel(view.conversation.id)
        return self.organisation.link(link, view.agent.id) if link is not None else ""

    async def _task(self, view: TurnView, offered: Offered) -> str:
        if view.conversation.kind is not ConversationKind.TASK:
            return ""
        may_update = any(tool.name == UPDATE_TASK for tool in offered.tools)
        found = await self._reads.records(TASKS.where(conversation=view.conversation.id))
        return "".join(self.organisation.task(task, view.agent.id, may_update=may_update) for task in found)

    def _owners_role(self, participant: Participant) -> str:
        """The role, where the owner wrote it; empty where a token may have."""
        return participant.role if participant.role == self._roles.get(participant.id) else ""

    def _about(self, view: TurnView, others: Sequence[Participant], place: OrgPlace) -> str:
        """What a group is called, and what was said of those in it and of those the agent is linked with, by whoever
        was allowed to: as material."""
        people = {
            participant.id: participant
            for participant in (view.agent, *others, *self.organisation.related(place))
        }
        named = [
            participant
            for participant in people.values()
            if participant.role and not self._owners_role(participant)
        ]
        about = [f"{participant.name}: {_in_one_line(participant.role)}" for participant in named]
        if view.conversation.takes_rounds:
            about.insert(0, f"this group: {_in_one_line(view.conversation.name)}")
        return self.frames(view.conversation.id).block(ABOUT, 0, "\n".join(about)) if about else ""

    def _names(self, view: TurnView) -> dict[ParticipantId, str]:
        """What everybody who is shown or present is called now."""
        ids = {m.author for m in view.messages} | {m.participant for m in view.members}
        if view.pinned is not None:
            ids.add(view.pinned.author)
        return {
            participant_id: found.name
            if (found := self._by_id(participant_id)) is not None
            else participant_id
            for participant_id in ids
        }

    async def _lines(self, view: TurnView, name: Names) -> tuple[PromptLine, ...]:
        frames = self.frames(view.conversation.id)
        earlier = await self._reads.turns_before(view.turn, reading_to=view.start + 1, limit=MAX_EARLIER)
        closings: dict[int, list[Turn]] = {}
        for turn in earlier:
            if turn.given is not None:
                closings.setdefault(turn.hi, []).append(turn)
        summary = await self.summary(view.summary) if view.summary is not None else ""
        lines = list(_beginning(view, summary, frames, name))
        for message in view.messages:
            lines += _as_read_by(view.agent.id, message, frames, name)
            for turn in closings.get(message.seq, ()):
                lines += _earlier(turn)
        lines.append(PromptLine("user", closing(view.turn, view.start)))
        return tuple(lines)

    async def summary(self, summary: Summary) -> str:
        """In its frame. Where a conversation began in a file its summaries count as imported, whoever made them."""
        first = await self._reads.message(summary.conversation, 1)
        imported = first is not None and "imported" in first.metadata
        return self.frames(summary.conversation).summary(summary, imported=imported)

    async def _steps(self, turn: Turn) -> list[PromptLine]:
        """The tools of this turn so far: what each answer asked for, then what came back."""
        lines: list[PromptLine] = []
        frames = self.frames(turn.conversation)
        for _, steps_of_answer in groupby(turn.steps, key=lambda step: step.answer):
            steps = list(steps_of_answer)
            native = tuple(step for step in steps if not step.call.startswith(IN_TEXT))
            calls = tuple(ToolCall(step.call, step.tool, step.arguments) for step in native)
            lines.append(PromptLine("assistant", steps[0].said, calls=calls))
            for step in steps:
                result = await self._reads.message(turn.conversation, step.seq)
                if result is None:
                    continue
                if step in native:
                    lines.append(PromptLine("user", result.text, answers=step.call))
                else:
                    lines.append(PromptLine("user", frames.show(framed(result, str))))
        return lines

    def _shared(self, view: TurnView, flat: bytes) -> int | None:
        """How many bytes the prompt begins with that the agent's last one here began with; None at first."""
        where = (view.agent.id, view.conversation.id)
        last = self._last.pop(where, None)
        self._last[where] = flat
        while len(self._last) > MAX_REMEMBERED:
            self._last.popitem(last=False)
        return None if last is None else common_prefix(last, flat)


def framed(message: Message, name: Names) -> Framed:
    imported = "imported" in message.metadata
    if message.kind is Kind.SYSTEM:
        return Framed("system", "", message.seq, message.text, imported)
    if message.kind is Kind.TOOL:
        tool = str(message.metadata.get("tool", "tool"))
        return Framed("tool", tool, message.seq, message.text, imported)
    text = answer_shape.asking(message.text, message.metadata)
    return Framed(_kind(message.kind), name(message.author), message.seq, text, imported)


def _frame(message: Message, frames: Frames, name: Names) -> str:
    """A message in its frame; of one that is very long, the beginning."""
    shown = framed(message, name)
    left = len(shown.text) - MAX_SHOWN
    if left <= 0:
        return frames.show(shown)
    cut = structs.replace(shown, text=shown.text[:MAX_SHOWN])
    return f"{frames.show(cut)}\n{HUB} #{message.seq} continues for {left} more characters."


def _in_one_line(text: str) -> str:
    """Rows from before line ends were refused may have some; the frame escapes the rest."""
    return " ".join(text.split())


def _kind(kind: Kind) -> str:
    return "agent" if kind is Kind.EXTERNAL else kind.value


def _cost(message: Message) -> int:
    return tokens(message.text[:MAX_SHOWN]) + FRAME_TOKENS


def _as_read_by(me: ParticipantId, message: Message, frames: Frames, name: Names) -> Iterator[PromptLine]:
    if message.author != me:
        yield PromptLine("user", _frame(message, frames, name))
        return
    yield PromptLine("assistant", message.text)
    if message.metadata.get("partial"):
        yield PromptLine("user", f"{HUB} You were interrupted here.")


def _earlier(turn: Turn) -> Iterator[PromptLine]:
    """Where an earlier turn's prompt ended; silence is told as what it was."""
    if turn.state in MOVES_CURSOR and turn.given is not None:
        yield PromptLine("user", closing(turn, turn.given.start))
        if turn.state is TurnState.PASSED:
            yield PromptLine("assistant", PASS)


def _beginning(view: TurnView, summary: str, frames: Frames, name: Names) -> Iterator[PromptLine]:
    """What stands for everything before the window."""
    reached = 0
    if view.summary is not None:
        reached = view.summary.upto
        yield PromptLine("user", f"{HUB} This summary replaces the messages before it.\n{summary}")
    if view.pinned is not None:
        yield PromptLine(
            "user", f"{HUB} This conversation began with a task:\n{_frame(view.pinned, frames, name)}"
        )
    if view.start > reached:
        yield PromptLine("user", f"{HUB} #{reached + 1} to #{view.start} are not shown.")


def flattened(prompt: Prompt) -> bytes:
    """A prompt as one run of bytes, so that prefixes can be compared."""
    parts = [prompt.system, *(f"\x1e{line.role}\x1f{line.content}" for line in prompt.lines)]
    return "".join(parts).encode()


def fingerprint(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def common_prefix(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
