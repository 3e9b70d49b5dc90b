"""Saying one thing and showing what comes of it: what send, ask and chat with a text share."""

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
from moot.cli.run.unloadable import explained, tell_broken
from moot.cli.talk.absence import to_bring_back, unwoken
from moot.cli.talk.brakes import paused, warn
from moot.cli.talk.follow import Away, FollowedConversation, Outcome, TalkView
from moot.cli.talk.no_wait import BEING_SENT
from moot.cli.talk.unanswered import listed, several, was_wanted
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
"""Said when a person interrupts then."""
WAIT_SECONDS: Final = 120.0
REACHED: Final = {
    "queued": frozenset[str](),
    "delivered": frozenset({"queued", "held", "woken", "owed", "blocked", "cancelled"}),
    "answered": frozenset(
        {"queued", "held", "woken", "owed", "blocked", "cancelled", "running", "failed", "expired"}
    ),
}
"""For each thing that can be required: the states that fall short of it."""


async def posted(
    session: Session,
    hub: Hub,
    where: shapes.Conversation,
    text: str,
    *,
    wait: float | None,
    plain: bool = False,
    **options: Any,
) -> Outcome:
    """Post, host whoever is concerned and has no host, and wait for what comes of it."""
    talk = FollowedConversation(hub, where, view_for(session, hub, where, plain=plain))
    session.left = BEING_SENT
    if wait is None:
        return await report_at_once(session, talk, await talk.post(text, **options))
    concerned = {*(seat.name for seat in agents_in(where)), *parse(text), *options.get("force", ())}
    broken = await host_the_absent(hub, session, concerned)
    async with talk.following():
        receipt = await talk.post(text, **options)
        return await _what_came_of_it(session, talk, receipt, wait, broken)


async def report_at_once(session: Session, talk: FollowedConversation, receipt: Receipt) -> Outcome:
    """What came of a message that is posted and not waited for. The talk is in the conversation as it was before."""
    here = {seat.name for seat in talk.conversation.participants}
    joined = {part.agent for part in receipt.deliveries} - here
    with kept_if_the_hub_goes(*kept_as(talk.conversation, receipt), message=receipt.id):
        if joined:  # because the message names them: the notices stand behind it
            talk.last = receipt.seq
            await talk.catch_up(receipt.seq + len(joined))
    return await _what_came_of_it(session, talk, receipt, None, [])


async def _what_came_of_it(
    session: Session, talk: FollowedConversation, receipt: Receipt, wait: float | None, broken: list[Concern]
) -> Outcome:
    hub, where = talk.hub, talk.conversation
    later = (
        "agents answer when they run again: moot up."
        if hasattr(hub, "host")
        else "agents answer when they can."
    )
    session.left = f"stopped waiting. The message stays queued as {address(where, receipt.seq)}; {later}"
    with kept_if_the_hub_goes(*kept_as(where, receipt), message=receipt.id):
        await warn(session, hub, where, receipt)
        if wait is None:
            done = await talk.at_once(receipt)
        else:
            done = await talk.outcome(receipt, await talk.wait(wait))
            await talk.read()
        done = await explained(session, hub, done, loads=wait is not None)
        named_in_causes = {name for cause in done.causes for name in cause.agents}
        tell_broken(session, [concern for concern in broken if concern.agent not in named_in_causes])
        for line in await unwoken(hub, done.why):
            session.screen.note(line)
        if wait is None and done.outcome == "queued":
            await _tell_absent(session, hub, receipt)
    return done


async def _tell_absent(session: Session, hub: Hub, receipt: Receipt) -> None:
    """Of agents that Moot runs and nobody has started: the message waits for them. Others say so themselves."""
    away = [part.agent for part in receipt.deliveries if part.duty == "must" and part.reachability == "away"]
    absent = [agent for name in away if (agent := await hub.agents.get(name)).kind == "agent"]
    if absent:
        names = listed([agent.name for agent in absent])
        session.screen.note(f"{names} {'is' if len(absent) == 1 else 'are'} away; the message waits for them")
        if fix := await to_bring_back(hub, absent):
            session.screen.note(f"  fix   {session.screen.command(fix)}")


def kept_as(where: shapes.Conversation, receipt: Receipt) -> tuple[str, str]:
    """That a message is kept, and what shows it."""
    return f"the message is kept as {address(where, receipt.seq)}", f"moot conv show {where.name}"


@contextmanager
def kept_if_the_hub_goes(kept: str, look: str, **facts: Any) -> Iterator[None]:
    """What was acknowledged stands, whatever becomes of the hub: nobody has to send it again."""
    try:
        yield
    except HubAbsent as gone:
        raise HubAbsent(
            "the hub stopped before the answer arrived",
            detail=f"{kept}, and will be answered when a hub runs again",
            fix=("moot up", look),
            **facts,
        ) from gone


