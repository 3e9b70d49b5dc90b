"""`moot status`: where things stand, as text: what needs you, who works, what is done, and the hub."""

import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from moot import shapes
from moot.cli.frame.hints import first
from moot.cli.frame.hub_access import home_of, with_hub, with_reading
from moot.cli.frame.params import AT_LEAST_1, leaf
from moot.cli.frame.session import Session
from moot.cli.run.welcome import shown
from moot.cli.talk.absence import to_bring_back
from moot.cli.terminal.screen import Screen, clock_time, safe
from moot.cli.terminal.watch import watch
from moot.errors import BadSettings, MootError
from moot.hub import Hub
from moot.hub.process.hub_lock import running_hub
from moot.model.json import JsonObject
from moot.settings import Home
from moot.wiring import concerns

DONE_SECONDS = 24 * 3600
DEFAULT_ROWS = 10
SHOWN = 60
FAILED = ("failed", "expired")
OPEN = ("running", "ready", "held", "waiting")
LOOKED_AT = 20
"""Conversations in which agents may have been stopped: the newest ones."""


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
        try:
            found = with_reading(session, lambda hub: standing(hub, home, limit))
        except BadSettings as problem:
            if running is None:
                raise
            found = _under_a_broken_file(session, problem)
        return {"home": str(home.path), "hub": running, **found}

    def tell(found: JsonObject) -> None:
        show(session.screen, found)

    if watched:
        watch(session, look, tell, dict)
    elif session.json:
        session.screen.data(look())
    else:
        tell(look())


async def standing(hub: Hub, home: Home, limit: int) -> JsonObject:
    names = {place.id: place.name for place in await hub.conversations.list()}
    put_away = {place.id: place.name for place in await hub.conversations.list(archived=True)}
    turns = await hub.turns()
    recent = datetime.fromtimestamp(time.time() - DONE_SECONDS, UTC).isoformat()
    agents = await hub.agents.list()
    known = {agent.name: agent for agent in agents}
    turns = [turn for turn in turns if turn.agent in known]  # nobody can do anything for one that was removed
    ended = [turn for turn in turns if (turn.ended_at or "") >= recent]
    open_turns = [turn for turn in turns if turn.state in OPEN]
    cut_off = [turn for turn in open_turns if _is_cut_off(turn, known[turn.agent])]
    return {
        "agents": [_agent(agent) for agent in agents],
        "needs_you": [
            *_broken(hub, home, agents),
            *await _unread(hub, names),
            *_failed(ended, names, put_away),
            *await _paused(hub),
            *await _owed(hub, [turn for turn in turns if turn.state == "owed"], names),
            *[_left(turn, names) for turn in cut_off],
        ][:limit],
        "working": [_turn(turn, names) for turn in open_turns if turn not in cut_off][:limit],
        "done": [_turn(turn, put_away | names) for turn in reversed(ended) if turn.state == "said"][:limit],
    }


def _under_a_broken_file(session: Session, problem: BadSettings) -> JsonObject:
    """A running hub goes on under the settings that were good: what it knows, and what is wrong with the file."""
    agents: list[shapes.Agent] = []
    with suppress(MootError):
        agents = with_hub(session, lambda hub: hub.agents.list())
    wrong = {"what": "broken", "agent": "", "error": problem.title, "fix": first(problem.fix)}
    rows: list[JsonObject] = []
    return {
        "agents": [_agent(agent) for agent in agents],
        "needs_you": [wrong],
        "working": rows,
        "done": rows,
    }


def _is_cut_off(turn: shapes.Turn, agent: shapes.Agent) -> bool:
    """Whether nobody works on it any more: the process that did is gone."""
    return turn.state in ("running", "ready") and agent.kind == "agent" and agent.status == "offline"


def _left(turn: shapes.Turn, names: dict[str, str]) -> JsonObject:
    return {"what": "left", **_turn(turn, names), "fix": "moot up"}


async def _paused(hub: Hub) -> list[JsonObject]:
    """Where agents were stopped by a limit of theirs and nobody has said anything since."""
    places = sorted(await hub.conversations.list(), key=lambda place: place.updated_at or "", reverse=True)
    found: list[JsonObject] = []
    for place in places[:LOOKED_AT]:
        for last in await hub.newest(place.id, 1):
            if last.metadata.get("notice") == "brake":
                where = {"conversation": place.name, "message": last.to_dict()}
                found.append({"what": "paused", **where, "fix": f"moot conv continue {place.name}"})
    return found


