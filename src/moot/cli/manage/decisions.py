"""`moot decisions`: what agents ask you to decide, and your answer."""

from __future__ import annotations

import click

from moot import shapes
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.params import AT_LEAST_1, Branch
from moot.cli.frame.session import Session
from moot.cli.terminal.screen import ago

STATES = ("open", "answered", "expired", "used")


@click.group(
    "decisions",
    cls=Branch,
    examples=("moot decisions list", "moot decisions answer d1m7 yes"),
    short_help="Answer the decisions that agents ask you for.",
    aliases={"take": "answer"},
)
def decisions() -> None:
    """Answer the decisions that agents ask you for."""


@decisions.command("list", examples=("moot decisions list", "moot decisions list --state open --json"))
@click.option("--state", type=click.Choice(STATES), help="Only decisions in this state.")
@click.option("--before", metavar="ID", help="Only those older than this one.")
@click.option(
    "--limit",
    type=AT_LEAST_1,
    default=100,
    metavar="N",
    help="Maximum number of results, the newest (default 100).",
)
@click.pass_obj
def list_(session: Session, state: str | None, before: str | None, limit: int) -> None:
    """List the decisions you were asked for, oldest first."""
    rows = with_reading(session, lambda hub: hub.decisions.list(state=state, before=before, limit=limit))
    if session.json:
        session.screen.data([one.to_dict() for one in rows])
    elif not rows:
        session.screen.note("nothing to decide")
    else:
        session.screen.table(
            ("id", "state", "asked by", "question", "choices", "when"),
            [
                (
                    d.id,
                    d.state,
                    d.by,
                    " ".join(d.question.split())[:100],
                    ", ".join(d.choices),
                    ago(d.created_at),
                )
                for d in rows
            ],
        )
        if len(rows) == limit:
            session.screen.note(f"older ones: add --before {rows[0].id}")


@decisions.command("show", examples=("moot decisions show d1m7", "moot decisions show d1m7 --json"))
@click.argument("id")
@click.pass_obj
def show(session: Session, id: str) -> None:
    """Show a decision."""
    _tell(session, with_reading(session, lambda hub: hub.decisions.get(id)))


@decisions.command(
    "answer", examples=("moot decisions answer d1m7 yes", "moot decisions answer d1m7 2 --json")
)
@click.argument("id")
@click.argument("answer")
@click.pass_obj
def answer(session: Session, id: str, answer: str) -> None:
    """Answer a decision: with a choice or its number, or with any text if it has no choices. The beginning of its id is
    enough if no other begins so."""
    _tell(session, with_hub(session, lambda hub: hub.decisions.answer(id, answer)))


def _tell(session: Session, decision: shapes.PersonsDecision) -> None:
    if session.json:
        session.screen.data(decision.to_dict())
        return
    session.screen.say(f"{decision.id}: {decision.by} asks {decision.to}, {decision.state}")
    session.screen.say(f"  {decision.question}")
    for number, choice in enumerate(decision.choices, 1):
        session.screen.say(f"  {number}. {choice}")
    if decision.answer:
        session.screen.say(f"  answer: {decision.answer}")
