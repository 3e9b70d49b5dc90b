"""Tools by which a program that is an agent reads and writes conversations: those that are given to coding CLIs
besides the messages, tasks and notes of hub_tools.py and shared_notes.py. The same acts, under the same names, as
over MCP.

`check_messages` and `wait_for_messages` are not among them: in a turn that Moot runs, it hands over what is new.
"""

from contextlib import suppress
from typing import Final

from msgspec import Struct

from moot.brain import HostedTurn
from moot.errors import BadName, NotFound, RateLimited
from moot.model.json import JsonObject
from moot.model.prompt import Need
from moot.tools import hub_tools
from moot.tools.hub_tools import HubTool, NoWords, ToOne, step_key

READ_AT_ONCE: Final = 50
FOUND_AT_ONCE: Final = 20


class ReplyTo(Struct, frozen=True, forbid_unknown_fields=True):
    message_id: str
    text: str


class ConversationPost(Struct, frozen=True, forbid_unknown_fields=True):
    conversation: str
    text: str


class ConversationPart(Struct, frozen=True, forbid_unknown_fields=True):
    conversation: str
    after: int = 0


class WordsToFind(Struct, frozen=True, forbid_unknown_fields=True):
    query: str


class MessageWanted(Struct, frozen=True, forbid_unknown_fields=True):
    message_id: str


class NewName(Struct, frozen=True, forbid_unknown_fields=True):
    name: str


async def send_to_agent(turn: HostedTurn, given: ToOne) -> JsonObject:
    """A refusal is an answer that can be acted on, in the shape that it has over MCP."""
    try:
        receipt = await turn.hub.send(
            given.target, given.message, intent=given.intent or None, idempotency_key=step_key(turn)
        )
    except NotFound:
        names = sorted(one.name for one in await turn.hub.agents.list() if one.name != turn.agent)
        return {"delivered": False, "error": "Agent not found", "available": names}
    except RateLimited as limited:
        return {"delivered": False, "error": "Rate limited", "retry_after_ms": limited.retry_after_ms or 0}
    answer: JsonObject = {"delivered": True, "target": given.target, "id": receipt.id}
    delayed = max((one.delayed_ms for one in receipt.deliveries), default=0)
    return {**answer, "delayed_ms": delayed} if delayed else answer


async def list_agents(turn: HostedTurn, given: NoWords) -> JsonObject:
    """With the folder in which each of them works."""
    folders = {one.name: one.project for one in await turn.hub.agents.list()}
    listed: JsonObject = await hub_tools.list_agents(turn, given)
    agents = [{**row, "project": folders.get(row["name"], "")} for row in listed["agents"]]
    return {**listed, "agents": agents}


async def set_name(turn: HostedTurn, given: NewName) -> JsonObject:
    before = turn.hub.name
    try:
        renamed = await turn.hub.agents.rename(before, given.name)
    except BadName as refusal:
        return {"success": False, "error": refusal.title, "suggestions": list(refusal.suggestions)}
    return {"success": True, "previous_name": before, "new_name": renamed.name}


async def reply(turn: HostedTurn, given: ReplyTo) -> JsonObject:
    """To another message than the one this turn answers: that one is answered by the turn itself."""
    where = given.message_id.rpartition(":")[0] or turn.conversation.id
    message = given.message_id if ":" in given.message_id else f"{where}:{given.message_id.lstrip('#')}"
    receipt = await turn.hub.post(where, given.text, reply_to=message, idempotency_key=step_key(turn))
    return {"delivered": True, "id": receipt.id, "seq": receipt.seq}


async def post(turn: HostedTurn, given: ConversationPost) -> JsonObject:
    receipt = await turn.hub.post(given.conversation, given.text, idempotency_key=step_key(turn))
    return {"delivered": True, "id": receipt.id, "seq": receipt.seq}


async def _own(turn: HostedTurn, ref: str) -> str:
    """A conversation that the agent is in; it does not even learn that any other exists."""
    with suppress(NotFound):
        found = await turn.hub.conversations.get(ref)
        if any(seat.name == turn.agent for seat in found.participants):
            return str(found.id)
    raise NotFound(f'you are in no conversation called "{ref}"', what="conversation", ref=ref)


async def read_conversation(turn: HostedTurn, given: ConversationPart) -> JsonObject:
    where = await _own(turn, given.conversation)
    found = await turn.hub.messages(where, after=given.after, limit=READ_AT_ONCE)
    return {"messages": [message.to_dict() for message in found]}


async def search(turn: HostedTurn, given: WordsToFind) -> JsonObject:
    hits = await turn.hub.search(given.query, limit=FOUND_AT_ONCE)
    return {"hits": [hit.to_dict() for hit in hits]}


async def why(turn: HostedTurn, given: MessageWanted) -> JsonObject:
    await _own(turn, given.message_id.rpartition(":")[0])
    found: JsonObject = (await turn.hub.why(given.message_id)).to_dict()
    return found


def room_tools() -> tuple[HubTool, ...]:
    return (
        HubTool(ToOne, send_to_agent, Need.SOMEBODY_TO_WRITE_TO),
        HubTool(NoWords, list_agents),
        HubTool(NewName, set_name),
        HubTool(ReplyTo, reply),
        HubTool(ConversationPost, post),
        HubTool(ConversationPart, read_conversation),
        HubTool(WordsToFind, search),
        HubTool(MessageWanted, why),
    )
