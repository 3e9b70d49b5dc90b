"""`moot init`: the first moot.toml and a workspace for every agent. It never writes over anything."""

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click
from msgspec import structs

from moot.brains.command.installed_clis import installed
from moot.brains.llm.default_model import DEFAULTS, LOCAL_URL, local_server_answers, with_keys
from moot.brains.llm.keys import ANTHROPIC, KeyRing, as_holder
from moot.cli.frame.params import Number, leaf
from moot.cli.frame.session import Session
from moot.cli.run.welcome import tilde_path
from moot.cli.terminal.screen import count_words
from moot.errors import BadName, BadValue, Conflict
from moot.rules.brain_kinds import is_cli
from moot.rules.words.names import NameProblem, check_name, unique_slug
from moot.settings.home import Home, find_home
from moot.settings.load import load, parse
from moot.settings.schema.constraints import BRAIN
from moot.settings.starter import MAX_ROLE_CHARACTERS, StarterAgent, first_toml, write_new, write_workspace

DEMO: Final = "demo"
CLI: Final = "command:"
NOBODY_NAMED: Final = "helper: answers questions"


@leaf("init", examples=("moot init", 'moot init --yes --agent "arya: backend engineer"'))
@click.option("--yes", is_flag=True, help="Ask no questions: use the options given and the defaults.")
@click.option(
    "--agent", "agents", multiple=True, metavar='"NAME: ROLE"', help="An agent to create; can be repeated."
)
@click.option("--user", metavar="NAME", help="Your name (default user).")
@click.option("--brain", metavar="BRAIN", help="The agents' model or other brain (default demo).")
@click.option(
    "--project", metavar="DIR", help="The folder they work in (default for a coding CLI: the current one)."
)
def init(session: Session, yes: bool, agents: tuple[str, ...], **options: str | None) -> None:
    """Set up Moot: your name, your first agents and their model.

    Writes moot.toml and a workspace for each agent. Existing files are never changed.
    """
    home = Home(find_home(session.home_option, os.environ))
    user, brain, project = options["user"], options["brain"], options["project"]
    if not yes and (session.json or not sys.stdin.isatty()):
        raise BadValue(
            "setting up asks three questions, and there is no terminal to ask on",
            detail="--yes takes the defaults and the options given",
            fix=('moot init --yes --agent "NAME: ROLE"', "moot init -h"),
        )
    if not yes and home.toml.exists():
        _tell_what_is_there(session, home, None)
        return
    asking = _Questions(session, home)
    user_name = _user(user or ("user" if yes else asking.name()))
    team = [_agent(line) for line in agents or ((NOBODY_NAMED,) if yes else asking.agents(user_name))]
    _check_names(team, user_name)
    thinking = _brain(brain or (DEMO if yes else asking.brain()))
    asks = is_cli(thinking) and not yes and project is None
    team = [
        structs.replace(
            agent,
            brain=thinking,
            project=asking.folder(agent.name) if asks else _folder(home, thinking, project),
        )
        for agent in team
    ]
    text = first_toml(user_name, team)
    parse(text.encode(), os.environ, file=str(home.toml), folder=home.path)
    if home.toml.exists():
        _refuse_to_add(home, team if agents else ())
        _tell_what_is_there(session, home, text)
        return
    files = _write(home, text, team, user_name)
    _tell(session, home, [agent.name for agent in team], thinking, files)


# --- what is wanted ----------------------------------------------------------------------------------------


def _user(name: str) -> str:
    try:
        check_name(name, taken=(), human="human")
    except NameProblem as problem:
        raise BadName(
            f'"{name}" cannot be used as your name',
            detail=f"expected {problem.expected}",
            suggestions=problem.suggestions,
        ) from None
    return name


def _agent(line: str) -> StarterAgent:
    name, _, role = line.partition(":")
    role = " ".join(role.split())
    if len(role) > MAX_ROLE_CHARACTERS:
        raise BadValue(f"the role of {name.strip()} is longer than {MAX_ROLE_CHARACTERS} characters")
    return StarterAgent(name.strip().lstrip("@"), role)