def _agent(agent: shapes.Agent) -> JsonObject:
    state = "away" if agent.status == "offline" else str(agent.activity["label"])
    if agent.kind == "external" and agent.reachability == "on-demand" and agent.queue:
        state = f"reads on demand ({agent.queue} waiting)"
    return {"name": agent.name, "state": state, "queue": agent.queue}


async def _unread(hub: Hub, names: dict[str, str]) -> list[JsonObject]:
    """Per conversation, how much was not read and what came last."""
    last: dict[str, shapes.Message] = {}
    count: dict[str, int] = {}
    for each in await hub.inbox(unread=True, limit=1000):
        where = each.message.conversation
        last[where], count[where] = each.message, count.get(where, 0) + 1
    return [
        {
            "what": "unread",
            "conversation": names.get(where, where),
            "count": count[where],
            "message": message.to_dict(),
            "fix": f"moot chat --conv {names.get(where, where)}",
        }
        for where, message in last.items()
    ]


def _broken(hub: Hub, home: Home, agents: list[shapes.Agent]) -> list[JsonObject]:
    """Agents that cannot answer as they are set up. Only the code of one that a hub should host, and does not, is run
    to tell what is wrong with it."""
    away = {name for agent in agents if agent.status == "offline" for name in (agent.name, *agent.aliases)}
    missed = {row.name for row in hub.settings.agents if row.autostart and row.name in away}
    return [
        {"what": "broken", "agent": concern.agent, "error": concern.text, "fix": first(concern.fix)}
        for concern in concerns(hub.settings, home, loads=missed if running_hub(home) else ())
        if concern.silent
    ]


def _failed(turns: list[shapes.Turn], names: dict[str, str], put_away: dict[str, str]) -> list[JsonObject]:
    """What failed, and was not made up for since: by a later turn there, or anywhere for a question that is put
    away by now (`moot send` archives its own conversation)."""
    in_order = sorted(turns, key=lambda turn: turn.ended_at or "")
    newest = {(turn.agent, turn.conversation): turn for turn in in_order}
    last = {turn.agent: turn for turn in in_order}
    found = [turn for (_, where), turn in newest.items() if where in names]
    found += [turn for turn in last.values() if turn.conversation in put_away]
    return [
        {
            "what": "failed",
            **_turn(turn, put_away | names),
            "error": turn.error,
            "fix": f"moot conv retry {names[turn.conversation]}"
            if turn.conversation in names
            else f"moot turn show {turn.id}",
        }
        for turn in found
        if turn.state in FAILED
    ]


async def _owed(hub: Hub, turns: list[shapes.Turn], names: dict[str, str]) -> list[JsonObject]:
    """What waits for somebody who is away, and the command that brings them back, where one does."""
    return [
        {
            "what": "away",
            **_turn(turn, names),
            "fix": await to_bring_back(hub, [await hub.agents.get(turn.agent)]),
        }
        for turn in turns
    ]


def _turn(turn: shapes.Turn, names: dict[str, str]) -> JsonObject:
    return {
        "agent": turn.agent,
        "conversation": names.get(turn.conversation, turn.conversation),
        "state": turn.state,
        "turn": turn.id,
        "since": turn.started_at,
        "at": turn.ended_at,
    }


def show(screen: Screen, found: JsonObject) -> None:
    hub = found["hub"]
    state = (
        f"running (pid {hub['pid']})" if hub else f"not running; start it with {screen.command('moot up')}"
    )
    screen.say(f"hub      {state}")
    people = ", ".join(f"{agent['name']} {agent['state']}" for agent in found["agents"])
    screen.say(f"agents   {people or 'none yet'}")
    screen.say(f"home     {shown(Path(found['home']))}")
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
        case "unread":
            text = row["message"]["text"].strip().splitlines()[0][:SHOWN]
            sentence = f"{row['conversation']}: {row['count']} new, {row['message']['from']}: {text}"
        case "failed":
            sentence = f"{row['conversation']}: {row['agent']} failed: {row['error']}"
        case "broken":
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
