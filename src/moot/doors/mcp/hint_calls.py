"""Act → tool call: how MCP words a hint. A test checks that the table is complete and that its tools exist.

What no tool can do is phrased as something to ask the owner for.
"""

from typing import Final

from msgspec import json

from moot.errors import MootError
from moot.model.hint import Act, Hint
from moot.model.json import JsonObject

CALLS: Final[dict[Act, str]] = {
    Act.LIST_AGENTS: "list_agents()",
    Act.SHOW_AGENT: "list_agents()",
    Act.NEW_AGENT: "ask the owner to create the agent {agent}",
    Act.CHANGE_AGENT: "ask the owner to change {agent}",
    Act.REMOVE_AGENT: "ask the owner to remove {agent} from moot.toml",
    Act.USE_DEMO: "ask the owner to set the model of {agent} to demo",
    Act.LIST_AGENT_FIELDS: "ask the owner which values an agent's fields accept",
    Act.START_AGENT: "ask the owner to start {agent}",
    Act.STOP_AGENT: "ask the owner to stop {agent}",
    Act.RESTART_AGENT: "ask the owner to restart {agent}",
    Act.WAKE_CLIENT: "ask the owner to have {provider} woken by its hooks",
    Act.RETRY: "ask the owner to retry turn {id}",
    Act.LIST_CONVERSATIONS: "resources/list lists your conversations",
    Act.NEW_CONVERSATION: "ask the owner to create the conversation {conversation}",
    Act.NEW_CONVERSATION_WITH: "ask the owner to create a conversation with {agent}",
    Act.OPEN_CONVERSATION: "read_conversation(conversation={conversation})",
    Act.TALK_TOGETHER: "ask the owner to create a conversation with {agents}",
    Act.POST: 'post(conversation={conversation}, text="…")',
    Act.JOIN: "ask the owner to add {agent} to {conversation}",
    Act.RENAME_CONVERSATION: "ask the owner to rename {conversation}",
    Act.UNARCHIVE: "ask the owner to unarchive {conversation}",
    Act.DISSOLVE: "ask the owner to dissolve {conversation}",
    Act.DELETE_CONVERSATION: "ask the owner to delete {conversation}",
    Act.CONTINUE_CHAIN: "ask the owner to resume {conversation}",
    Act.LIST_TURNS: "ask the owner for the list of turns",
    Act.SHOW_TURN: "ask the owner to look at turn {turn}",
    Act.LIST_LINKS: "list_agents() shows whom you may write to",
    Act.SHOW_LINK: "ask the owner about the link {id}",
    Act.NEW_LINK: "ask the owner to link {agents}",
    Act.ENABLE_LINK: "ask the owner to enable the link {id}",
    Act.DISABLE_LINK: "ask the owner to disable the link {id}",
    Act.OVERRIDE_LINK: "ask the owner to change the link {id}",
    Act.NEW_TOKEN: "ask the owner for a token of {agent}",
    Act.OPEN_PAGE: "ask the owner for a link that signs you in",
    Act.CHANGE_LINK: "ask the owner to change the link {id}",
    Act.OPEN_LINK: "ask the owner to make the link {id} two-way",
    Act.LIST_DECISIONS: "ask the owner which decisions are open",
    Act.LIST_TASKS: "ask the owner for the list of tasks",
    Act.SEND_TO_AGENT: 'send_to_agent(target={agent}, message="…")',
    Act.ASK_AGENT: 'ask(target={agent}, question="…")',
    Act.DELEGATE_TO: 'delegate(target={agent}, task="…")',
    Act.LIST_NOTES: "",
    Act.SHOW_NOTE: "read_shared_note(name={note})",
    Act.NEW_NOTE: "ask the owner to create the note {note}",
    Act.SHARE_NOTE: "ask the owner to let {agent} write to the note {note}",
    Act.SET_KEY: "ask the owner to set a key for {provider}",
    Act.LIST_SETTINGS: "ask the owner for the list of settings",
    Act.SHOW_SETTING: "ask the owner which values {setting} accepts",
    Act.EDIT_SETTINGS: "ask the owner to fix moot.toml",
    Act.START_HUB: "ask the owner to start the hub",
    Act.STOP_HUB: "ask the owner to stop the hub",
    Act.START_HUB_ELSEWHERE: "ask the owner to start a hub for another home",
    Act.USE_ANOTHER_HOME: "ask the owner to use another folder as the home",
    Act.MAKE_HOME: "ask the owner to set up the home",
    Act.RUN_DEMO: "",
    Act.RUN_DOCTOR: "ask the owner to check the hub",
    Act.CHECK_PROVIDERS: "ask the owner to check the connection to the provider",
    Act.LIST_BACKUPS: "ask the owner for the list of backups",
    Act.CREATE_BACKUP: "ask the owner to make a backup",
    Act.RESTORE_BACKUP: "ask the owner to restore a backup",
    Act.MOVE_STORE: "ask the owner to finish moving the store",
    Act.EXPORT_AGAIN: "ask the owner to export it again",
}


def call(hint: Hint) -> str:
    """The tool call that does it, with its arguments as JSON; or what to ask the owner for."""
    row = CALLS[hint.act]
    facts = {name: value for name, value in hint._asdict().items() if isinstance(value, str)}
    if "(" in row:
        facts = {name: json.encode(value).decode() for name, value in facts.items()}
    return row.format(**facts, agents=", ".join(hint.agents))


def refusal(error: MootError) -> JsonObject:
    """A refusal as an agent sees it."""
    return error.to_dict(call)