def _check_names(team: Sequence[StarterAgent], user: str) -> None:
    used_names: list[str] = []
    for agent in team:
        try:
            check_name(agent.name, taken=used_names, human=user)
        except NameProblem as problem:
            raise BadName(
                f'"{agent.name}" cannot be used as an agent name: {problem.reason}',
                detail=f"expected {problem.expected}",
                suggestions=problem.suggestions,
            ) from None
        used_names.append(agent.name)


def _brain(brain: str) -> str:
    if not BRAIN.fits(brain):
        raise BadValue(f'unknown brain "{brain}"', detail=f"expected {BRAIN.phrase}")
    return brain


def _folder(home: Home, brain: str, folder_name: str | None) -> str:
    """Where a coding CLI works: in the folder that is given, else in the current one."""
    if folder_name is None and not is_cli(brain):
        return ""
    folder = Path(folder_name or ".").expanduser().resolve()
    if not folder.is_dir():
        raise BadValue(
            f"{folder} is not a folder", detail="expected one that exists", fix=(f"mkdir -p {folder}",)
        )
    if how := home.overlaps(folder):
        raise BadValue(
            f"{folder} {how}", detail="expected a folder outside it", fix=("moot init --project DIR",)
        )
    return str(folder)


class _Questions:
    """The three questions, for people at a terminal. A wrong answer is asked again."""

    def __init__(self, session: Session, home: Home) -> None:
        self._screen = session.screen
        self._ring = KeyRing(os.environ, home.keys)
        self._home = home

    def name(self) -> str:
        return self._until_right("1/3  Your name", _user, default="user")

    def agents(self, user: str) -> tuple[str, ...]:
        self._screen.note("2/3  First agents (name: role, empty line ends)")
        lines: list[str] = []
        while line := click.prompt(
            "    ", default="", show_default=False, prompt_suffix=" ", err=True
        ).strip():
            try:
                _check_names([_agent(each) for each in (*lines, line)], user)
            except (BadName, BadValue) as problem:
                self._say_problem(problem)
            else:
                lines.append(line)
        return tuple(lines) or (NOBODY_NAMED,)

    def brain(self) -> str:
        choices = {"demo, offline, for now": lambda: DEMO}
        for model, key_entry in with_keys(self._ring).items():
            choices[f"{model}, with the key {key_entry.key.ending}"] = lambda model=model: model  # type: ignore[misc]
        choices["paste a key"] = self._with_key
        near = " (one is running)" if local_server_answers() else ""
        choices[f"a server of your own, such as Ollama{near}"] = self._with_server
        for program, brain in installed(os.environ).items():
            choices[f"{program}, a coding agent that is installed here"] = lambda brain=brain: brain  # type: ignore[misc]
        self._screen.note("3/3  Brain for them")
        for number, words in enumerate(choices, 1):
            self._screen.note(f"     [{number}] {words}")
        choice: int = click.prompt("    ", type=Number(1, maximum=len(choices)), default=1, err=True)
        return list(choices.values())[choice - 1]()

    def folder(self, name: str) -> str:
        return self._until_right(
            f"     folder in which {name} works",
            lambda typed: _folder(self._home, CLI, typed),
            default=str(Path.cwd()),
        )

    def _with_key(self) -> str:
        choices = click.Choice(list(DEFAULTS))
        provider = as_holder(click.prompt("     provider", type=choices, default=ANTHROPIC, err=True))
        key = click.prompt("     key (hidden)", hide_input=True, err=True)
        self._home.make()
        stored_key = self._ring.store(provider, key)
        self._screen.note(
            f"     key {stored_key.key.ending} stored in {tilde_path(self._home.keys)}, mode 600"
        )
        return DEFAULTS[provider]

    def _with_server(self) -> str:
        url = click.prompt("     address", default=LOCAL_URL, err=True)
        return self._until_right("     model", lambda model: _brain(f"openai:{model}@{url}"))

    def _until_right(self, question: str, check: Callable[[str], str], default: str | None = None) -> str:
        while True:
            try:
                return check(click.prompt(question, default=default, err=True).strip())
            except (BadName, BadValue) as problem:
                self._say_problem(problem)

    def _say_problem(self, problem: BadName | BadValue) -> None:
        """Each on a line of its own: what was wrong, what is expected, what comes near."""
        for line in (problem.title, problem.detail):
            if line:
                self._screen.note(f"     {line}")
        if problem.suggestions:
            self._screen.note(f"     {' or '.join(problem.suggestions[:2])} would do")


