"""Carry out a slash command in a conversation: the same for the terminal, the web and every bridge (SPEC G-12).

Above: a surface that has a person's line and a conversation; it asks first where the row says so, prints the
lines and waits for what was set going. Below: the hub's own verbs. Not here: reading the line (rules/words/slash.py).
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import count
from typing import Any, Final

from msgspec import Struct, json

from moot import shapes
from moot.errors import BadName, BadValue
from moot.hub.hub import Hub
from moot.model.answer import Receipt
from moot.model.hint import Act, Hint
from moot.model.json import Json
from moot.rules.words import slash

AGENT_KINDS: Final = ("agent", "external")
FAILED: Final = ("failed", "expired")
SHOWN: Final = 10
MAX_NAME_CHARACTERS: Final = 60


class CommandOutcome(Struct, frozen=True):
    """The outcome of a command."""

    lines: tuple[str, ...] = ()
    """For the person, as plain text; names and texts of others are in it as they are."""
    receipt: Receipt | None = None
    """A message was posted: there may be answers to wait for."""
    cap: int = 0
    """Maximum number of turns it may set off; 0: as many as usual here."""
    waits: bool = False
    """The command has started something to wait for."""
    moved: shapes.Conversation | None = None
    """The chat continues in this conversation."""
    left: bool = False
    """The chat is over."""
    back: Hint | None = None
    """How to undo it."""


class At(Struct, frozen=True):
    """Where a command was typed, and who typed it."""

    hub: Hub
    where: shapes.Conversation
    channel: tuple[str, str] = ("", "")
    """The chat elsewhere that is bound here, for a bridge: (channel_type, channel_group_id)."""

    @property
    def agents(self) -> list[str]:
        return [seat.name for seat in self.where.participants if seat.kind in AGENT_KINDS]


async def carry_out(command: slash.Command, at: At) -> CommandOutcome:
    return await DOES[type(command)](command, at)


# --- talking ---------------------------------------------------------------------------------------------


async def _ask(command: slash.AskCommand, at: At) -> CommandOutcome:
    agent_names = {name for agent in await at.hub.agents.list() for name in (agent.name, *agent.aliases)}
    question = slash.with_names_found(command, agent_names.__contains__)
    if question.text:
        cap = len(set(question.names)) if at.where.kind == "group" else 0
        receipt = await at.hub.post(at.where.id, question.text, force=question.names, max_turns=cap or None)
        return CommandOutcome(receipt=receipt, cap=cap, waits=True)
    last = await newest_of_a_person(at.hub, at.where.id)
    if last is None:
        raise BadValue("there is no message here to ask about", fix=("/ask NAME... TEXT",))
    receipt = await at.hub.deliveries.ask_again(last.id, question.names)
    return CommandOutcome(receipt=receipt, cap=len(set(question.names)), waits=True)


async def _all(command: slash.AllCommand, at: At) -> CommandOutcome:
    receipt = await at.hub.post(at.where.id, command.text, force=at.agents)
    return CommandOutcome(receipt=receipt, waits=True)


async def _retry(_: slash.RetryCommand, at: At) -> CommandOutcome:
    last = await newest_of_a_person(at.hub, at.where.id)
    parts = (await at.hub.why(last.id)).agents if last is not None else ()
    failed = [part.agent for part in parts if part.state in FAILED]
    if last is None or not failed:
        return CommandOutcome(("no turn failed here: there is nothing to retry",))
    receipt = await at.hub.deliveries.ask_again(last.id, failed)
    again = f"asking {', '.join(failed)} again"
    return CommandOutcome((again,), receipt=receipt, cap=len(failed), waits=True)


async def newest_of_a_person(hub: Hub, conversation: str) -> shapes.Message | None:
    recent = await hub.newest(conversation, 100)
    return next((m for m in reversed(recent) if m.kind == "human" and not m.metadata.get("deleted")), None)


async def newest_question(hub: Hub, conversation: str) -> shapes.Message | None:
    """The last message of a person, or else of an agent: notices and tool results ask nobody."""
    person = await newest_of_a_person(hub, conversation)
    if person is not None:
        return person
    recent = await hub.newest(conversation, 100)
    return next((m for m in reversed(recent) if m.kind not in ("system", "tool")), None)


async def _continue(_: slash.ContinueCommand, at: At) -> CommandOutcome:
    moved = await at.hub.conversations.resume(at.where.id)
    return CommandOutcome(("resumed" if moved else "nothing was stopped here",), waits=moved)


async def _stop(command: slash.StopCommand, at: At) -> CommandOutcome:
    stopped = await at.hub.conversations.stop(at.where.id, command.agent or None)
    return CommandOutcome((f"stopped {', '.join(stopped)}" if stopped else "nobody is speaking here",))


async def _switch(command: slash.SwitchCommand, at: At) -> CommandOutcome:
    if any(at.channel):
        return await _at_a_terminal(command, at)
    return CommandOutcome(moved=await at.hub.conversations.get(command.place.lstrip("#")))


async def _turns(command: slash.TurnsCommand, at: At) -> CommandOutcome:
    newest = sorted(await at.hub.turns(conversation=at.where.id), key=lambda turn: int(turn.id))
    lines = [
        f"turn {turn.id}: {turn.agent} {turn.state}, {turn.reason}" for turn in newest[-command.number :]
    ]
    return CommandOutcome(tuple(lines) or ("nobody has had a turn here yet",))


async def _at_a_terminal(command: slash.Command, at: At) -> CommandOutcome:
    """Commands for a terminal's own screen and files, given where there is none."""
    name = type(command).__name__.removesuffix("Command").lower()
    raise BadValue(f"/{name} is for chats in a terminal; nothing was done")


