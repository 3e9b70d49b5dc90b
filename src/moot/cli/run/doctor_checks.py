"""The checks of `moot doctor`: one function per subject, each problem with its fix.

Above: doctor.py shows and repairs. Below: the hub's own queries.
A repair is offered only where it cannot lose anything: modes, and files that a process left behind when it died.
"""

from __future__ import annotations

import http.client
import os
import platform
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from moot import __version__, files
from moot.brains.llm.keys import KeyRing
from moot.cli.data.kafka_health import kafka
from moot.cli.frame.hints import first
from moot.cli.manage.models import endpoints
from moot.cli.run.doctor_brains import ask_providers, brains, failed_turns, thinkers
from moot.cli.run.doctor_bridge import bridges_set_up
from moot.cli.run.doctor_line import BAD, OK, WARN, DoctorLine
from moot.cli.run.doctor_machines import machines
from moot.cli.run.welcome import tilde_path
from moot.cli.terminal.screen import count_words
from moot.context.identity import FILES
from moot.doors.http.wire.port_holder import holder_of
from moot.errors import MootError
from moot.host.pings import short
from moot.hub.archive import backups, health
from moot.hub.process import daemons
from moot.hub.process.hub_lock import running_hub
from moot.model.hint import Act, Hint
from moot.settings import Home, Settings, load, not_yet
from moot.wiring import check_places, concerns, storage

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
LITTLE_SPACE = 200 * 1024 * 1024
LEFT_SECONDS = 600
"""An older draft was left by a process that died."""
ANSWER_SECONDS = 5
HEALTHY = 200


async def everything(home: Home) -> list[DoctorLine]:
    """All checks; outside this machine only what is set up is asked: providers, brokers, chat apps."""
    from moot.cli.mcp.clients.doctor_lines import connected_clients  # noqa: PLC0415  it is told what a check is here

    return [
        *_versions(home),
        *_folder(home),
        *_keys(home),
        *_identity(home),
        *_drafts(home),
        *_settings(home),
        *await brains(home),
        *_hub(home),
        *_daemons(home),
        *_port(home),
        *await database(home),
        *await kafka(home),
        *await bridges_set_up(home),
        *await failed_turns(home),
        *await connected_clients(home),
    ]


# --- the home ------------------------------------------------------------------------------------------------


def _versions(home: Home) -> Iterator[DoctorLine]:
    yield DoctorLine("moot", OK, f"{__version__} on Python {platform.python_version()}")
    store_info = storage(home)
    yield DoctorLine(store_info.engine, OK, store_info.version)


def _folder(home: Home) -> Iterator[DoctorLine]:
    where = tilde_path(home.path)
    if not home.path.exists():
        yield DoctorLine("home", OK, f"{where} does not exist yet; it is created when first needed")
        return
    if not os.access(home.path, os.W_OK | os.X_OK):
        yield DoctorLine("home", BAD, f"{where} is not writable", f"chmod u+rwx {home.path}")
        return
    mode = stat.S_IMODE(home.path.stat().st_mode)
    if mode & ~PRIVATE_FOLDER:
        text = f"{where} is accessible to other users (mode {mode:04o})"
        yield DoctorLine(
            "home", WARN, text, f"chmod 700 {home.path}", partial(home.path.chmod, PRIVATE_FOLDER)
        )
    else:
        yield DoctorLine("home", OK, f"{where}, writable, private")


def _keys(home: Home) -> Iterator[DoctorLine]:
    try:
        with files.opened(home.keys) as file:
            mode = stat.S_IMODE(os.fstat(file).st_mode)
    except FileNotFoundError:
        return
    except OSError as error:
        yield DoctorLine("keys", BAD, f"keys.json is not used: {files.why(error)}", f"rm {home.keys}")
        return
    if mode & ~PRIVATE_FILE:
        text = f"keys.json is not used: other users can read it (mode {mode:04o})"
        yield DoctorLine("keys", BAD, text, f"chmod 600 {home.keys}", partial(_close_to_others, home.keys))