# --- writing -----------------------------------------------------------------------------------------------


def _write(home: Home, text: str, team: Sequence[StarterAgent], user: str) -> list[Path]:
    """The workspaces first: moot.toml is what makes a home set up."""
    home.make()
    files: list[Path] = []
    used_ids: list[str] = []
    for agent in team:
        identity = unique_slug(agent.name, used_ids)
        used_ids.append(identity)
        files += write_workspace(home.agents / identity, agent, user)
    if write_new(home.toml, text):
        files.append(home.toml)
    return files


# --- telling -----------------------------------------------------------------------------------------------


def _tell(session: Session, home: Home, names: list[str], brain: str, files: list[Path]) -> None:
    commands = [(session.screen.command(way), words) for way, words in next_commands(names, brain)]
    if session.json:
        result = {
            "path": str(home.toml),
            "written": True,
            "agents": names,
            "files": [str(path) for path in files],
        }
        session.screen.data({**result, "next": [command for command, _ in commands]})
        return
    screen = session.screen
    screen.say(f"✓ wrote {tilde_path(home.toml)}")
    screen.say(
        f"✓ created {', '.join(names)} (brain: {brain}); {tilde_path(home.agents)}/NAME/*.md say who they are"
    )
    width = max(len(command) for command, _ in commands)
    for number, (command, words) in enumerate(commands):
        screen.say(f"{'Next: ' if number == 0 else '      '} {command:<{width}}   {words}")


def next_commands(names: list[str], brain: str) -> list[tuple[str, str]]:
    last = ("moot keys set anthropic", "use a model instead of the demo brain")
    if is_cli(brain):
        last = ("moot doctor cli", "check that it is logged in and new enough")
    elif brain != DEMO:
        last = ("moot doctor", "check the installation")
    return [
        (f"moot chat {' '.join(names[:3])}", "talk with them"),
        ("moot open", "talk with them in your browser"),
        ("moot up", "keep them running until you stop them"),
        last,
    ]


def _refuse_to_add(home: Home, team: Sequence[StarterAgent]) -> None:
    """Refuse agents that the existing file does not have: another command adds them."""
    existing = {row.name for row in load(home).agents}
    missing = [agent for agent in team if agent.name not in existing]
    if missing:
        ways = (f'moot agents new {agent.name} --role "{agent.role}"' for agent in missing)
        raise Conflict(
            f"{tilde_path(home.toml)} already exists, so {', '.join(agent.name for agent in missing)} was not added",
            detail=f"agents there: {', '.join(sorted(existing)) or 'none'}. Nothing was changed",
            fix=tuple(ways),
        )


def _tell_what_is_there(session: Session, home: Home, text: str | None) -> None:
    """A second run changes nothing, and shows how the existing file differs from what was asked for."""
    settings = load(home)
    names = [agent.name for agent in settings.agents]
    there = home.toml.read_text(encoding="utf-8", errors="replace")
    lines = (
        ()
        if text is None
        else difflib.unified_diff(
            there.splitlines(), text.splitlines(), "moot.toml", "as asked for now", lineterm=""
        )
    )
    diff = "\n".join(lines)
    if session.json:
        session.screen.data({"path": str(home.toml), "written": False, "agents": names, "diff": diff})
        return
    screen = session.screen
    screen.say(
        f"{tilde_path(home.toml)} already exists, with {count_words(len(names), 'agent')}: "
        f"{', '.join(names) or 'none'}."
    )
    screen.say("Nothing was changed. To change it: moot config set KEY VALUE, or moot config edit")
