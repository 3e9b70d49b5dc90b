"""Act → tool call: how MCP says what can be done. A test holds the table complete and its tools true.

What no tool does, a person has to: an agent can only ask for it, and is told whom.
"""

from typing import Final

from msgspec import json

from moot.errors import MootError
from moot.model.hint import Act, Hint
from moot.model.json import JsonObject

CALLS: Final[dict[Act, str]] = {
    Act.LIST_AGENTS: "list_agents()",
    Act.SHOW_AGENT: "list_agents()",
    Act.NEW_AGENT: "ask the owner to make an agent {agent}",
    Act.CHANGE_AGENT: "ask the owner to change {agent}",
    Act.REMOVE_AGENT: "ask the owner to take {agent} out of moot.toml",
    Act.USE_DEMO: "ask the owner to give {agent} the model demo",
    Act.LIST_AGENT_FIELDS: "ask the owner what an agent's fields take",
    Act.START_AGENT: "ask the owner to start {agent}",
    Act.STOP_AGENT: "ask the owner to stop {agent}",
    Act.RESTART_AGENT: "ask the owner to restart {agent}",
    Act.LIST_CONVERSATIONS: "resources/list names the conversations that you are in",
    Act.NEW_CONVERSATION: "ask the owner to begin a conversation {conversation}",
    Act.NEW_CONVERSATION_WITH: "ask the owner to begin a conversation with {agent}",
    Act.OPEN_CONVERSATION: "read_conversation(conversation={conversation})",
    Act.TALK_TOGETHER: "ask the owner to begin a conversation of {agents}",
    Act.POST: 'post(conversation={conversation}, text="…")',
    Act.JOIN: "ask the owner to bring {agent} into {conversation}",
    Act.RENAME_CONVERSATION: "ask the owner to give {conversation} another name",
    Act.UNARCHIVE: "ask the owner to bring {conversation} back from the archive",
    Act.DISSOLVE: "ask the owner to dissolve {conversation}",
    Act.DELETE_CONVERSATION: "ask the owner to delete {conversation}",
    Act.CONTINUE_CHAIN: "ask the owner to let {conversation} go on",
    Act.SHOW_TURN: "ask the owner to look at turn {turn}",
    Act.LIST_LINKS: "list_agents() names those you may write to",
    Act.SHOW_LINK: "ask the owner about the link {id}",
    Act.NEW_LINK: "ask the owner to link {agents}",
    Act.ENABLE_LINK: "ask the owner to turn the link {id} on",
    Act.DISABLE_LINK: "ask the owner to turn the link {id} off",
    Act.OPEN_LINK: "ask the owner to let both ends of the link {id} start",
    Act.LIST_DECISIONS: "ask the owner which decisions wait",
    Act.LIST_TASKS: "ask the owner which tasks there are",
    Act.SEND_TO_AGENT: 'send_to_agent(target={agent}, message="…")',
    Act.ASK_AGENT: 'ask(target={agent}, question="…")',
    Act.DELEGATE_TO: 'delegate(target={agent}, task="…")',
    Act.LIST_NOTES: "",
    Act.SHOW_NOTE: "read_shared_note(name={note})",
    Act.NEW_NOTE: "ask the owner to make a note {note}",
    Act.SHARE_NOTE: "ask the owner to let {agent} write to the note {note}",
    Act.SET_KEY: "ask the owner to set a key for {provider}",
    Act.LIST_SETTINGS: "ask the owner which settings there are",
    Act.SHOW_SETTING: "ask the owner what {setting} takes",
    Act.EDIT_SETTINGS: "ask the owner to mend moot.toml",
    Act.START_HUB: "ask the owner to start the hub",
    Act.STOP_HUB: "ask the owner to stop the hub",
    Act.START_HUB_ELSEWHERE: "ask the owner to start a hub for another home",
    Act.USE_ANOTHER_HOME: "ask the owner to take another folder as the home",
    Act.MAKE_HOME: "ask the owner to set up the home",
    Act.RUN_DEMO: "",
    Act.RUN_DOCTOR: "ask the owner to check the hub",
    Act.CHECK_PROVIDERS: "ask the owner to check the way to the provider",
    Act.LIST_BACKUPS: "ask the owner which backups there are",
    Act.CREATE_BACKUP: "ask the owner to make a backup",
    Act.RESTORE_BACKUP: "ask the owner to restore a backup",
    Act.EXPORT_AGAIN: "ask the owner to export it again",
}


def call(hint: Hint) -> str:
    """The tool call that does it, its arguments written as JSON; or whom to ask."""
    row = CALLS[hint.act]
    facts = {name: value for name, value in hint._asdict().items() if isinstance(value, str)}
    if "(" in row:
        facts = {name: json.encode(value).decode() for name, value in facts.items()}
    return row.format(**facts, agents=", ".join(hint.agents))


def refusal(error: MootError) -> JsonObject:
    """A refusal as an agent reads it."""
    return error.to_dict(call)