def _close_to_others(path: Path) -> None:
    with files.opened(path) as file:
        files.close_to_others(file)


def _identity(home: Home) -> Iterator[DoctorLine]:
    """Identity files that are not read because they are not regular files."""
    for workspace in sorted(home.agents.glob("*")):
        for name in FILES:
            parts = (home.agents.name, workspace.name, name)
            if os.path.lexists(workspace / name) and (trouble := files.why_not_read(home.path, parts)):
                text = f"{'/'.join(parts)} is ignored: {trouble}"
                yield DoctorLine("agents", WARN, text, f"ls -l {workspace / name}")


def _drafts(home: Home) -> Iterator[DoctorLine]:
    if not home.path.exists():
        return
    for path in [*home.path.glob(".moot.toml.*.new"), *home.path.glob(".keys-*")]:
        if time.time() - path.stat().st_mtime > LEFT_SECONDS:
            text = f"{path.name} was left behind by a command that died while writing"
            yield DoctorLine("home", WARN, text, f"rm {path}", partial(path.unlink, missing_ok=True))


def _settings(home: Home) -> Iterator[DoctorLine]:
    try:
        settings = load(home)
        check_places(settings, home)
    except MootError as error:
        yield DoctorLine("moot.toml", BAD, error.title, first(error.fix))
        return
    state_words = "read" if home.toml.exists() else "not found, using defaults"
    yield DoctorLine("moot.toml", OK, f"{state_words}, {count_words(len(settings.agents), 'agent')}")
    for key in not_yet(settings):
        yield DoctorLine("moot.toml", WARN, f"{key} is accepted, but has no effect in this version yet")
    for concern in concerns(settings, home):
        yield DoctorLine("agents", BAD if concern.silent else WARN, concern.text, first(concern.fix))


# --- what runs -----------------------------------------------------------------------------------------------


def _hub(home: Home) -> Iterator[DoctorLine]:
    running = running_hub(home)
    if running is not None:
        yield DoctorLine("hub", OK, f"running (pid {running['pid']})")
        return
    left = [path for path in (home.hub_json, home.hub_sock) if path.exists()]
    for path in left:
        yield _leftover_line("hub", path, "a hub that no longer runs")
    if not left:
        yield DoctorLine("hub", OK, "not running; chat and send run the agents themselves")


def _daemons(home: Home) -> Iterator[DoctorLine]:
    alive = daemons.all_running(home)
    if alive:
        yield DoctorLine("daemons", OK, ", ".join(f"{name} (pid {pid})" for name, pid in alive.items()))
    for path in sorted(home.run_agents.glob("*.pid")) + sorted(home.run_agents.glob("*.sock")):
        if path.stem not in alive and not _somebody_answers(path):
            yield _leftover_line("daemons", path, f"a daemon of {path.stem} that no longer runs")


def _leftover_line(check: str, path: Path, whose: str) -> DoctorLine:
    return DoctorLine(
        check,
        WARN,
        f"{path.name} is left over from {whose}",
        f"rm {path}",
        partial(path.unlink, missing_ok=True),
    )


def _somebody_answers(path: Path) -> bool:
    if path.suffix != ".sock":
        return False
    with socket.socket(socket.AF_UNIX) as line, short(path) as address:
        line.settimeout(ANSWER_SECONDS)
        return line.connect_ex(address) == 0


# --- the network ---------------------------------------------------------------------------------------------


async def network(home: Home) -> list[DoctorLine]:
    """The hub's port, and every provider of models that could be asked."""
    try:
        settings = load(home)
    except MootError:
        return list(_settings(home))
    return [*_answering(home), *_port(home), *await _providers(home, settings)]


