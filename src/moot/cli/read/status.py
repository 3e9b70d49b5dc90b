"""`moot status`: where things stand, as text: what needs you, who works, what is done, and the hub."""

from pathlib import Path

import click

from moot import shapes
from moot.cli.frame.hints import first
from moot.cli.frame.hub_access import home_of, with_reading
from moot.cli.frame.params import AT_LEAST_1, leaf
from moot.cli.frame.session import Session
from moot.cli.run.welcome import shown
from moot.cli.terminal.phrases import budget_line
from moot.cli.terminal.screen import Screen, clock_time, safe
from moot.cli.terminal.watch import watch
from moot.errors import BadSettings
from moot.hub import Hub
from moot.hub.process.hub_lock import running_hub
from moot.model.hint import from_data
from moot.model.json import JsonObject

DEFAULT_ROWS = 10
SHOWN = 60


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
        found = with_reading(session, lambda hub: standing(hub, limit))
        if session.broken_settings is not None:
            found["needs_you"] = [_broken(session.broken_settings), *found["needs_you"]]
        return {"home": str(home.path), "hub": running, **found}

    def tell(found: JsonObject) -> None:
        show(session.screen, found)

    if watched:
        watch(session, look, tell, dict)
    elif session.json:
        session.screen.data(look())
    else:
        tell(look())


async def standing(hub: Hub, limit: int) -> JsonObject:
    found = await hub.operator.now(limit=limit)
    return {
        "agents": [agent.to_dict() for agent in found.agents],
        "needs_you": [_as_command(row) for row in found.needs_you],
        "working": [_as_command(row) for row in found.working],
        "done": [_as_command(row) for row in found.done],
        "brakes": [brake.to_dict() for brake in found.brakes],
        "budgets": [budget.to_dict() for budget in found.budgets],
    }


def _as_command(row: shapes.NowRow) -> JsonObject:
    """With the command that helps instead of all ways out; what does not apply is left out."""
    fields = {key: value for key, value in row.to_dict().items() if value not in ("", None, 0)}
    return {"agent": "", "at": None, "since": None, **fields, "fix": first(from_data(row.fix))}


def _broken(problem: BadSettings) -> JsonObject:
    """What is wrong with the file, while a hub goes on under the settings that were good."""
    return {"what": "broken", "agent": "", "error": problem.title, "fix": first(problem.fix)}


def show(screen: Screen, found: JsonObject) -> None:
    hub = found["hub"]
    state = (
        f"running (pid {hub['pid']})" if hub else f"not running; start it with {screen.command('moot up')}"
    )
    screen.say(f"hub      {state}")
    people = ", ".join(f"{agent['name']} {agent['state']}" for agent in found["agents"])
    screen.say(f"agents   {people or 'none yet'}")
    screen.say(f"home     {shown(Path(found['home']))}")
    for number, budget in enumerate(found["budgets"]):
        screen.say(f"{'' if number else 'budgets':<9}{safe(budget_line(budget))}")
    for title, rows in (
        ("needs you", found["needs_you"]),
        ("working", found["working"]),
        ("done", found["done"]),
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
            sentence = f"{row['conversation']}: {row['agent']} asks: {_shortened(question)}"
        case "unread":
            text = row["message"]["text"].strip().splitlines()[0][:SHOWN]
            sentence = f"{row['conversation']}: {row['count']} new, {row['message']['from']}: {text}"
        case "failed":
            sentence = f"{row['conversation']}: {row['agent']} failed: {row['error']}"
        case "broken" | "worktree":
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


def _shortened(text: str) -> str:
    """Its beginning and its end: what is asked for stands last."""
    return text if len(text) <= 2 * SHOWN else f"{text[:SHOWN]} … {text[-SHOWN:]}"
