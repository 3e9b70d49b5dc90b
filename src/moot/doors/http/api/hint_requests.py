"""Act → request: how HTTP words a hint. A test checks that the table is complete and that its paths exist.

What no request can do is phrased as something to ask the hub's operator for.
"""

from typing import Final
from urllib.parse import quote

from msgspec import structs

from moot import shapes
from moot.model.event import EventType
from moot.model.hint import Act, Hint, from_data, worded

REQUESTS: Final[dict[Act, str]] = {
    Act.LIST_AGENTS: "GET /api/agents",
    Act.SHOW_AGENT: "GET /api/agents/{agent}",
    Act.NEW_AGENT: "POST /api/agents with the name {agent}",
    Act.CHANGE_AGENT: "PUT /api/agents/{agent}",
    Act.REMOVE_AGENT: "ask the hub's operator to remove {agent} from moot.toml",
    Act.USE_DEMO: "ask the hub's operator to set the model of {agent} to demo",
    Act.LIST_AGENT_FIELDS: "ask the hub's operator which values an agent's fields accept",
    Act.START_AGENT: "POST /api/agents/{agent}/start",
    Act.STOP_AGENT: "POST /api/agents/{agent}/stop",
    Act.RESTART_AGENT: "ask the hub's operator to restart {agent}",
    Act.WAKE_CLIENT: "ask the hub's operator to have {provider} woken by its hooks",
    Act.RETRY: "POST /api/turns/{id}/redeliver",
    Act.LIST_CONVERSATIONS: "GET /api/conversations",
    Act.NEW_CONVERSATION: "POST /api/conversations with the name {conversation}",
    Act.NEW_CONVERSATION_WITH: "POST /api/conversations with the participant {agent}",
    Act.OPEN_CONVERSATION: "GET /api/conversations/{conversation}",
    Act.TALK_TOGETHER: "POST /api/implicit with the participants {agents}",
    Act.POST: "POST /api/conversations/{conversation}/messages",
    Act.JOIN: "POST /api/conversations/{conversation}/participants with the name {agent}",
    Act.RENAME_CONVERSATION: "PATCH /api/conversations/{conversation} with another name",
    Act.UNARCHIVE: "POST /api/conversations/{id}/unarchive",
    Act.DISSOLVE: "POST /api/conversations/{conversation}/dissolve",
    Act.DELETE_CONVERSATION: "DELETE /api/conversations/{conversation}?purge=true",
    Act.CONTINUE_CHAIN: "POST /api/conversations/{conversation}/continue",
    Act.LIST_TURNS: "GET /api/turns",
    Act.SHOW_TURN: "GET /api/turns/{turn}",
    Act.LIST_LINKS: "GET /api/links",
    Act.SHOW_LINK: "GET /api/links/{id}",
    Act.NEW_LINK: "POST /api/links with the ends {agents}",
    Act.ENABLE_LINK: "PUT /api/links/{id} with enabled true",
    Act.DISABLE_LINK: "PUT /api/links/{id} with enabled false",
    Act.OVERRIDE_LINK: "PUT /api/links/{id} with override true",
    Act.NEW_TOKEN: "POST /api/agents/{agent}/tokens",
    Act.OPEN_PAGE: "ask the hub's operator for a link that signs you in",
    Act.CHANGE_LINK: "PUT /api/links/{id}",
    Act.OPEN_LINK: "PUT /api/links/{id} with direction two_way",
    Act.LIST_DECISIONS: "GET /api/decisions",
    Act.LIST_TASKS: "GET /api/tasks",
    Act.SEND_TO_AGENT: "POST /api/agents/{agent}/messages",
    Act.ASK_AGENT: "POST /api/agents/{agent}/ask",
    Act.DELEGATE_TO: "POST /api/tasks with to {agent}",
    Act.LIST_NOTES: "GET /api/notes",
    Act.SHOW_NOTE: "GET /api/notes/{note}",
    Act.NEW_NOTE: "POST /api/notes with the name {note}",
    Act.SHARE_NOTE: "PUT /api/notes/{note}/permissions with the agent {agent}",
    Act.SET_KEY: "ask the hub's operator to set a key for {provider}",
    Act.LIST_SETTINGS: "GET /api/settings",
    Act.SHOW_SETTING: "ask the hub's operator which values {setting} accepts",
    Act.EDIT_SETTINGS: "ask the hub's operator to fix moot.toml",
    Act.START_HUB: "ask the hub's operator to start it",
    Act.STOP_HUB: "ask the hub's operator to stop it",
    Act.START_HUB_ELSEWHERE: "ask the hub's operator to start one for another home",
    Act.USE_ANOTHER_HOME: "ask the hub's operator to use another folder as its home",
    Act.MAKE_HOME: "ask the hub's operator to set up its home",
    Act.RUN_DEMO: "",
    Act.RUN_DOCTOR: "ask the hub's operator to check it",
    Act.CHECK_PROVIDERS: "ask the hub's operator to check the connection to the provider",
    Act.LIST_BACKUPS: "ask the hub's operator for the list of backups",
    Act.CREATE_BACKUP: "ask the hub's operator to make a backup",
    Act.RESTORE_BACKUP: "ask the hub's operator to restore a backup",
    Act.MOVE_STORE: "ask the hub's operator to finish moving the store",
    Act.EXPORT_AGAIN: "ask the hub's operator to export it again",
}


def request(hint: Hint) -> str:
    """The request that does it, with the values in its path percent-encoded."""
    facts = {name: value for name, value in hint._asdict().items() if isinstance(value, str)}
    path, _, rest = REQUESTS[hint.act].partition(" with ")
    in_path = {name: quote(value, safe="") for name, value in facts.items()} if "/api" in path else facts
    words = [path.format(**in_path), rest.format(**facts, agents=", ".join(hint.agents))]
    return " with ".join(part for part in words if part)


def event_in_words(event: shapes.Event) -> shapes.Event:
    """An event as HTTP shows it: what can be done about a brake or a broken moot.toml is worded as requests."""
    if event.type not in (EventType.BRAKE_TRIPPED, EventType.CONFIG_REFUSED):
        return event
    ways = worded(from_data(event.body.get("fix", ())), request)
    return structs.replace(event, body={**event.body, "fix": ways})
