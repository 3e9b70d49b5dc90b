"""Which commands there are, where each lives, and its one line of help. Read before any is imported."""

from typing import Final, NamedTuple


class Entry(NamedTuple):
    where: str
    section: str
    help: str


COMMANDS: Final[dict[str, Entry]] = {
    "demo": Entry("moot.cli.talk.demo:demo", "Start", "Watch offline demo agents talk, and join in."),
    "init": Entry(
        "moot.cli.manage.init:init", "Start", "Set up: your name, your first agents, what they think with."
    ),
    "doctor": Entry(
        "moot.cli.run.doctor:doctor",
        "Start",
        "Check that all is well, and repair what is safe.",
    ),
    "chat": Entry("moot.cli.talk.chat:chat", "Talk", "Talk with agents, or in a conversation."),
    "send": Entry("moot.cli.talk.send:send", "Talk", "Send one message and wait for the reply."),
    "ask": Entry(
        "moot.cli.talk.ask:ask", "Talk", "Make agents answer, wait for them, and print what they say."
    ),
    "inbox": Entry("moot.cli.read.inbox:inbox", "Talk", "What waits for you, or for an agent."),
    "tail": Entry("moot.cli.read.tail:tail", "Talk", "Show the newest messages, and follow them."),
    "search": Entry(
        "moot.cli.read.search:search", "Talk", "Find messages by words, authors, places and times."
    ),
    "why": Entry("moot.cli.read.why:why", "Talk", "Why each agent answered a message or was silent."),
    "conv": Entry("moot.cli.manage.conv:conv", "Conversations", "Make, find and change conversations."),
    "agents": Entry(
        "moot.cli.manage.agent_rows:agents", "Agents", "Who is here: find, make, change and run agents."
    ),
    "group": Entry("moot.cli.manage.group:group", "Conversations", "The verbs of /group, from a shell."),
    "turns": Entry("moot.cli.read.tail:turns", "Agents", "Which turns agents took, take or wait for."),
    "turn": Entry("moot.cli.read.inspect:turn", "Agents", "One turn, with what its agent was given."),
    "context": Entry(
        "moot.cli.read.inspect:context", "Agents", "What an agent would be given if its turn began now."
    ),
    "replay": Entry(
        "moot.cli.read.inspect:replay",
        "Agents",
        "Rebuild an agent's views from the log, and prove them equal to the store's.",
    ),
    "keys": Entry("moot.cli.manage.keys:keys", "Agents", "Keys of model providers."),
    "models": Entry("moot.cli.manage.models:models", "Agents", "What agents could think with."),
    "up": Entry("moot.cli.run.up:up", "Run", "Run the agents of moot.toml until stopped."),
    "stop": Entry("moot.cli.run.up:stop", "Run", "Stop the hub; running turns may end first."),
    "mcp": Entry("moot.cli.mcp.verbs:mcp", "Run", "Connect coding agents: Claude Code, Codex and others."),
    "logs": Entry("moot.cli.read.logs:logs", "Run", "What the hub has logged."),
    "config": Entry("moot.cli.manage.config:config", "Data", "Read and change moot.toml."),
    "export": Entry(
        "moot.cli.data.export:export", "Data", "Write conversations down as Markdown or JSON Lines."
    ),
    "import": Entry("moot.cli.data.import_:import_", "Data", "Take in conversations that were exported."),
    "backup": Entry("moot.cli.data.backup:backup", "Data", "Make, check and restore backups."),
    "status": Entry(
        "moot.cli.read.status:status", "Run", "Where things stand: what needs you, who works, what is done."
    ),
    "help": Entry("moot.cli.read.help:help_", "Self", "Help on a command or a topic."),
    "completion": Entry(
        "moot.cli.completion.script:completion", "Self", "Print the completion script for a shell."
    ),
    "version": Entry("moot.cli.read.help:version", "Self", "Which version this is."),
    "explain": Entry("moot.cli.read.explain:explain", "Self", "What an error code means."),
}
ALIASES: Final = {
    "agent": "agents",
    "conversation": "conv",
    "conversations": "conv",
    "groups": "group",
    "key": "keys",
    "backups": "backup",
    "model": "models",
    "serve": "up",
}
