"""What `moot doctor` says of Kafka, where a home tells it what happens."""

from __future__ import annotations

from moot.cli.frame.hints import first
from moot.cli.run.doctor_line import BAD, OK, WARN, DoctorLine
from moot.errors import BadSettings, MootError, StoreUnwritable
from moot.log_outside import has_kafka, kafka_report
from moot.settings import Home, load
from moot.wiring import storage

REBUILD = "moot kafka rebuild"
STOPPED = "nothing is published for its agent, which is woken by the sweep"


async def kafka(home: Home) -> list[DoctorLine]:
    try:
        settings = load(home)
    except BadSettings:  # told already
        return []
    if not has_kafka(settings):
        return []
    if not storage(home).exists():
        return [DoctorLine("kafka", OK, "the brokers are asked once there is something to publish")]
    try:
        found = await kafka_report(home)
    except StoreUnwritable:  # of the database it is told elsewhere
        return []
    except MootError as error:
        return [DoctorLine("kafka", BAD, error.title, first(error.fix))]
    lines = []
    if found.trouble:
        text = f"{found.brokers} does not answer ({found.trouble}); agents are woken by the sweep alone"
        lines.append(DoctorLine("kafka", BAD, text, "start the brokers, or correct log.url in moot.toml"))
    else:
        lines.append(DoctorLine("kafka", OK, f"{found.brokers}, {len(found.topics)} topics"))
    if found.is_behind:
        text = f"{found.outbox} records wait to be published, the oldest for {found.oldest_seconds:.0f} s"
        lines.append(DoctorLine("kafka", WARN, text, "" if found.trouble else "moot up"))
    lines += [
        DoctorLine("kafka", BAD, f"{name} has other partitions than it was made with; {STOPPED}", REBUILD)
        for name in found.repartitioned
    ]
    lines += [
        DoctorLine("kafka", WARN, f"{name} is gone; a running hub makes it again", "moot up")
        for name in found.lost
    ]
    lines += [
        DoctorLine(
            "kafka", BAD, f"another home writes to {name} too; {STOPPED}", "set log.topic_prefix in moot.toml"
        )
        for name in found.taken
    ]
    if found.dead_letters:
        text = f"{found.dead_letters} records made no sense; they are in the table dead_letters"
        lines.append(DoctorLine("kafka", WARN, text))
    return lines
