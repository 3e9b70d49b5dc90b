"""`moot send --no-wait` to a running hub, without what other commands import: one message and its receipt.

Above: `moot.cli.main` tries this first. Below: a connection that blocks. There are three results: the message is
posted, and its receipt says all; it is posted, and send.py explains the rest; or nothing was posted, and send.py does
everything. Not here: rare options, piped input, a hub in this process.
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
"""Options that may come before the command."""
OK, FAILED, INTERRUPTED = 0, 1, 130
SENDING_INTERRUPTED = "stopped while the message was being sent; moot tail shows whether it was stored."
"""Printed when a person interrupts the sending."""


class SendRequest(NamedTuple):
    """The parsed command line."""

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
    """A message that is stored already: its conversation and its receipt."""

    conversation: JsonObject
    receipt: JsonObject


def send(arguments: Sequence[str]) -> int | None:
    """The exit code; None if nothing was posted and the full command line has to handle it."""
    options = read(arguments)
    if options is None or os.environ.get("MOOT_ASCII") or sys.stdout is None or sys.stderr is None:
        return None
    streams.prepare()
    folder = home(options.home, os.environ)
    if not folder or not is_nothing_piped():
        return None
    connection = BlockingConnection.find(f"{folder}/run/hub.sock")
    if connection is None:
        return None
    try:
        return _post_message(connection, options, arguments)
    except KeyboardInterrupt:
        sys.stderr.write(f"{SENDING_INTERRUPTED}\n")
        return INTERRUPTED
    finally:
        connection.close()


# --- what is meant -------------------------------------------------------------------------------------------


def read(arguments: Sequence[str]) -> SendRequest | None:
    """The arguments as click would read them (a test compares both); None if only click can tell."""
    words: list[str] = []
    values: JsonObject = {}
    rest = iter(arguments)
    for word in rest:
        if not word.startswith("-"):
            words.append(word)
            continue
        option, has_value, value = word.partition("=")
        if not words and option not in BEFORE:
            return None
        if word in FLAGS:
            values[FLAGS[word]] = True
            continue
        value = value if has_value else next(rest, "")
        if option not in VALUES or VALUES[option] in values or not value or value.startswith("-"):
            return None
        values[VALUES[option]] = value
    if words[:1] != ["send"] or "no_wait" not in values:
        return None
    return _options_of(words[1:], values)


def _options_of(words: list[str], values: JsonObject) -> SendRequest | None:
    agent = "" if "conv" in values or not words else words.pop(0).lstrip("@")
    text, turns = " ".join(words), values.get("max_turns", "1")
    conv = values.get("conv", "").lstrip("#")
    stops_others = "interrupt" in values and (conv or "speaker" in values)  # what they had said is shown
    if (
        not text
        or stops_others
        or bool(agent) == bool(conv)
        or not (turns.isascii() and turns.isdecimal() and int(turns))
    ):
        return None
    try:
        "".join((text, agent, conv, values.get("speaker", ""), values.get("key", ""))).encode()
    except UnicodeEncodeError:
        return None
    return SendRequest(
        text,
        agent,
        conv,
        values.get("speaker", ""),
        values.get("key"),
        "interrupt" in values,
        int(turns) if "max_turns" in values else None,
        values.get("home", ""),
        "json" in values,
    )


def home(option: str, environ: Mapping[str, str]) -> str:
    """The home as `find_home` finds it; empty if that would refuse or has to look further."""
    folder: str = option or environ.get("MOOT_HOME") or "~/.moot"
    if folder == "~" or folder.startswith("~/"):
        folder = environ["HOME"] + folder[1:] if environ.get("HOME") else ""
    return "" if not folder.strip() or "\0" in folder or folder.startswith("~") else folder


def is_nothing_piped() -> bool:
    """Whether it is certain, without reading, that standard input has nothing to add."""
    try:
        file = sys.stdin.fileno()
        status = os.fstat(file)
        if os.isatty(file):
            return True
        if stat.S_ISREG(status.st_mode):
            return os.lseek(file, 0, os.SEEK_CUR) > 0 or status.st_size == 0
        if stat.S_ISCHR(status.st_mode):
            return status.st_rdev == os.stat(os.devnull).st_rdev
    except (AttributeError, ValueError, OSError):  # closed, or none to begin with
        return True
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return stat.S_ISFIFO(status.st_mode) and poll.poll(0) == [(file, select.POLLHUP)]


# --- what is done --------------------------------------------------------------------------------------------


def _post_message(
    connection: BlockingConnection, options: SendRequest, arguments: Sequence[str]
) -> int | None:
    try:
        where, ref = _place(connection, options)
    except MootError as refusal:
        is_final = connection.is_lost or not isinstance(
            refusal, NotFound
        )  # a name may be the beginning of an id
        return _print_refusal(refusal, options, arguments) if is_final else None
    try:
        receipt = connection.call("post", options.speaker or None, conversation=ref, **_message(options))
    except MootError as refusal:
        return _print_refusal(refusal, options, arguments)
    post = StoredPost(where, receipt)
    if not says_all(post, connection, options):
        return _hand_over(post, arguments)
    try:
        return _report(post, options)
    except OSError as error:  # no room for what is said
        return _print_refusal(error, options, arguments)


def _place(connection: BlockingConnection, options: SendRequest) -> tuple[JsonObject, str]:
    """The conversation, found or created, and its reference. The same as send.py does."""
    if options.conv:
        where: JsonObject = connection.call("conversations.get", ref=options.conv)
        return where, where["id"]
    if options.speaker and options.speaker != connection.name:
        agent = connection.call("agents.get", name=options.agent)["name"]
        where = connection.call(
            "conversations.implicit", options.speaker, participants=[agent], text=options.text
        )
        return where, where["id"]
    if options.key is not None:
        return _place_by_key(connection, options, options.key)
    opening = {"target": options.agent, "text": options.text}
    where = connection.call("conversations.ephemeral", options.speaker or None, **opening)
    return where, where["id"]


def _place_by_key(connection: BlockingConnection, options: SendRequest, key: str) -> tuple[JsonObject, str]:
    """The conversation for a message with a key: a repeat finds the first one, and stores nothing."""
    agent, me = (connection.call("agents.get", name=name) for name in (options.agent, connection.name))
    own = f"send:{agent['id']}:{key}"
    ref = f"ephemeral:{me['id']}:{own}"
    speaker = options.speaker or None
    try:
        before = connection.call("post", speaker, conversation=ref, text=options.text, idempotency_key=key)
    except NotFound:
        return connection.call(
            "conversations.ephemeral", speaker, target=agent["name"], key=own, text=options.text
        ), ref
    return connection.call("conversations.get", ref=before["conversation"]), ref


def _message(options: SendRequest) -> JsonObject:
    chance = os.urandom(16).hex()
    return {
        "text": options.text,
        "interrupt": options.interrupt,
        "idempotency_key": options.key or chance,
        "max_turns": options.max_turns,
        "correlation_id": f"q{options.key or chance}",
    }


# --- what is said --------------------------------------------------------------------------------------------


def says_all(post: StoredPost, connection: BlockingConnection, options: SendRequest) -> bool:
    """Whether the receipt says all: somebody was asked, all of them were members before, and nothing that should be
    reported keeps anybody from answering."""
    receipt, seats = post.receipt, {seat["name"] for seat in post.conversation["participants"]}
    parts = receipt["deliveries"]
    asked_parts = [part for part in parts if part["duty"] != "observes" or part["rule"] == "away"]
    return (
        bool(asked_parts)
        and not receipt["warnings"]
        and not any(part["delayed_ms"] or part["agent"] not in seats for part in parts)
        and all(part["duty"] in ("must", "may") for part in asked_parts)
        and _run_elsewhere([part["agent"] for part in asked_parts if _is_away(part)], connection, options)
    )


def _is_away(part: JsonObject) -> bool:
    """Whether an agent is away and owes an answer, or will after the others have answered."""
    return bool(part["state"] == "owed" or part["reachability"] == "away")


def _run_elsewhere(away: list[str], connection: BlockingConnection, options: SendRequest) -> bool:
    """Whether the absent agents are outside programs that did not come by a client whose hooks could wake them."""
    if not away:
        return True
    speaker = options.speaker or None
    try:
        arrived = {each["name"] for each in connection.call("agents.arrivals", speaker)}
        kinds = {connection.call("agents.get", speaker, name=name)["kind"] for name in away}
    except MootError:
        return False
    return kinds == {"external"} and arrived.isdisjoint(away)


def _report(post: StoredPost, options: SendRequest) -> int:
    result = {"receipt": post.receipt, "replies": [], "outcome": "queued"}
    line = f"queued as {post.conversation['name']}:{post.receipt['seq']}"
    try:
        sys.stdout.write(f"{dumps(result, ensure_ascii=False) if options.json else line}\n")
        sys.stdout.flush()
    except BrokenPipeError:  # as click has it for every command
        streams.close_quietly()
        return FAILED
    return OK


def _hand_over(post: StoredPost, arguments: Sequence[str]) -> int:
    from moot.cli.app import run  # noqa: PLC0415  only where there is more to say

    return run(list(arguments), post)


def _print_refusal(error: Exception, options: SendRequest, arguments: Sequence[str]) -> int:
    from moot.cli.frame.errors import tell  # noqa: PLC0415  as above
    from moot.cli.frame.session import Session  # noqa: PLC0415  as above

    session = Session()
    session.json, session.home_option = options.json, options.home or None
    return tell(error, session, arguments)