def view_for(
    session: Session, hub: Hub, where: shapes.Conversation, *, plain: bool = False, together: bool = False
) -> TalkView:
    """A growing text on a terminal; else lines, as where several talks are shown `together`.

    Who asked for lines is told of states in them, a pipe is not.
    """
    screen = session.screen
    if session.json:
        return Silent()
    wanted = plain or screen.plain
    if session.is_terminal and not wanted and not together:
        return Streaming(screen, hub, marks_of(where), chips(hub))
    return Plain(screen, hub, marks_of(where), tells=wanted or sys.stderr.isatty())


def chips(hub: Hub) -> dict[str, str]:
    """Which agents have a demo brain: said in the header while they still speak."""
    return {row.name: "demo" for row in hub.settings.agents if row.brain == "demo"}


def report(session: Session, done: Outcome, required: str = "queued") -> int:
    """Say what came of it, and give the exit code."""
    short = [row.agent for row in done.why.agents if row.duty == "must" and row.state in REACHED[required]]
    brake = paused(done) if done.brake is not None else None
    missing = missing_key(session, done) if done.outcome == "failed" else None
    if session.json:
        session.screen.data({**done.to_dict(), **({"paused": brake.to_dict()} if brake else {})})
    elif missing is None:
        tell(session, done)
        if short:
            session.screen.note(error_text(not_reached(required, short), ()))
        if brake is not None:
            session.screen.note(error_text(brake, (), word="paused", command=session.screen.command))
    code = OUTCOMES[done.outcome]
    if missing is not None:
        return tell_error(missing, session, ())
    if code == OK and (short or brake is not None):
        return WAITED if short else PAUSED
    return code


def missing_key(session: Session, done: Outcome) -> NoKey | None:
    """What an agent that could not answer lacks, if it is a key."""
    from moot.settings import load  # noqa: PLC0415  only where something failed
    from moot.wiring import model  # noqa: PLC0415  as above

    home = home_of(session)
    failed = {row.agent for row in done.why.agents if row.state == "failed"}
    for row in load(home).agents:
        if row.name in failed and has_model(row.brain):
            try:
                model(row.brain, home, who=f"agent {row.name}")
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
    """Queued, and why nobody answers yet (E502)."""
    agent = away.agent
    seen = f"last seen {ago(agent.last_active)}" if agent.last_active else "never seen"
    waiting = "1 message waits" if away.waiting == 1 else f"{away.waiting} messages wait"
    start = f"\n  fix   {fix}" if fix else ""
    return f"queued[E502] {agent.name} is away ({seen}). {waiting} for it.{start}"


def tell_causes(session: Session, done: Outcome) -> None:
    for cause in done.causes:
        session.screen.note(f"no answer: {safe(cause.text)}")
        if cause.fix:
            session.screen.note(f"  fix   {session.screen.command(cause.fix)}")


def not_asked(rows: Sequence[shapes.Because]) -> str:
    """Each reason once, with all it holds for."""
    named: dict[str, list[str]] = {}
    for row in rows:
        named.setdefault(row.reason.removeprefix(f"{row.agent} "), []).append(row.agent)
    return "; ".join(
        f"{listed(names)} {reason if len(names) == 1 else several(reason)}" for reason, names in named.items()
    )


def tell(session: Session, done: Outcome) -> None:
    screen = session.screen
    states = {
        row.state: [r.agent for r in done.why.agents if r.state == row.state] for row in done.why.agents
    }
    names = {state: ", ".join(agents) for state, agents in states.items()}
    message = address(done.where, done.receipt.seq)
    match done.outcome:
        case "queued":
            asked_nobody = done.why.agents and not any(was_wanted(row) for row in done.why.agents)
            screen.say(f"{'kept' if asked_nobody else 'queued'} as {message}")
            if asked_nobody:
                screen.note(f"nobody was asked: {safe(not_asked(done.why.agents))}")
        case "owed":
            screen.say(f"queued as {message}")
            for away in done.away:
                screen.note(waits_for(away, screen.command(away.fix)))
            tell_causes(session, done)
        case "passed":
            screen.note(f"{names['passed']} read it and chose to say nothing")
        case "timed_out":
            screen.note(f"no answer in time. The message stays queued as {message}.")
        case "failed":
            tell_causes(session, done)
            if "owed" in states:
                screen.note(f"the message is kept as {message}, and will be answered once this is fixed")
        case _:
            pass
