"""Act → request: how HTTP says what can be done. A test holds the table complete and its paths true.

What no request does is said for whoever runs the hub: they may be the reader, and else can be asked.
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
    Act.REMOVE_AGENT: "ask whoever runs the hub to take {agent} out of moot.toml",
    Act.USE_DEMO: "ask whoever runs the hub to give {agent} the model demo",
    Act.LIST_AGENT_FIELDS: "ask whoever runs the hub what an agent's fields take",
    Act.START_AGENT: "ask whoever runs the hub to start {agent}",
    Act.STOP_AGENT: "ask whoever runs the hub to stop {agent}",
    Act.RESTART_AGENT: "ask whoever runs the hub to restart {agent}",
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
    Act.SHOW_TURN: "GET /api/turns/{turn}",
    Act.LIST_LINKS: "GET /api/links",
    Act.SHOW_LINK: "GET /api/links/{id}",
    Act.NEW_LINK: "POST /api/links with the ends {agents}",
    Act.ENABLE_LINK: "PUT /api/links/{id} with enabled true",
    Act.DISABLE_LINK: "PUT /api/links/{id} with enabled false",
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
    Act.SET_KEY: "ask whoever runs the hub to set a key for {provider}",
    Act.LIST_SETTINGS: "ask whoever runs the hub which settings there are",
    Act.SHOW_SETTING: "ask whoever runs the hub what {setting} takes",
    Act.EDIT_SETTINGS: "ask whoever runs the hub to mend moot.toml",
    Act.START_HUB: "ask whoever runs the hub to start it",
    Act.STOP_HUB: "ask whoever runs the hub to stop it",
    Act.START_HUB_ELSEWHERE: "ask whoever runs the hub to start one for another home",
    Act.USE_ANOTHER_HOME: "ask whoever runs the hub to take another folder as its home",
    Act.MAKE_HOME: "ask whoever runs the hub to set up its home",
    Act.RUN_DEMO: "",
    Act.RUN_DOCTOR: "ask whoever runs the hub to check it",
    Act.CHECK_PROVIDERS: "ask whoever runs the hub to check its way to the provider",
    Act.LIST_BACKUPS: "ask whoever runs the hub which backups there are",
    Act.CREATE_BACKUP: "ask whoever runs the hub to make a backup",
    Act.RESTORE_BACKUP: "ask whoever runs the hub to restore a backup",
    Act.EXPORT_AGAIN: "ask whoever runs the hub to export it again",
}


def request(hint: Hint) -> str:
    """The request that does it; what stands in its path is written as a path takes it."""
    facts = {name: value for name, value in hint._asdict().items() if isinstance(value, str)}
    path, _, rest = REQUESTS[hint.act].partition(" with ")
    in_path = {name: quote(value, safe="") for name, value in facts.items()} if "/api" in path else facts
    words = [path.format(**in_path), rest.format(**facts, agents=", ".join(hint.agents))]
    return " with ".join(part for part in words if part)


def event_in_words(event: shapes.Event) -> shapes.Event:
    """An event as HTTP tells it: what can be done about a brake, or a broken moot.toml, is said in requests."""
    if event.type not in (EventType.BRAKE_TRIPPED, EventType.CONFIG_REFUSED):
        return event
    ways = worded(from_data(event.body.get("fix", ())), request)
    return structs.replace(event, body={**event.body, "fix": ways})
