"""`moot doctor`: one line per check, the worst first, each with what mends it."""

import asyncio
import os
import platform
import stat
from collections.abc import Iterator

from msgspec import Struct, to_builtins

from moot import __version__
from moot.cli.exits import FAILED, OK
from moot.cli.grammar import leaf
from moot.cli.opening import home_of, set_up_logs
from moot.cli.session import Session
from moot.cli.start import shown
from moot.errors import MootError
from moot.hub import health
from moot.hub.running import running_hub
from moot.settings import Home, load, not_yet
from moot.wiring import concerns

SIGNS = {"bad": "✗", "warn": "!", "ok": "✓"}
PRIVATE = 0o700


class Check(Struct, frozen=True):
    check: str
    state: str
    text: str
    fix: str = ""


@leaf("doctor", examples=("moot doctor", "moot doctor --json"))
def doctor(session: Session) -> int:
    """Check the home, the settings and the database."""
    set_up_logs(session)
    checks = asyncio.run(examined(home_of(session)))
    order = list(SIGNS)
    checks.sort(key=lambda check: order.index(check.state))
    bad = [check for check in checks if check.state == "bad"]
    if session.json:
        session.screen.data({"ok": not bad, "checks": [to_builtins(check) for check in checks]})
    else:
        for check in checks:
            session.screen.say(f"{SIGNS[check.state]} {check.check}: {check.text}")
            if check.fix:
                session.screen.say(f"    fix   {check.fix}")
        session.screen.say(f"{len(bad)} to fix." if bad else "All good.")
    return FAILED if bad else OK


async def examined(home: Home) -> list[Check]:
    return [*_versions(), *_folder(home), *_settings(home), *_hub(home), *await _database(home)]


def _versions() -> Iterator[Check]:
    yield Check("moot", "ok", f"{__version__} on Python {platform.python_version()}")
    yield Check("sqlite", "ok", health.sqlite_version())


def _folder(home: Home) -> Iterator[Check]:
    where = shown(home.path)
    if not home.path.exists():
        yield Check("home", "ok", f"{where} is not there yet; it is made when first needed")
        return
    if not os.access(home.path, os.W_OK | os.X_OK):
        yield Check("home", "bad", f"{where} cannot be written", f"chmod u+rwx {home.path}")
        return
    mode = stat.S_IMODE(home.path.stat().st_mode)
    if mode & ~PRIVATE:
        yield Check("home", "warn", f"{where} is open to others (mode {mode:04o})", f"chmod 700 {home.path}")
    else:
        yield Check("home", "ok", f"{where}, writable, yours alone")


def _settings(home: Home) -> Iterator[Check]:
    try:
        settings = load(home)
    except MootError as error:
        yield Check("moot.toml", "bad", error.title, error.fix[0] if error.fix else "")
        return
    there = "read" if home.toml.exists() else "not there: defaults"
    yield Check("moot.toml", "ok", f"{there}, {len(settings.agents)} agents")
    for key in not_yet(settings):
        yield Check("moot.toml", "warn", f"{key} is accepted, but this version does nothing with it yet")
    for concern in concerns(settings, home):
        yield Check("agents", "warn", concern)


def _hub(home: Home) -> Iterator[Check]:
    running = running_hub(home)
    if running is not None:
        yield Check("hub", "ok", f"runs (pid {running['pid']})")
        return
    left = [path for path in (home.hub_json, home.hub_sock) if path.exists()]
    for path in left:
        yield Check("hub", "warn", f"{path.name} is left over from a hub that is gone", f"rm {path}")
    if not left:
        yield Check("hub", "ok", "none runs; chat and send host agents themselves")


async def _database(home: Home) -> list[Check]:
    if not home.db.exists():
        return [Check("database", "ok", "not there yet")]
    try:
        found = await health.check(home)
    except MootError as error:
        others = [way for way in error.fix if way != "moot doctor"]
        return [Check("database", "bad", f"{error.title} [{error.code}]", others[0] if others else "")]
    broken = [Check("database", "bad", problem, "moot backup restore") for problem in found.problems]
    sound = "integrity ok, all chains verified"
    modes = f"journal {found.journal_mode}, synchronous {found.synchronous}"
    return broken or [Check("database", "ok", f"{found.messages} messages, {sound}, {modes}")]
