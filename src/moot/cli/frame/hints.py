"""Act → command: how the command line says what can be done. A test holds the table complete."""

import re
import shlex
from collections.abc import Iterable
from typing import Final

from moot.model.hint import Act, Hint, Way, worded

COMMANDS: Final[dict[Act, str]] = {
    Act.LIST_AGENTS: "moot agents list",
    Act.SHOW_AGENT: "moot agents show {agent}",
    Act.NEW_AGENT: 'moot agents new {agent} --role "…"',
    Act.CHANGE_AGENT: "moot agents set {agent} -h",
    Act.REMOVE_AGENT: "moot agents rm {agent}",
    Act.USE_DEMO: "moot agents set {agent} --model demo",
    Act.LIST_AGENT_FIELDS: "moot agents new -h",
    Act.START_AGENT: "moot agent start {agent}",
    Act.STOP_AGENT: "moot agent stop {agent}",
    Act.RESTART_AGENT: "moot agent restart {agent}",
    Act.WAKE_CLIENT: "moot mcp install --wake {provider}",
    Act.RETRY: "moot conv retry {conversation}",
    Act.LIST_CONVERSATIONS: "moot conv list",
    Act.NEW_CONVERSATION: "moot conv new {conversation} --with AGENT,AGENT",
    Act.NEW_CONVERSATION_WITH: "moot conv new NAME --with {agent},…",
    Act.OPEN_CONVERSATION: "moot chat --conv {conversation}",
    Act.TALK_TOGETHER: "moot chat {agents}",
    Act.POST: 'moot send --conv {conversation} "…"',
    Act.JOIN: "moot conv join {conversation} {agent}",
    Act.RENAME_CONVERSATION: "moot conv rename {conversation} OTHER",
    Act.UNARCHIVE: "moot conv unarchive {conversation}",
    Act.DISSOLVE: "moot conv dissolve {conversation}",
    Act.DELETE_CONVERSATION: "moot conv delete {conversation}",
    Act.CONTINUE_CHAIN: "moot conv continue {conversation}",
    Act.LIST_TURNS: "moot turns",
    Act.SHOW_TURN: "moot turn show {turn}",
    Act.LIST_LINKS: "moot links list",
    Act.SHOW_LINK: "moot links show {id}",
    Act.NEW_LINK: "moot links new {agents}",
    Act.ENABLE_LINK: "moot links enable {id}",
    Act.DISABLE_LINK: "moot links disable {id}",
    Act.OVERRIDE_LINK: "moot links set {id} --override",
    Act.CHANGE_LINK: "moot links set {id} -h",
    Act.OPEN_LINK: "moot links set {id} --two-way",
    Act.LIST_DECISIONS: "moot decisions list",
    Act.LIST_TASKS: "moot tasks list",
    Act.SEND_TO_AGENT: 'moot send {agent} --no-wait "…"',
    Act.ASK_AGENT: 'moot ask {agent} -- "…"',
    Act.DELEGATE_TO: 'moot tasks new {agent} "…"',
    Act.LIST_NOTES: "moot notes list",
    Act.SHOW_NOTE: "moot notes show {note}",
    Act.NEW_NOTE: "moot notes new {note}",
    Act.SHARE_NOTE: "moot notes share {note} {agent} --write",
    Act.NEW_TOKEN: "moot tokens new {agent}",
    Act.OPEN_PAGE: "moot open",
    Act.SET_KEY: "moot keys set {provider}",
    Act.LIST_SETTINGS: "moot config list",
    Act.SHOW_SETTING: "moot config get {setting}",
    Act.EDIT_SETTINGS: "moot config edit",
    Act.START_HUB: "moot up",
    Act.STOP_HUB: "moot stop",
    Act.START_HUB_ELSEWHERE: "moot --home DIR up",
    Act.USE_ANOTHER_HOME: "moot --home DIR …",
    Act.MAKE_HOME: "moot init",
    Act.RUN_DEMO: "moot demo",
    Act.RUN_DOCTOR: "moot doctor",
    Act.CHECK_PROVIDERS: "moot doctor net",
    Act.LIST_BACKUPS: "moot backup list",
    Act.CREATE_BACKUP: "moot backup create",
    Act.RESTORE_BACKUP: "moot backup restore",
    Act.MOVE_STORE: "moot migrate-store URL",
    Act.EXPORT_AGAIN: "export it again: moot export --all --format jsonl -o FILE",
}
_ONE_WORD: Final = re.compile(r"[\w@%+=:,./-]+")


def command(hint: Hint) -> str:
    """The command for a hint, ready to be copied into a shell."""
    facts = {name: value for name, value in hint._asdict().items() if isinstance(value, str)}
    words = {name: _word(value) for name, value in facts.items()}
    agents = " ".join(_word(name) for name in hint.agents)
    return COMMANDS[hint.act].format(**words, agents=agents)


def _word(fact: str) -> str:
    return fact if _ONE_WORD.fullmatch(fact) else shlex.quote(fact)


def commands(ways: Iterable[Way]) -> list[str]:
    return worded(ways, command)


def first(ways: Iterable[Way]) -> str:
    """The first way out; empty if there is none."""
    return next(iter(commands(ways)), "")