async def _why(command: slash.WhyCommand, at: At) -> CommandOutcome:
    newest = None if command.number else await newest_question(at.hub, at.where.id)
    seq = command.number or (newest.seq if newest is not None else 0)
    why = await at.hub.why(f"{at.where.id}:{seq}")
    return CommandOutcome(tuple(map(str, why.agents)))


# --- groups ----------------------------------------------------------------------------------------------


async def _create(command: slash.GroupCreateCommand, at: At) -> CommandOutcome:
    made = await create_group(at.hub, command.names, channel=at.channel)
    return CommandOutcome((f"created {made.name} with {', '.join(_members(made))}",), moved=made)


async def create_group(
    hub: Hub, names: tuple[str, ...], *, name: str = "", channel: tuple[str, str] = ("", "")
) -> shapes.Conversation:
    """A new group under the name given, or under the first free one made of its members' names."""
    if name:
        return await hub.conversations.create(name, participants=names, channel=channel)
    for agent in names:
        await hub.agents.get(agent)  # unknown names are refused before they become part of a new one
    base = "-".join(names)[:MAX_NAME_CHARACTERS].rstrip("-")
    used_names = {conversation.name for conversation in await hub.conversations.list()}
    free = next(name for name in _numbered(base) if name not in used_names)
    return await hub.conversations.create(free, participants=names, channel=channel)


def _numbered(base: str) -> Iterator[str]:
    yield base
    yield from (f"{base}-{number}" for number in count(2))


async def _add(command: slash.GroupAddCommand, at: At) -> CommandOutcome:
    if at.where.kind == "direct":
        together = " ".join(dict.fromkeys((*at.agents, *command.names)))
        raise BadValue(
            f"{at.where.name} is a direct conversation; nobody else can join it",
            fix=(f"/group create {together}",),
        )
    for name in command.names:
        await at.hub.conversations.join(at.where.id, name)
    return await _moved_to_itself(at)


async def _remove(command: slash.GroupRemoveCommand, at: At) -> CommandOutcome:
    for name in command.names:
        await at.hub.conversations.leave(at.where.id, name)
    return await _moved_to_itself(at)


async def _moved_to_itself(at: At) -> CommandOutcome:
    """The same conversation, as it is now."""
    now = await at.hub.conversations.get(at.where.id)
    return CommandOutcome((f"{now.name}: {', '.join(_members(now))}",), moved=now)


