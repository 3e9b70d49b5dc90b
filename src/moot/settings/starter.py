"""The first moot.toml, with comments for people, and the first files of an agent's workspace.

Above: `moot init`, `moot agents new`. Below: toml/edits.py, which writes values as TOML.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from moot import files
from moot.settings.toml.edits import literal

MAX_ROLE_CHARACTERS = 500


class StarterAgent(Struct, frozen=True):
    name: str
    role: str = ""
    brain: str = "demo"
    project: str = ""
    """The folder it works in; a coding CLI needs one."""


HEAD = """\
# Moot's settings. Everything is optional: what is left out has its default.
# All settings with their values: moot config list        Change one: moot config set KEY VALUE

[hub]
user = {user}        # your name

# How groups take turns; each can be set for one conversation: moot conv config NAME KEY VALUE
[groups]
# reply_strategy = "hybrid"            # hybrid | mention_only | round_robin
# max_agent_turns_per_message = 3      # maximum number of agent turns for one message

# What the hub does to keep this folder tidy; see moot config get housekeeping.archive_after_days
[housekeeping]
# archive_after_days = 30              # archive quiet conversations; they can be unarchived
# backup_every_hours = 24              # back up into backups/; the newest 7 are kept
"""

AGENT = """
[[agents]]
name = {name}
role = {role}
brain = {brain}       # demo | anthropic:MODEL | openai:MODEL | openai:MODEL@URL | command:claude | code:module:function
# tools = ["shell:git,ls"]             # programs it may run, in a sandbox, inside its project
{project}              # the folder it works in, outside this one
"""
NO_PROJECT = '# project = "~/work/site"'


def first_toml(user: str, agents: Sequence[StarterAgent]) -> str:
    rows = [
        AGENT.format(
            name=literal(agent.name),
            role=_plain(agent.role),
            brain=literal(agent.brain),
            project=f"project = {_plain(agent.project)}" if agent.project else NO_PROJECT,
        )
        for agent in agents
    ]
    return HEAD.format(user=literal(user)) + "".join(rows)


def _plain(text: str) -> str:
    """A text in which `${` is not a reference."""
    return literal(text.replace("${", "$${"))


def identity_files(agent: StarterAgent, user: str) -> dict[str, str]:
    """The files that an agent with a model reads before every turn, for its owner to rewrite."""
    role = agent.role.rstrip(".") or "helps where it can"
    return {
        "SOUL.md": "You are calm and honest. You say what you know, what you guess and what you do not know.\n",
        "IDENTITY.md": f"Your name is {agent.name}. You write short, plain sentences, without flattery.\n",
        "USER.md": f"The person you work for is called {user}.\n",
        "ROLE.md": f"{role[:1].upper()}{role[1:]}.\n\nPass what is not your job to others with @name.\n",
    }


def write_workspace(folder: Path, agent: StarterAgent, user: str) -> list[Path]:
    """Write missing files and return them; existing ones stay as they are."""
    texts = identity_files(agent, user).items()
    return [folder / name for name, words in texts if _is_new(folder.parent, (folder.name, name), words)]


def write_new(path: Path, text: str) -> bool:
    """Write a file if there is none; whether it was written."""
    return _is_new(path.parent, (path.name,), text)


def _is_new(root: Path, parts: tuple[str, ...], text: str) -> bool:
    try:
        files.create_below(root, parts, text.encode())
    except FileExistsError:
        return False
    return True
