"""`moot limits` and `moot guard`: how close agents are to what slows or stops them, before it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.hints import command
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.params import AT_LEAST_1, Branch
from moot.cli.frame.session import Session
from moot.cli.terminal.phrases import budget_line
from moot.cli.terminal.screen import Screen, safe
from moot.cli.terminal.watch import watch
from moot.model.hint import Act, Hint

if TYPE_CHECKING:
    from moot.hub import Hub

WATCH = click.option(
    "--watch", "watched", is_flag=True, help="Keep it on screen and update it until interrupted."
)
SECTION = "limits."


@click.group(
    "limits",
    cls=Branch,
    examples=("moot limits show", "moot limits show arya gendry"),
    short_help="Show how close agents are to their limits, and reset them.",
)
def limits() -> None:
    """Show how close agents are to their limits, and reset them."""


@limits.command("show", examples=("moot limits show", "moot limits show arya gendry --watch"))
@click.argument("source", metavar="[FROM]", required=False)
@click.argument("to", metavar="[TO]", required=False)
@WATCH
@click.pass_obj
def show(session: Session, source: str | None, to: str | None, watched: bool) -> None:
    """Show what each pair of agents, and each agent, has used of its limits."""

    async def work(hub: Hub) -> shapes.BrakeReport:
        ends = await resolve.agents(hub, [name for name in (source, to) if name])
        return _only_between(await hub.limits(), ends)

    _show_report(session, lambda: with_reading(session, work), _tell_limits, watched=watched)


def _only_between(report: shapes.BrakeReport, ends: list[str]) -> shapes.BrakeReport:
    from msgspec import structs  # noqa: PLC0415

    if not ends:
        return report
    first, *second = ends
    pairs = [row for row in report.pairs if row.sender == first and (not second or row.to == second[0])]
    agents = [row for row in report.agents if row.agent in ends]
    return structs.replace(report, pairs=tuple(pairs), agents=tuple(agents))


def _show_report(
    session: Session,
    look: Callable[[], shapes.BrakeReport],
    tell: Callable[[Screen, shapes.BrakeReport], None],
    *,
    watched: bool,
) -> None:
    if watched:
        watch(session, look, lambda report: tell(session.screen, report), lambda report: report.to_dict())
    elif session.json:
        session.screen.data(look().to_dict())
    else:
        tell(session.screen, look())


def _tell_limits(screen: Screen, report: shapes.BrakeReport) -> None:
    if report.pairs:
        rows = [(row.sender, row.to, _of(row.sent, row.max_sent), _now(row)) for row in report.pairs]
        screen.table(("from", "to", "last minute", "a message sent now"), rows)
    else:
        screen.note("no agent has written to another in the last minute")
    if report.agents:
        screen.say()
        screen.table(
            ("agent", "turns this hour", "chains of its own", "new hour in"),
            [
                (
                    row.agent,
                    _of(row.turns, row.max_turns),
                    _of(row.chains, row.max_chains),
                    f"{row.left_seconds / 60:.0f} min",
                )
                for row in report.agents
            ],
        )
    if report.budgets:
        screen.say()
    for budget in report.budgets:
        screen.say(safe(budget_line(budget.to_dict())))
    stopped_chains = [row for row in report.chains if row.stopped]
    for row in stopped_chains:
        screen.note(f"{safe(row.conversation)} is stopped ({row.stopped}): {_way_out(screen, row)}")


def _now(row: shapes.PairLimit) -> str:
    if row.refused_seconds:
        return f"is refused for {row.refused_seconds:.0f} s"
    return f"is held for {row.hold_seconds:.1f} s" if row.hold_seconds else "is delivered at once"


def _of(used: int, limit: int) -> str:
    return f"{used} of {limit}"


@limits.command("reset", examples=("moot limits reset arya gendry", "moot limits reset arya gendry --json"))
@click.argument("source", metavar="FROM")
@click.argument("to", metavar="TO")
@click.pass_obj
def reset(session: Session, source: str, to: str) -> None:
    """Let an agent write to another again at once. Messages that are held already come when they are due."""

    async def work(hub: Hub) -> shapes.PairLimit:
        return await hub.reset_limit(*await resolve.agents(hub, (source, to)))

    row = with_hub(session, work)
    if session.json:
        session.screen.data(row.to_dict())
    else:
        session.screen.say(f"reset: {safe(row.sender)} writes to {safe(row.to)} without delay again")


@limits.command(
    "set", examples=("moot limits set pair_per_minute 20", "moot limits set chain_turns 32 --json")
)
@click.argument("key")
@click.argument("value")
@click.pass_context
def set_(ctx: click.Context, key: str, value: str) -> None:
    """Set a limit in moot.toml, like moot config set limits.KEY VALUE."""
    _set(ctx, SECTION + key.removeprefix(SECTION), value)


def _set(ctx: click.Context, key: str, value: str) -> None:
    from moot.cli.manage import config  # noqa: PLC0415

    ctx.invoke(config.set_, key=key, value=value)


# --- loops -----------------------------------------------------------------------------------------------


@click.group(
    "guard",
    cls=Branch,
    examples=("moot guard status", "moot guard set 5 --conv build"),
    short_help="Show how close conversations are to being stopped as loops.",
)
def guard() -> None:
    """Show how close conversations are to being stopped as loops."""


@guard.command("status", examples=("moot guard status", "moot guard status --conv build --watch"))
@click.option("--conv", metavar="ID", help="Only this conversation.")
@WATCH
@click.pass_obj
def status(session: Session, conv: str | None, watched: bool) -> None:
    """Show what the newest chain of each conversation has used, and what stopped it."""

    async def work(hub: Hub) -> shapes.BrakeReport:
        return await hub.limits(conversation=(await resolve.place(hub, conv)).id if conv else None)

    _show_report(session, lambda: with_reading(session, work), _tell_guard, watched=watched)


def _tell_guard(screen: Screen, report: shapes.BrakeReport) -> None:
    if not report.chains:
        screen.note("no agent was asked anything yet")
        return
    screen.table(
        ("conversation", "turns", "depth", "messages", "alike", "round", "state"),
        [
            (
                row.conversation,
                _of(row.turns, row.max_turns),
                _of(row.depth, row.max_depth),
                _of(row.messages, row.max_messages),
                _of(row.alike, row.max_alike),
                _of(row.round, row.max_round) if row.max_round else "-",
                f"stopped: {row.stopped}" if row.stopped else "goes on",
            )
            for row in report.chains
        ],
    )
    for row in report.chains:
        if row.stopped:
            screen.note(f"{safe(row.conversation)}: {_way_out(screen, row)}")


def _way_out(screen: Screen, row: shapes.ChainLimit) -> str:
    return screen.command(command(Hint(Act.CONTINUE_CHAIN, conversation=row.conversation)))


@guard.command("set", examples=("moot guard set 24", "moot guard set 5 --conv build"))
@click.argument("turns", metavar="N", type=AT_LEAST_1)
@click.option("--conv", metavar="ID", help="Agent turns per message of a person, in this conversation.")
@click.pass_context
def set_guard(ctx: click.Context, turns: int, conv: str | None) -> None:
    """Set how many agent turns one message may lead to: overall (limits.chain_turns), or in one conversation."""
    session = ctx.ensure_object(Session)
    if conv is None:
        _set(ctx, f"{SECTION}chain_turns", str(turns))
        return

    async def work(hub: Hub) -> shapes.Conversation:
        where = (await resolve.place(hub, conv)).id
        return await hub.conversations.configure(where, max_agent_turns_per_message=turns)

    conversation = with_hub(session, work)
    if session.json:
        session.screen.data(conversation.to_dict())
    else:
        session.screen.say(f"{safe(conversation.name)}: {turns} agent turns per message")
