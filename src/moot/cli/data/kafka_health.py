"""What `moot doctor` says of Kafka, if a home publishes to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.cli.frame.hints import first
from moot.cli.run.doctor_line import BAD, OK, WARN, DoctorLine
from moot.cli.terminal.screen import count_words
from moot.errors import BadSettings, MootError, StoreUnwritable
from moot.log_outside import has_kafka, kafka_report
from moot.settings import Home, load
from moot.wiring import storage

if TYPE_CHECKING:
    from moot.logs.kafka.report import KafkaReport

REBUILD = "moot kafka rebuild"
ALLOW = (
    "give the account of log.url the rights of docs/howto/tell-kafka.md, or mend the settings of the topic"
)
NOT_PUBLISHED = "nothing is published for its agent, which is woken by the sweep"


async def kafka(home: Home) -> list[DoctorLine]:
    try:
        settings = load(home)
    except BadSettings:  # reported already
        return []
    if not has_kafka(settings):
        return []
    if not storage(home).exists():
        return [DoctorLine("kafka", OK, "the brokers are asked once there is something to publish")]
    try:
        report = await kafka_report(home)
    except StoreUnwritable:  # another check reports the database
        return []
    except MootError as error:
        return [DoctorLine("kafka", BAD, error.title, first(error.fix))]
    lines = []
    if report.trouble:
        text = f"{report.brokers} does not answer ({report.trouble}); agents are woken by the sweep alone"
        lines.append(DoctorLine("kafka", BAD, text, "start the brokers, or correct log.url in moot.toml"))
    else:
        lines.append(DoctorLine("kafka", OK, f"{report.brokers}, {count_words(len(report.topics), 'topic')}"))
    if report.is_behind:
        text = f"{report.outbox} records wait to be published, the oldest for {report.oldest_seconds:.0f} s"
        lines.append(DoctorLine("kafka", WARN, text, "" if report.trouble else "moot up"))
    lines += _of_topics(report)
    if report.dead_letters:
        text = f"{report.dead_letters} records made no sense; they are in the table dead_letters"
        lines.append(DoctorLine("kafka", WARN, text))
    return lines


def _of_topics(report: KafkaReport) -> list[DoctorLine]:
    lines = [
        DoctorLine(
            "kafka", BAD, f"{name} has other partitions than it was made with; {NOT_PUBLISHED}", REBUILD
        )
        for name in report.repartitioned
    ]
    lines += [
        DoctorLine("kafka", WARN, f"{name} is gone; a running hub makes it again", "moot up")
        for name in report.lost
    ]
    lines += [
        DoctorLine(
            "kafka",
            BAD,
            f"another home writes to {name} too; {NOT_PUBLISHED}",
            "set log.topic_prefix in moot.toml",
        )
        for name in report.taken
    ]
    return lines + [
        DoctorLine("kafka", BAD, f"the brokers refuse {one.topic} ({one.reason}); {NOT_PUBLISHED}", ALLOW)
        for one in report.refused
    ]