async def _list(_: slash.GroupListCommand, at: At) -> CommandOutcome:
    now = await at.hub.conversations.get(at.where.id)
    members = [f"  {seat.name} ({seat.kind})" for seat in now.participants]
    return CommandOutcome((f"{now.name}, {now.kind}", *members, *settings_lines(now)))


async def _dissolve(_: slash.GroupDissolveCommand, at: At) -> CommandOutcome:
    if at.where.kind != "group":
        raise BadValue(
            f"{at.where.name} is not a group", detail="only groups can be dissolved", fix=("/archive",)
        )
    await at.hub.conversations.dissolve(at.where.id)
    home = at.where.home if not any(at.channel) else ""  # a bridged chat goes back by itself
    back = await at.hub.conversations.implicit([home]) if home else None
    sentence = f"{at.where.name} is dissolved; its history stays readable under that name"
    return CommandOutcome((sentence,), moved=back, left=back is None)


async def _config(command: slash.GroupConfigCommand, at: At) -> CommandOutcome:
    now = await at.hub.conversations.get(at.where.id)
    if command.value:
        now = await configure(at.hub, now, command.key, command.value)
    elif command.key:
        check_setting(now, command.key)
    lines = settings_lines(now)
    chosen = [line for line in lines if not command.key or line.split()[0] == command.key]
    return CommandOutcome(tuple(chosen), moved=now if command.value else None)


async def configure(hub: Hub, where: shapes.Conversation, key: str, value: str) -> shapes.Conversation:
    check_setting(where, key)
    return await hub.conversations.configure(where.id, **{key: setting_value(value)})


def check_setting(where: shapes.Conversation, key: str) -> None:
    if key not in where.settings:
        raise BadValue(f'unknown setting "{key}"', detail=f"settings are {', '.join(where.settings)}")


def setting_value(text: str) -> Json:
    """Numbers and true/false as such, everything else as text."""
    try:
        return json.decode(text)
    except ValueError:
        return text


def settings_lines(where: shapes.Conversation) -> tuple[str, ...]:
    return tuple(f"{name} = {json.encode(held).decode()}" for name, held in where.settings.items())


# --- looking around --------------------------------------------------------------------------------------


async def _agents(_: slash.AgentsCommand, at: At) -> CommandOutcome:
    agents = await at.hub.agents.list()
    here = set(at.agents)
    return CommandOutcome(tuple(_agent_line(agent, here=agent.name in here) for agent in agents))


def _agent_line(agent: shapes.Agent, *, here: bool) -> str:
    state = "away" if agent.status == "offline" else str(agent.activity["label"])
    return ", ".join(part for part in (agent.name, state, agent.role, "" if here else "not here") if part)


async def _name(command: slash.NameCommand, at: At) -> CommandOutcome:
    if not command.agent and len(at.agents) != 1:
        raise BadName(
            "which agent should be renamed?",
            detail=f"agents here: {', '.join(at.agents)}",
            fix=("/name AGENT NEW",),
        )
    before = command.agent or at.agents[0]
    await at.hub.agents.rename(before, command.new)
    return CommandOutcome(
        (f"{before} is now called {command.new}",), moved=await at.hub.conversations.get(at.where.id)
    )


async def _inbox(_: slash.InboxCommand, at: At) -> CommandOutcome:
    waiting = [
        each.message for each in await at.hub.inbox(unread=True) if each.message.conversation != at.where.id
    ]
    named = await _addresses(at.hub, waiting)
    lines = [one_line(named[message.id], message) for message in waiting]
    return CommandOutcome(tuple(lines) or ("no messages for you",))


async def _search(command: slash.SearchCommand, at: At) -> CommandOutcome:
    hits = await at.hub.search(command.query, limit=SHOWN)
    if not hits:
        removed = await at.hub.inspector.narrowest(command.query)
        return CommandOutcome((removed.sentence() if removed else "nothing found",))
    named = await _addresses(at.hub, [hit.message for hit in hits])
    return CommandOutcome(
        tuple(f"{named[hit.message.id]}  {hit.message.sender}: {hit.snippet}" for hit in hits)
    )


