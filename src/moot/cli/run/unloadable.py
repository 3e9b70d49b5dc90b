"""Agents of moot.toml that cannot be loaded: they are away until somebody fixes that, and senders are told why.

Above: commands that host agents or report how a message ended. Below: wiring says what is wrong with a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from moot.cli.frame.hints import first
from moot.cli.frame.hub_access import home_of
from moot.cli.frame.session import Session
from moot.cli.talk.unanswered import Cause
from moot.cli.terminal.screen import safe
from moot.rules.brain_kinds import CODE, is_cli, kind_of

if TYPE_CHECKING:
    from moot.cli.talk.follow import Outcome
    from moot.hub import Hub
    from moot.settings import AgentSettings, Home, Settings
    from moot.wiring import Concern


def tell_broken(session: Session, broken: Iterable[Concern]) -> None:
    for concern in broken:
        session.screen.note(f"! {safe(concern.text)}")
        if concern.fix:
            session.screen.note(f"  fix   {session.screen.command(first(concern.fix))}")


async def with_load_errors(session: Session, hub: Hub, outcome: Outcome, *, loads: bool = True) -> Outcome:
    """The outcome, with the reasons why absent agents cannot be run. If that holds for all agents that owe an answer,
    it failed: none will come. Without `loads`, no agent's code is run to find out."""
    owing = [row.agent for row in outcome.why.agents if row.state == "owed"]
    absent = [name for cause in outcome.causes if cause.rule == "away" for name in cause.agents]
    if not owing and not absent:
        return outcome
    broken = await _reasons(session, hub, [*owing, *absent], loads=loads)
    if not broken:
        return outcome
    others = [c for c in outcome.causes if c.rule != "away" or not set(c.agents) <= set(broken)]
    hopeless = bool(owing) and set(owing) <= set(broken) and outcome.outcome in ("owed", "queued")
    return structs.replace(
        outcome,
        outcome="failed" if hopeless else outcome.outcome,
        away=tuple(away for away in outcome.away if away.agent.name not in broken),
        causes=(*others, *broken.values()),
    )


async def _reasons(session: Session, hub: Hub, names: Sequence[str], *, loads: bool) -> dict[str, Cause]:
    """The agents that cannot be run, with the reason; outside agents are not ours to load."""
    causes_found: dict[str, Cause] = {}
    for name in dict.fromkeys(names):
        agent = await hub.agents.get(name)
        if agent.kind == "external":
            continue
        rows = {row.name: row for row in hub.settings.agents if _is_loaded_here(row)}
        row = next((rows[alias] for alias in (agent.name, *agent.aliases) if alias in rows), None)
        if row is None:
            continue
        for concern in _obstacles(hub.settings, row, home_of(session), loads=loads):
            text = concern.text.removeprefix(f"agent {row.name}: ")
            causes_found[agent.name] = Cause(
                (agent.name,), "away", f"{agent.name} is away: {text}", first(concern.fix)
            )
    return causes_found


def _is_loaded_here(row: AgentSettings) -> bool:
    return kind_of(row.brain) is CODE or is_cli(row.brain)


def _obstacles(settings: Settings, row: AgentSettings, home: Home, *, loads: bool) -> list[Concern]:
    """Why no process can run this agent. A CLI's program may be on another process's PATH, so it is not looked for."""
    from moot.wiring import concerns, loaded  # noqa: PLC0415  heavy, and only where an agent is away

    if is_cli(row.brain):
        return loaded([row], home)[1]
    alone = structs.replace(settings, agents=(row,))
    return [
        concern
        for concern in concerns(alone, home, loads=None if loads else ())
        if concern.agent == row.name and concern.silent
    ]
