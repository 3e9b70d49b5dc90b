"""`moot kafka`: how it stands with the log outside, and beginning anew there."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from moot.cli.frame.confirm import ask_first
from moot.cli.frame.exit_codes import FAILED
from moot.cli.frame.hub_access import home_of, set_up_logs
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.log_outside import kafka_rebuild, kafka_report

if TYPE_CHECKING:
    from moot.logs.kafka.report import KafkaReport


@click.group(
    "kafka",
    cls=Branch,
    examples=("moot kafka status", "moot kafka rebuild --agent arya"),
    short_help="Show topics, lag and what waits for Kafka; rebuild topics.",
)
def kafka() -> None:
    """Show topics, lag and what waits for Kafka; rebuild topics."""


@kafka.command("status", examples=("moot kafka status", "moot kafka status --json"))
@click.pass_obj
def status(session: Session) -> None:
    """Show topics, their lag, and what waits to be published; exit code 1 if the brokers do not answer.

    A topic that the brokers refuse (no rights, say) stops only its own agent's records, and says why.
    """
    set_up_logs(session)
    report = asyncio.run(kafka_report(home_of(session)))
    if session.json:
        session.screen.data(to_builtins(report))
    else:
        _tell(session, report)
    if report.trouble:
        sys.exit(FAILED)


def _tell(session: Session, report: KafkaReport) -> None:
    say = session.screen.say
    say(f"✗ {report.brokers}: {report.trouble}" if report.trouble else f"✓ {report.brokers}")
    waits = f", the oldest for {report.oldest_seconds:.0f} s" if report.outbox else ""
    say(f"{'!' if report.is_behind else '✓'} outbox: {report.outbox} to be published{waits}")
    say(
        f"✓ relay: {report.relay} (fence {report.fence})" if report.relay else "! relay: no process publishes"
    )
    if report.dead_letters:
        say(f"! dead letters: {report.dead_letters}, in the table dead_letters")
    refused = {topic.topic: topic.reason for topic in report.refused}
    placed = {topic.topic for topic in report.topics}
    for name in sorted({*report.taken} - placed):
        say(f"✗ {name}: another home writes to it; nothing is published for its agent")
    for name in sorted(refused.keys() - placed):
        say(f"✗ {name}: the brokers refuse it ({refused[name]}); its agent is woken by the sweep")
    for topic in report.topics:
        state = "gone" if topic.topic in report.lost else ""
        state = state or (
            f"stopped: the brokers refuse it ({refused[topic.topic]})" if topic.topic in refused else ""
        )
        state = state or ("stopped: another home writes to it too" if topic.topic in report.taken else "")
        state = state or ("stopped: partitions were changed" if topic.topic in report.repartitioned else "")
        records = "" if topic.records is None else f"{topic.records} records"
        behind = "" if topic.lag is None else f", {topic.lag} not read"
        say(f"  {topic.topic}  epoch {topic.epoch}  {state or records + behind}")


@kafka.command("rebuild", examples=("moot kafka rebuild", "moot kafka rebuild --agent arya --yes"))
@click.option("--agent", metavar="NAME", help="Only the topic of this agent.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def rebuild(session: Session, agent: str | None, yes: bool) -> None:
    """Begin a new epoch: create new topics, and publish everything again.

    For topics that were changed by hand, or after the database was restored. The old topics stay; delete them with
    Kafka's own tools when nobody reads them any more. A running hub publishes the records, or the next one that starts.
    """
    set_up_logs(session)
    ask_first(yes=yes, what="rebuilding topics")
    if not yes:
        click.confirm("Create new topics and publish everything again?", abort=True, err=True)
    rebuilt = asyncio.run(kafka_rebuild(home_of(session), agent))
    if session.json:
        stopped = [{"topic": trouble.topic, "reason": trouble.reason} for trouble in rebuilt.stopped]
        names = [topic.name for topic in rebuilt.topics]
        session.screen.data({"topics": names, "records": rebuilt.records, "stopped": stopped})
    else:
        for topic in rebuilt.topics:
            session.screen.say(f"✓ {topic.name}  epoch {topic.epoch}")
        for trouble in rebuilt.stopped:
            session.screen.say(
                f"✗ {trouble.topic}: {trouble.reason}; {trouble.agent} stays with its former topic"
            )
        session.screen.say(f"{rebuilt.records} records are to be published")
    if rebuilt.stopped:
        sys.exit(FAILED)
