"""`moot status`: where things stand, as text: what needs you, who works, what is done, and the hub."""

from pathlib import Path

import click

from moot import shapes
from moot.cli.frame.hints import first
from moot.cli.frame.hub_access import home_of, with_reading
from moot.cli.frame.params import AT_LEAST_1, leaf
from moot.cli.frame.session import Session
from moot.cli.run.welcome import tilde_path
from moot.cli.terminal.phrases import budget_line
from moot.cli.terminal.screen import Screen, clock_time, safe
from moot.cli.terminal.spawn_tree import tree_lines
from moot.cli.terminal.watch import watch
from moot.errors import BadSettings
from moot.hub import Hub
from moot.hub.process.hub_lock import running_hub
from moot.model.hint import from_data
from moot.model.json import JsonObject

DEFAULT_ROWS = 10
MAX_TEXT_CHARACTERS = 60


@leaf("status", examples=("moot status", "moot status --json"))
@click.option("--watch", "watched", is_flag=True, help="Keep it on screen and update it until interrupted.")
@click.option(
    "--limit",
    type=AT_LEAST_1,
    default=DEFAULT_ROWS,
    metavar="N",
    help="Maximum number of entries per section (default 10).",
)
def status(session: Session, watched: bool, limit: int) -> None:
    """Show what needs you, who is working and what was done."""

    def look() -> JsonObject:
        home = home_of(session)
        running = running_hub(home)
        report = with_reading(session, lambda hub: standing(hub, limit))
        if session.broken_settings is not None:
            report["needs_you"] = [_broken_row(session.broken_settings), *report["needs_you"]]
        return {"home": str(home.path), "hub": running, **report}

    def tell(report: JsonObject) -> None:
        show(session.screen, report)

    if watched:
        watch(session, look, tell, dict)
    elif session.json:
        session.screen.data(look())
    else:
        tell(look())


async def standing(hub: Hub, limit: int) -> JsonObject:
    now = await hub.operator.now(limit=limit)
    return {
        "agents": [agent.to_dict() for agent in now.agents],
        "needs_you": [_as_command(row) for row in now.needs_you],
        "working": [_as_command(row) for row in now.working],
        "done": [_as_command(row) for row in now.done],
        "brakes": [brake.to_dict() for brake in now.brakes],
        "budgets": [budget.to_dict() for budget in now.budgets],
        "started": [one.to_dict() for one in await hub.agents.tree() if one.ended_at is None],
    }


def _as_command(row: shapes.NowRow) -> JsonObject:
    """A row with the first command that helps, and without empty fields."""
    fields = {key: value for key, value in row.to_dict().items() if value not in ("", None, 0)}
    return {"agent": "", "at": None, "since": None, **fields, "fix": first(from_data(row.fix))}


def _broken_row(problem: BadSettings) -> JsonObject:
    """A row for a broken moot.toml, while the hub continues with the last good settings."""
    return {"what": "broken", "agent": "", "error": problem.title, "fix": first(problem.fix)}


def show(screen: Screen, report: JsonObject) -> None:
    hub = report["hub"]
    state = (
        f"running (pid {hub['pid']})" if hub else f"not running; start it with {screen.command('moot up')}"
    )
    screen.say(f"hub      {state}")
    people = ", ".join(f"{agent['name']} {agent['state']}" for agent in report["agents"])
    screen.say(f"agents   {people or 'none yet'}")
    screen.say(f"home     {tilde_path(Path(report['home']))}")
    for number, budget in enumerate(report["budgets"]):
        screen.say(f"{'' if number else 'budgets':<9}{safe(budget_line(budget))}")
    for number, line in enumerate(tree_lines(report["started"])):
        screen.say(f"{'' if number else 'started':<9}{line}")
    for title, rows in (
        ("needs you", report["needs_you"]),
        ("working", report["working"]),
        ("done", report["done"]),
    ):
        screen.say(f"\n{screen.strong(title)}")
        for row in rows:
            left, right = _line(row)
            screen.say(screen.beside(f"  {safe(left)}", screen.command(right)))
        if not rows:
            screen.say(screen.dim("  nothing"))


def _line(row: JsonObject) -> tuple[str, str]:
    """What it is, and what can be done about it."""
    match row.get("what"):
        case "question":
            question = " ".join(row["decision"]["question"].split())
            sentence = f"{row['conversation']}: {row['agent']} asks: {_shorten(question)}"
        case "unread":
            text = row["message"]["text"].strip().splitlines()[0][:MAX_TEXT_CHARACTERS]
            sentence = f"{row['conversation']}: {row['count']} new, {row['message']['from']}: {text}"
        case "failed":
            sentence = f"{row['conversation']}: {row['agent']} failed: {row['error']}"
        case "broken" | "worktree" | "quarantine":
            sentence = row["error"]
        case "paused":
            sentence = f"{row['conversation']}: {row['message']['text'].strip('[]')}"
        case "left":
            sentence = f"{row['conversation']}: {row['agent']} was at work when its process ended"
        case "away":
            sentence = f"{row['conversation']}: {row['agent']} is away; a message is waiting for it"
        case _:
            at = clock_time(row["at"] or row["since"])
            return (
                f"{at}  {row['agent']} in {row['conversation']}{'' if row['at'] else ', ' + row['state']}",
                "",
            )
    return sentence, row["fix"]


def _shorten(text: str) -> str:
    """The beginning and the end of a text: the question itself is usually at the end."""
    return (
        text
        if len(text) <= 2 * MAX_TEXT_CHARACTERS
        else f"{text[:MAX_TEXT_CHARACTERS]} … {text[-MAX_TEXT_CHARACTERS:]}"
    )
