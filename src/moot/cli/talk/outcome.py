"""Posting one message and showing its outcome: shared by send, ask and chat with a text."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from moot import shapes
from moot.cli.frame.errors import tell as tell_error
from moot.cli.frame.errors import text as error_text
from moot.cli.frame.exit_codes import OK, OUTCOMES, PAUSED, WAITED
from moot.cli.frame.hub_access import home_of, host_the_absent
from moot.cli.frame.session import Session
from moot.cli.run.unloadable import tell_broken, with_load_errors
from moot.cli.talk.absence import sleeping_notices, to_bring_back
from moot.cli.talk.brakes import braked_error, warn
from moot.cli.talk.follow import Away, FollowedConversation, Outcome, TalkView
from moot.cli.talk.no_wait import SENDING_INTERRUPTED
from moot.cli.talk.unanswered import joined_names, several, was_expected
from moot.cli.terminal.phrases import address, agents_in, marks_of
from moot.cli.terminal.screen import ago, safe
from moot.cli.terminal.views import Plain, Silent, Streaming
from moot.errors import HubAbsent, NoKey, Undelivered
from moot.model.answer import Receipt
from moot.rules.brain_kinds import has_model
from moot.rules.words.mentions import parse

if TYPE_CHECKING:
    from moot.hub import Hub
    from moot.wiring import Concern

NOT_SENT = "stopped before the message was sent; nothing was stored."
"""Printed when a person interrupts before the message is sent."""
WAIT_SECONDS: Final = 120.0
REACHED: Final = {
    "queued": frozenset[str](),
    "delivered": frozenset({"queued", "held", "woken", "owed", "blocked", "cancelled"}),
    "answered": frozenset(
        {"queued", "held", "woken", "owed", "blocked", "cancelled", "running", "failed", "expired"}
    ),
}
"""Requirement → the states that do not meet it."""


async def post_and_wait(
    session: Session,
    hub: Hub,
    where: shapes.Conversation,
    text: str,
    *,
    wait: float | None,
    plain: bool = False,
    **options: Any,
) -> Outcome:
    """Post a message, host the agents it concerns that have no host, and wait for the outcome."""
    talk = FollowedConversation(hub, where, view_for(session, hub, where, plain=plain))
    session.left = SENDING_INTERRUPTED
    if wait is None:
        return await report_at_once(session, talk, await talk.post(text, **options))
    concerned = {*(seat.name for seat in agents_in(where)), *parse(text), *options.get("force", ())}
    broken = await host_the_absent(hub, session, concerned)
    async with talk.following():
        receipt = await talk.post(text, **options)
        return await _await_outcome(session, talk, receipt, wait, broken)


async def report_at_once(session: Session, talk: FollowedConversation, receipt: Receipt) -> Outcome:
    """The outcome of a message that is posted and not waited for. The talk has the conversation as it was before."""
    here = {seat.name for seat in talk.conversation.participants}
    joined = {part.agent for part in receipt.deliveries} - here
    with report_stored_if_hub_goes(*stored_words(talk.conversation, receipt), message=receipt.id):
        if joined:  # because the message names them; the notices come after it
            talk.last = receipt.seq
            await talk.catch_up(receipt.seq + len(joined))
    return await _await_outcome(session, talk, receipt, None, [])


async def _await_outcome(
    session: Session, talk: FollowedConversation, receipt: Receipt, wait: float | None, broken: list[Concern]
) -> Outcome:
    hub, where = talk.hub, talk.conversation
    later = (
        "agents answer when they run again: moot up."
        if hasattr(hub, "host")
        else "agents answer when they can."
    )
    session.left = f"stopped waiting. The message stays queued as {address(where, receipt.seq)}; {later}"
    with report_stored_if_hub_goes(*stored_words(where, receipt), message=receipt.id):
        await warn(session, hub, where, receipt)
        if wait is None:
            outcome = await talk.at_once(receipt)
        else:
            outcome = await talk.outcome(receipt, await talk.wait(wait))
            await talk.read()
        outcome = await with_load_errors(session, hub, outcome, loads=wait is not None)
        named_in_causes = {name for cause in outcome.causes for name in cause.agents}
        tell_broken(session, [concern for concern in broken if concern.agent not in named_in_causes])
        for line in await sleeping_notices(hub, outcome.why):
            session.screen.note(line)
        if wait is None and outcome.outcome == "queued":
            await _tell_absent(session, hub, receipt)
    return outcome


async def _tell_absent(session: Session, hub: Hub, receipt: Receipt) -> None:
    """Say that the message waits for agents that Moot runs and nobody has started."""
    away = [part.agent for part in receipt.deliveries if part.duty == "must" and part.reachability == "away"]
    absent = [agent for name in away if (agent := await hub.agents.get(name)).kind == "agent"]
    if absent:
        names = joined_names([agent.name for agent in absent])
        session.screen.note(f"{names} {'is' if len(absent) == 1 else 'are'} away; the message waits for them")
        if fix := await to_bring_back(hub, absent):
            session.screen.note(f"  fix   {session.screen.command(fix)}")


def stored_words(where: shapes.Conversation, receipt: Receipt) -> tuple[str, str]:
    """That a message is stored, and the command that shows it."""
    return f"the message is kept as {address(where, receipt.seq)}", f"moot conv show {where.name}"


@contextmanager
def report_stored_if_hub_goes(kept_words: str, look: str, **facts: Any) -> Iterator[None]:
    """If the hub goes during the block, say that the message is stored and need not be sent again."""
    try:
        yield
    except HubAbsent as absent:
        raise HubAbsent(
            "the hub stopped before the answer arrived",
            detail=f"{kept_words}, and will be answered when a hub runs again",
            fix=("moot up", look),
            **facts,
        ) from absent


def view_for(
    session: Session, hub: Hub, where: shapes.Conversation, *, plain: bool = False, together: bool = False
) -> TalkView:
    """A growing text on a terminal; otherwise lines, also if several talks are shown `together`.

    With --plain the lines include states; in a pipe they do not.
    """
    screen = session.screen
    if session.json:
        return Silent()
    is_plain = plain or screen.plain
    if session.is_terminal and not is_plain and not together:
        return Streaming(screen, hub, marks_of(where), chips(hub))
    return Plain(screen, hub, marks_of(where), tells=is_plain or sys.stderr.isatty())


def chips(hub: Hub) -> dict[str, str]:
    """Agents with a demo brain, which the header shows while they speak."""
    return {row.name: "demo" for row in hub.settings.agents if row.brain == "demo"}


def report(session: Session, outcome: Outcome, required: str = "queued") -> int:
    """Print the outcome and return the exit code."""
    short = [row.agent for row in outcome.why.agents if row.duty == "must" and row.state in REACHED[required]]
    brake = braked_error(outcome) if outcome.brake is not None else None
    missing = missing_key(session, outcome) if outcome.outcome == "failed" else None
    if session.json:
        session.screen.data({**outcome.to_dict(), **({"paused": brake.to_dict()} if brake else {})})
    elif missing is None:
        tell(session, outcome)
        if short:
            session.screen.note(error_text(not_reached(required, short), ()))
        if brake is not None:
            session.screen.note(error_text(brake, (), word="paused", command=session.screen.command))
    code = OUTCOMES[outcome.outcome]
    if missing is not None:
        return tell_error(missing, session, ())
    if code == OK and (short or brake is not None):
        return WAITED if short else PAUSED
    return code


def missing_key(session: Session, outcome: Outcome) -> NoKey | None:
    """The missing key, if that is why an agent could not answer."""
    from moot.settings import load  # noqa: PLC0415  only where something failed
    from moot.wiring import model  # noqa: PLC0415  as above

    home = home_of(session)
    failed = {row.agent for row in outcome.why.agents if row.state == "failed"}
    for row in load(home).agents:
        if row.name in failed and has_model(row.brain):
            try:
                model(row.brain, home, used_by=f"agent {row.name}")
            except NoKey as missing:
                fix = (missing.fix[0], f"moot agents set {row.name} --model demo")
                return NoKey(missing.title, detail=missing.detail, fix=fix, **missing.facts)
    return None


def not_reached(required: str, agents: list[str]) -> Undelivered:
    return Undelivered(
        f"not {required}: {', '.join(agents)}",
        detail="the message is kept and waits for them",
        fix=(f"moot agents show {agents[0]}",),
    )


def waits_for(away: Away, fix: str) -> str:
    """A notice that the message is queued, and why nobody answers yet (E502)."""
    agent = away.agent
    seen_words = f"last seen {ago(agent.last_active)}" if agent.last_active else "never seen"
    waiting = "1 message waits" if away.waiting == 1 else f"{away.waiting} messages wait"
    start = f"\n  fix   {fix}" if fix else ""
    return f"queued[E502] {agent.name} is away ({seen_words}). {waiting} for it.{start}"


def tell_causes(session: Session, outcome: Outcome) -> None:
    for cause in outcome.causes:
        session.screen.note(f"no answer: {safe(cause.text)}")
        if cause.fix:
            session.screen.note(f"  fix   {session.screen.command(cause.fix)}")


def not_asked(rows: Sequence[shapes.Because]) -> str:
    """Each reason once, with all its agents."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        by_reason.setdefault(row.reason.removeprefix(f"{row.agent} "), []).append(row.agent)
    return "; ".join(
        f"{joined_names(names)} {reason if len(names) == 1 else several(reason)}"
        for reason, names in by_reason.items()
    )


def tell(session: Session, outcome: Outcome) -> None:
    screen = session.screen
    states = {
        row.state: [r.agent for r in outcome.why.agents if r.state == row.state] for row in outcome.why.agents
    }
    names = {state: ", ".join(agents) for state, agents in states.items()}
    message = address(outcome.where, outcome.receipt.seq)
    match outcome.outcome:
        case "queued":
            asked_nobody = outcome.why.agents and not any(was_expected(row) for row in outcome.why.agents)
            screen.say(f"{'kept' if asked_nobody else 'queued'} as {message}")
            if asked_nobody:
                screen.note(f"nobody was asked: {safe(not_asked(outcome.why.agents))}")
        case "owed":
            screen.say(f"queued as {message}")
            for away in outcome.away:
                screen.note(waits_for(away, screen.command(away.fix)))
            tell_causes(session, outcome)
        case "passed":
            screen.note(f"{names['passed']} read it and chose to say nothing")
        case "timed_out":
            screen.note(f"no answer in time. The message stays queued as {message}.")
        case "failed":
            tell_causes(session, outcome)
            if "owed" in states:
                screen.note(f"the message is kept as {message}, and will be answered once this is fixed")
        case _:
            pass
