"""`moot decisions`: what agents ask you to decide, and your answer."""

from __future__ import annotations

import click

from moot import shapes
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.cli.terminal.screen import ago

STATES = ("open", "answered", "expired")


@click.group(
    "decisions",
    cls=Branch,
    examples=("moot decisions list", "moot decisions answer d0 yes"),
    short_help="Answer the decisions that agents ask you for.",
    aliases={"take": "answer"},
)
def decisions() -> None:
    """Answer the decisions that agents ask you for."""


@decisions.command("list", examples=("moot decisions list", "moot decisions list --state open --json"))
@click.option("--state", type=click.Choice(STATES), help="Only decisions in this state.")
@click.pass_obj
def list_(session: Session, state: str | None) -> None:
    """List the decisions you were asked for, oldest first."""
    found = with_reading(session, lambda hub: hub.decisions.list(state=state))
    if session.json:
        session.screen.data([one.to_dict() for one in found])
    elif not found:
        session.screen.note("nothing to decide")
    else:
        session.screen.table(
            ("id", "state", "asked by", "question", "choices", "when"),
            [
                (
                    d.id,
                    d.state,
                    d.by,
                    d.question.splitlines()[0][:60],
                    ", ".join(d.choices),
                    ago(d.created_at),
                )
                for d in found
            ],
        )


@decisions.command("show", examples=("moot decisions show d0", "moot decisions show d0 --json"))
@click.argument("id")
@click.pass_obj
def show(session: Session, id: str) -> None:
    """Show a decision."""
    _tell(session, with_reading(session, lambda hub: hub.decisions.get(id)))


@decisions.command("answer", examples=("moot decisions answer d0 yes", "moot decisions answer d0 2 --json"))
@click.argument("id")
@click.argument("answer")
@click.pass_obj
def answer(session: Session, id: str, answer: str) -> None:
    """Answer a decision: with a choice or its number, or with any text if it has no choices."""
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