def _answering(home: Home) -> Iterator[DoctorLine]:
    hub = running_hub(home)
    if hub is None or not str(hub.get("url", "")).startswith("http"):
        yield DoctorLine("hub", OK, "not running, so nothing is listening")
        return
    url = urlsplit(hub["url"])
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    line = kind(url.hostname or "", url.port, timeout=ANSWER_SECONDS)
    try:
        line.request("GET", "/healthz")
        status = line.getresponse().status
    except OSError as error:
        yield DoctorLine("hub", BAD, f"{hub['url']} does not answer: {error}", "moot logs")
    else:
        state = OK if status == HEALTHY else BAD
        yield DoctorLine(
            "hub", state, f"{hub['url']} answers with {status}", "" if state == OK else "moot logs"
        )
    finally:
        line.close()


def _port(home: Home) -> Iterator[DoctorLine]:
    """Whether `moot up` would find its port free."""
    try:
        hub_settings = load(home).hub
    except MootError:
        return
    if running_hub(home) is not None or not hub_settings.port:
        return
    family = socket.AF_INET6 if ":" in hub_settings.host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((hub_settings.host.strip("[]"), hub_settings.port))
        except OSError as error:
            holder = holder_of(hub_settings.port)
            holder_words = (
                f'is used by "{holder.name}" (pid {holder.pid})'
                if holder
                else f"cannot be used: {error.strerror}"
            )
            yield DoctorLine(
                "port", WARN, f"{hub_settings.port} {holder_words}", f"moot up --port {hub_settings.port + 1}"
            )


async def _providers(home: Home, settings: Settings) -> list[DoctorLine]:
    ring = KeyRing(os.environ, home.keys)
    try:
        places = endpoints(settings, ring)
    except MootError as error:
        return [DoctorLine("keys", BAD, error.title, first(error.fix))]
    if not places:
        return [DoctorLine("models", OK, "no key is set, so no provider was asked")]
    return await ask_providers(places, thinkers(settings), ring)


# --- the database --------------------------------------------------------------------------------------------


async def database(home: Home) -> list[DoctorLine]:
    if not storage(home).exists():
        return [DoctorLine("database", OK, "does not exist yet")]
    return [*await _database_health(home), *await machines(home), *_space(home), *_backups(home)]


async def _database_health(home: Home) -> list[DoctorLine]:
    try:
        report = await health.check(home)
    except MootError as error:
        others = [way for way in error.fix if way != Hint(Act.RUN_DOCTOR)]
        because = f": {error.detail}" if error.detail else ""
        return [DoctorLine("database", BAD, f"{error.title}{because} [{error.code}]", first(others))]
    if report.problems:
        return [DoctorLine("database", BAD, "; ".join(report.problems), "moot backup restore")]
    sound_words = "integrity ok, all chains verified"
    facts = [f"{name} {value}" for name, value in report.facts.items()]
    line = DoctorLine("database", OK, ", ".join((f"{report.messages} messages", sound_words, *facts)))
    return [line, *(DoctorLine("database", WARN, text) for text in report.warnings)]


def _space(home: Home) -> Iterator[DoctorLine]:
    free = shutil.disk_usage(home.path).free
    needed = max(LITTLE_SPACE, 2 * storage(home).size())
    if free < needed:
        text = (
            f"only {free >> 20} MiB are free on the disk of {tilde_path(home.path)}; a backup needs as "
            "much space as the database"
        )
        yield DoctorLine("disk", WARN, text, "free some space, or move the home: moot --home DIR …")


def _backups(home: Home) -> Iterator[DoctorLine]:
    if tool := storage(home).backup_tool:
        yield DoctorLine("backups", OK, f"made with {tool}, not by Moot")
        return
    newest = next(iter(backups.list_backups(home)), None)
    if newest is None:
        yield DoctorLine("backups", OK, "none yet; create one with moot backup create")
        return
    days = (time.time() - newest.at) / 86400
    yield DoctorLine("backups", OK, f"the newest is {newest.path.name}, {_ago(days)}")


def _ago(days: float) -> str:
    return "less than a day old" if days < 1 else f"{days:.0f} days old"
