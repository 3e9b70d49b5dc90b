"""Which commands there are, where each lives, and its one line of help. Read before any is imported."""

from typing import Final, NamedTuple


class CommandEntry(NamedTuple):
    where: str
    section: str
    help: str


COMMANDS: Final[dict[str, CommandEntry]] = {
    "demo": CommandEntry("moot.cli.talk.demo:demo", "Start", "Watch offline demo agents talk, and join in."),
    "init": CommandEntry(
        "moot.cli.manage.init:init", "Start", "Set up Moot: your name, your first agents and their model."
    ),
    "doctor": CommandEntry(
        "moot.cli.run.doctor:doctor",
        "Start",
        "Check the installation, and repair what is safe to repair.",
    ),
    "chat": CommandEntry("moot.cli.talk.chat:chat", "Talk", "Chat with agents, or in a conversation."),
    "send": CommandEntry("moot.cli.talk.send:send", "Talk", "Send one message and wait for the reply."),
    "ask": CommandEntry("moot.cli.talk.ask:ask", "Talk", "Ask agents a question and wait for their answers."),
    "inbox": CommandEntry(
        "moot.cli.read.inbox:inbox", "Talk", "Show messages waiting for you, or for an agent."
    ),
    "tail": CommandEntry("moot.cli.read.tail:tail", "Talk", "Show the newest messages, or follow them."),
    "search": CommandEntry(
        "moot.cli.read.search:search", "Talk", "Search messages by text, sender, conversation and time."
    ),
    "why": CommandEntry(
        "moot.cli.read.why:why", "Talk", "Explain why each agent answered a message or stayed silent."
    ),
    "conv": CommandEntry(
        "moot.cli.manage.conv:conv", "Conversations", "Create, list and change conversations."
    ),
    "agents": CommandEntry(
        "moot.cli.manage.agent_rows:agents", "Agents", "Create, list, change and run agents."
    ),
    "group": CommandEntry(
        "moot.cli.manage.group:group", "Conversations", "The /group commands, from a shell."
    ),
    "turns": CommandEntry(
        "moot.cli.read.tail:turns", "Agents", "List agents' turns: finished, running and waiting."
    ),
    "turn": CommandEntry(
        "moot.cli.read.inspect:turn", "Agents", "Inspect one turn, and what its agent was given."
    ),
    "decisions": CommandEntry(
        "moot.cli.manage.decisions:decisions", "Agents", "Answer the decisions that agents ask you for."
    ),
    "tasks": CommandEntry(
        "moot.cli.manage.tasks:tasks", "Agents", "Delegate tasks to agents and follow them."
    ),
    "links": CommandEntry(
        "moot.cli.manage.links:links", "Agents", "Decide who may write to whom, and who is whose superior."
    ),
    "topology": CommandEntry(
        "moot.cli.manage.topology:topology", "Agents", "Show, compare and apply all links at once."
    ),
    "notes": CommandEntry(
        "moot.cli.manage.notes:notes", "Agents", "Keep notes that agents and people share."
    ),
    "limits": CommandEntry(
        "moot.cli.manage.limits:limits",
        "Agents",
        "Show how close agents are to their limits, and reset them.",
    ),
    "guard": CommandEntry(
        "moot.cli.manage.limits:guard",
        "Agents",
        "Show how close conversations are to being stopped as loops.",
    ),
    "context": CommandEntry(
        "moot.cli.read.inspect:context", "Agents", "Show what an agent would be given if its turn began now."
    ),
    "audit": CommandEntry(
        "moot.cli.read.audit:audit", "Agents", "See who did what, and verify that nothing was altered."
    ),
    "replay": CommandEntry(
        "moot.cli.read.inspect:replay",
        "Agents",
        "Rebuild an agent's views from the log and compare them with the store.",
    ),
    "pause": CommandEntry(
        "moot.cli.manage.pause:pause", "Agents", "Pause agents: they get no turns until they are resumed."
    ),
    "resume": CommandEntry(
        "moot.cli.manage.pause:resume", "Agents", "Resume paused agents: they get turns again."
    ),
    "keys": CommandEntry("moot.cli.manage.keys:keys", "Agents", "Manage the keys of model providers."),
    "tokens": CommandEntry(
        "moot.cli.manage.access_tokens:tokens",
        "Agents",
        "Issue, list and revoke the tokens that let programs in.",
    ),
    "people": CommandEntry(
        "moot.cli.manage.people:people", "Agents", "Invite people to the page, and list them."
    ),
    "models": CommandEntry("moot.cli.manage.models:models", "Agents", "List the models agents can use."),
    "up": CommandEntry("moot.cli.run.up:up", "Run", "Run the hub and the agents in moot.toml until stopped."),
    "stop": CommandEntry("moot.cli.run.up:stop", "Run", "Stop the hub, after letting running turns finish."),
    "open": CommandEntry("moot.cli.run.open_page:open_", "Run", "Open the page in your browser, signed in."),
    "reload": CommandEntry("moot.cli.run.reload:reload", "Run", "Read moot.toml again and apply it."),
    "bridge": CommandEntry("moot.cli.run.bridge:bridge", "Run", "Connect Telegram and Discord."),
    "mcp": CommandEntry(
        "moot.cli.mcp.verbs:mcp", "Run", "Connect coding agents: Claude Code, Codex and others."
    ),
    "logs": CommandEntry("moot.cli.read.logs:logs", "Run", "Show the hub's log."),
    "config": CommandEntry(
        "moot.cli.manage.config:config", "Data", "Show and change the settings in moot.toml."
    ),
    "export": CommandEntry(
        "moot.cli.data.export:export", "Data", "Export conversations as Markdown or JSON Lines."
    ),
    "import": CommandEntry("moot.cli.data.import_:import_", "Data", "Import exported conversations."),
    "backup": CommandEntry("moot.cli.data.backup:backup", "Data", "Create, verify and restore backups."),
    "kafka": CommandEntry(
        "moot.cli.data.kafka:kafka", "Data", "Show topics, lag and what waits for Kafka; rebuild topics."
    ),
    "migrate-store": CommandEntry(
        "moot.cli.data.migrate_store:migrate_store", "Data", "Move this home's data to PostgreSQL, or back."
    ),
    "status": CommandEntry(
        "moot.cli.read.status:status", "Run", "Show what needs you, who is working and what was done."
    ),
    "help": CommandEntry("moot.cli.read.help:help_", "Self", "Show help on a command or a topic."),
    "completion": CommandEntry(
        "moot.cli.completion.script:completion", "Self", "Print the completion script for a shell."
    ),
    "version": CommandEntry("moot.cli.read.help:version", "Self", "Print the version."),
    "explain": CommandEntry("moot.cli.read.explain:explain", "Self", "Explain an error code."),
}
ALIASES: Final = {
    "agent": "agents",
    "conversation": "conv",
    "conversations": "conv",
    "groups": "group",
    "key": "keys",
    "token": "tokens",
    "link": "links",
    "limit": "limits",
    "task": "tasks",
    "decision": "decisions",
    "decide": "decisions",
    "note": "notes",
    "backups": "backup",
    "model": "models",
    "serve": "up",
}
