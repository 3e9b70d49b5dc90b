"""`moot send --no-wait` to a running hub, without what other commands need: one message, its receipt, and away.

Above: `moot.cli.main` asks here first. Below: a connection that blocks. One of three things comes of it: the message is
posted, and its receipt says all; it is posted, and send.py explains what there is to explain; or nothing was posted,
and send.py does everything. Not here: options that are rare, what is piped in, a hub of one's own.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Mapping, Sequence
from json import dumps
from typing import NamedTuple

from moot.cli.frame import streams
from moot.client.transport.blocking_socket import BlockingConnection
from moot.errors import MootError, NotFound
from moot.model.json import JsonObject

GLOBAL_FLAGS = {"--json": "json", "-q": "quiet", "--quiet": "quiet", "--no-color": "no_color"}
FLAGS = {**GLOBAL_FLAGS, "--no-wait": "no_wait", "--interrupt": "interrupt", "--plain": "plain"}
VALUES = {
    "--home": "home",
    "--conv": "conv",
    "--as": "speaker",
    "--idempotency-key": "key",
    "--max-turns": "max_turns",
}
BEFORE = frozenset({*GLOBAL_FLAGS, "--home"})
"""What may stand before the command."""
OK, FAILED, INTERRUPTED = 0, 1, 130
BEING_SENT = "stopped while the message was being sent; moot tail shows whether it was stored."
"""Said when a person interrupts then."""


class SendWords(NamedTuple):
    """What the words mean."""

    text: str
    agent: str = ""
    conv: str = ""
    speaker: str = ""
    key: str | None = None
    interrupt: bool = False
    max_turns: int | None = None
    home: str = ""
    json: bool = False


class StoredPost(NamedTuple):
    """A message that is on disk already: where, and what the hub answered."""

    conversation: JsonObject
    receipt: JsonObject


def send(arguments: Sequence[str]) -> int | None:
    """The exit code; None where nothing was posted and the whole command line has to see to it."""
    wanted = read(arguments)
    if wanted is None or os.environ.get("MOOT_ASCII") or sys.stdout is None or sys.stderr is None:
        return None
    streams.prepare()
    folder = home(wanted.home, os.environ)
    if not folder or not is_nothing_piped():
        return None
    connection = BlockingConnection.find(f"{folder}/run/hub.sock")
    if connection is None:
        return None
    try:
        return _sent(connection, wanted, arguments)
    except KeyboardInterrupt:
        sys.stderr.write(f"{BEING_SENT}\n")
        return INTERRUPTED
    finally:
        connection.close()


# --- what is meant -------------------------------------------------------------------------------------------


def read(arguments: Sequence[str]) -> SendWords | None:
    """The words as click would read them (a test holds both together); None where only click can say."""
    words: list[str] = []
    found: JsonObject = {}
    rest = iter(arguments)
    for word in rest:
        if not word.startswith("-"):
            words.append(word)
            continue
        option, has_value, value = word.partition("=")
        if not words and option not in BEFORE:
            return None
        if word in FLAGS:
            found[FLAGS[word]] = True
            continue
        value = value if has_value else next(rest, "")
        if option not in VALUES or VALUES[option] in found or not value or value.startswith("-"):
            return None
        found[VALUES[option]] = value
    if words[:1] != ["send"] or "no_wait" not in found:
        return None
    return _wanted(words[1:], found)


def _wanted(words: list[str], found: JsonObject) -> SendWords | None:
    agent = "" if "conv" in found or not words else words.pop(0).lstrip("@")
    text, turns = " ".join(words), found.get("max_turns", "1")
    conv = found.get("conv", "").lstrip("#")
    stops_others = "interrupt" in found and (conv or "speaker" in found)  # what they had said is shown
    if (
        not text
        or stops_others
        or bool(agent) == bool(conv)
        or not (turns.isascii() and turns.isdecimal() and int(turns))
    ):
        return None
    try:
        "".join((text, agent, conv, found.get("speaker", ""), found.get("key", ""))).encode()
    except UnicodeEncodeError:
        return None
    return SendWords(
        text,
        agent,
        conv,
        found.get("speaker", ""),
        found.get("key"),
        "interrupt" in found,
        int(turns) if "max_turns" in found else None,
        found.get("home", ""),
        "json" in found,
    )


def home(option: str, environ: Mapping[str, str]) -> str:
    """Where the home is, as `find_home` says; empty where that would refuse or has to look further."""
    folder: str = option or environ.get("MOOT_HOME") or "~/.moot"
    if folder == "~" or folder.startswith("~/"):
        folder = environ["HOME"] + folder[1:] if environ.get("HOME") else ""
    return "" if not folder.strip() or "\0" in folder or folder.startswith("~") else folder


def is_nothing_piped() -> bool:
    """Whether it is certain, without reading, that standard input has nothing to add."""
    try:
        file = sys.stdin.fileno()
        seen = os.fstat(file)
        if os.isatty(file):
            return True
        if stat.S_ISREG(seen.st_mode):
            return os.lseek(file, 0, os.SEEK_CUR) > 0 or seen.st_size == 0
        if stat.S_ISCHR(seen.st_mode):
            return seen.st_rdev == os.stat(os.devnull).st_rdev
    except (AttributeError, ValueError, OSError):  # closed, or none to begin with
        return True
    ended = select.poll()
    ended.register(file, select.POLLIN)
    return stat.S_ISFIFO(seen.st_mode) and ended.poll(0) == [(file, select.POLLHUP)]


# --- what is done --------------------------------------------------------------------------------------------


def _sent(connection: BlockingConnection, wanted: SendWords, arguments: Sequence[str]) -> int | None:
    try:
        where, ref = _place(connection, wanted)
    except MootError as refusal:
        is_final = connection.is_lost or not isinstance(
            refusal, NotFound
        )  # a name may be the beginning of an id
        return _refused(refusal, wanted, arguments) if is_final else None
    try:
        receipt = connection.call("post", wanted.speaker or None, conversation=ref, **_message(wanted))
    except MootError as refusal:
        return _refused(refusal, wanted, arguments)
    done = StoredPost(where, receipt)
    if not says_all(done, connection, wanted):
        return _handed_over(done, arguments)
    try:
        return _report(done, wanted)
    except OSError as error:  # no room for what is said
        return _refused(error, wanted, arguments)


def _place(connection: BlockingConnection, wanted: SendWords) -> tuple[JsonObject, str]:
    """The conversation, found or made, and what to call it. The same as send.py does."""
    if wanted.conv:
        where: JsonObject = connection.call("conversations.get", ref=wanted.conv)
        return where, where["id"]
    if wanted.speaker and wanted.speaker != connection.name:
        agent = connection.call("agents.get", name=wanted.agent)["name"]
        where = connection.call(
            "conversations.implicit", wanted.speaker, participants=[agent], text=wanted.text
        )
        return where, where["id"]
    if wanted.key is not None:
        return _kept_place(connection, wanted, wanted.key)
    opening = {"target": wanted.agent, "text": wanted.text}
    where = connection.call("conversations.ephemeral", wanted.speaker or None, **opening)
    return where, where["id"]


def _kept_place(connection: BlockingConnection, wanted: SendWords, key: str) -> tuple[JsonObject, str]:
    """Of a message with a key: a repeat finds the conversation of the first time, and stores nothing."""
    agent, me = (connection.call("agents.get", name=name) for name in (wanted.agent, connection.name))
    own = f"send:{agent['id']}:{key}"
    ref = f"ephemeral:{me['id']}:{own}"
    speaker = wanted.speaker or None
    try:
        before = connection.call("post", speaker, conversation=ref, text=wanted.text, idempotency_key=key)
    except NotFound:
        return connection.call(
            "conversations.ephemeral", speaker, target=agent["name"], key=own, text=wanted.text
        ), ref
    return connection.call("conversations.get", ref=before["conversation"]), ref


def _message(wanted: SendWords) -> JsonObject:
    chance = os.urandom(16).hex()
    return {
        "text": wanted.text,
        "interrupt": wanted.interrupt,
        "idempotency_key": wanted.key or chance,
        "max_turns": wanted.max_turns,
        "correlation_id": f"q{wanted.key or chance}",
    }


# --- what is said --------------------------------------------------------------------------------------------


def says_all(done: StoredPost, connection: BlockingConnection, wanted: SendWords) -> bool:
    """Whether nothing is to be added to the receipt: somebody was asked, all of them were there before, and nobody is
    kept from answering by anything that could be told."""
    receipt, seats = done.receipt, {seat["name"] for seat in done.conversation["participants"]}
    parts = receipt["deliveries"]
    called = [part for part in parts if part["duty"] != "observes" or part["rule"] == "away"]
    return (
        bool(called)
        and not receipt["warnings"]
        and not any(part["delayed_ms"] or part["agent"] not in seats for part in parts)
        and all(part["duty"] in ("must", "may") for part in called)
        and _run_elsewhere([part["agent"] for part in called if _is_away(part)], connection, wanted)
    )


def _is_away(part: JsonObject) -> bool:
    """It owes an answer, or will once others have given theirs."""
    return bool(part["state"] == "owed" or part["reachability"] == "away")


def _run_elsewhere(away: list[str], connection: BlockingConnection, wanted: SendWords) -> bool:
    """Whether those who are away are somebody else's programs, and came by no client whose hooks could wake them."""
    if not away:
        return True
    speaker = wanted.speaker or None
    try:
        came = {each["name"] for each in connection.call("agents.arrivals", speaker)}
        kinds = {connection.call("agents.get", speaker, name=name)["kind"] for name in away}
    except MootError:
        return False
    return kinds == {"external"} and came.isdisjoint(away)


def _report(done: StoredPost, wanted: SendWords) -> int:
    result = {"receipt": done.receipt, "replies": [], "outcome": "queued"}
    line = f"queued as {done.conversation['name']}:{done.receipt['seq']}"
    try:
        sys.stdout.write(f"{dumps(result, ensure_ascii=False) if wanted.json else line}\n")
        sys.stdout.flush()
    except BrokenPipeError:  # as click has it for every command
        streams.close_quietly()
        return FAILED
    return OK


def _handed_over(done: StoredPost, arguments: Sequence[str]) -> int:
    from moot.cli.app import run  # noqa: PLC0415  only where there is more to say

    return run(list(arguments), done)


def _refused(error: Exception, wanted: SendWords, arguments: Sequence[str]) -> int:
    from moot.cli.frame.errors import tell  # noqa: PLC0415  as above
    from moot.cli.frame.session import Session  # noqa: PLC0415  as above

    session = Session()
    session.json, session.home_option = wanted.json, wanted.home or None
    return tell(error, session, arguments)