async def _addresses(hub: Hub, messages: Sequence[shapes.Message]) -> dict[str, str]:
    """Ids of messages → as people call them."""
    places = dict.fromkeys(message.conversation for message in messages)
    names = {place: (await hub.conversations.get(place)).name for place in places}
    return {message.id: f"{names[message.conversation]}:{message.seq}" for message in messages}


def one_line(address: str, message: shapes.Message) -> str:
    whole = message.text.strip()
    first = (whole.splitlines() or [""])[0]  # a deleted one has none
    return f"{address}  {message.sender}: {first[:80]}{'…' if first != whole else ''}"


async def _note(command: slash.ShowNoteCommand, at: At) -> CommandOutcome:
    if command.name:
        note = await at.hub.notes.get(command.name)
        head = f"{note.name}, v{note.version} by {note.updated_by}"
        return CommandOutcome((head, *(note.text.splitlines() or ("(empty)",))))
    names = [f"{note.name}, v{note.version} by {note.updated_by}" for note in await at.hub.notes.list()]
    return CommandOutcome(tuple(names) or ("there are no notes yet",))


async def _append(command: slash.AppendNoteCommand, at: At) -> CommandOutcome:
    note = await at.hub.notes.append(command.name, command.text)
    return CommandOutcome((f"{note.name} is at v{note.version} now",))


async def _links(command: slash.LinksCommand, at: At) -> CommandOutcome:
    links = await at.hub.links.list(between=command.agent or None)
    return CommandOutcome(tuple(link.sentence for link in links) or ("no links",))


async def _spawn(command: slash.SpawnCommand, at: At) -> CommandOutcome:
    spawned = await at.hub.spawn(command.template, task=command.task)
    task_text = f", and was given the task {spawned.task.id}" if spawned.task is not None else ""
    return CommandOutcome((f"{spawned.agent} was started from the template {spawned.template}{task_text}",))


async def _archive(_: slash.ArchiveCommand, at: At) -> CommandOutcome:
    await at.hub.conversations.archive(at.where.id)
    back = Hint(Act.UNARCHIVE, conversation=at.where.id, id=at.where.id)
    return CommandOutcome((f"{at.where.name} is archived",), left=True, back=back)


async def _help(command: slash.HelpCommand, _: At) -> CommandOutcome:
    return CommandOutcome(
        tuple(f"{form:<{slash.FORM_WIDTH}}{meaning}" for form, meaning in slash.help_lines(command.name))
    )


async def _quit(_: slash.QuitCommand, __: At) -> CommandOutcome:
    return CommandOutcome(left=True)


def _members(where: shapes.Conversation) -> list[str]:
    return [seat.name for seat in where.participants]


DOES: Final[dict[type[Any], Callable[[Any, At], Awaitable[CommandOutcome]]]] = {
    slash.AskCommand: _ask,
    slash.AllCommand: _all,
    slash.RetryCommand: _retry,
    slash.ContinueCommand: _continue,
    slash.StopCommand: _stop,
    slash.SwitchCommand: _switch,
    slash.TurnsCommand: _turns,
    slash.ExportCommand: _at_a_terminal,
    slash.ThemeCommand: _at_a_terminal,
    slash.KeysCommand: _at_a_terminal,
    slash.WhyCommand: _why,
    slash.GroupCreateCommand: _create,
    slash.GroupAddCommand: _add,
    slash.GroupRemoveCommand: _remove,
    slash.GroupListCommand: _list,
    slash.GroupDissolveCommand: _dissolve,
    slash.GroupConfigCommand: _config,
    slash.AgentsCommand: _agents,
    slash.NameCommand: _name,
    slash.InboxCommand: _inbox,
    slash.SearchCommand: _search,
    slash.ShowNoteCommand: _note,
    slash.AppendNoteCommand: _append,
    slash.LinksCommand: _links,
    slash.SpawnCommand: _spawn,
    slash.ArchiveCommand: _archive,
    slash.HelpCommand: _help,
    slash.QuitCommand: _quit,
}
