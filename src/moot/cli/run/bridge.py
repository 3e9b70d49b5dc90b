"""`moot bridge`: set up Telegram and Discord, pair chats, look for what is wrong, send again what did not arrive."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import click

from moot import shapes
from moot.cli.frame.exit_codes import FAILED, OK
from moot.cli.frame.hub_access import home_of, set_up_logs, with_hub, with_reading
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.cli.run.doctor_bridge import STEPS, findings, problems
from moot.cli.terminal.screen import ago, count_words, safe
from moot.settings import load

if TYPE_CHECKING:
    from moot.hub import Hub
    from moot.model.json import JsonObject

SIGNS: Final = {"bad": "✗", "warn": "!", "ok": "✓"}
APPS: Final = ("telegram", "discord")
MINUTES: Final = 15.0
app = click.argument("app", type=click.Choice(APPS), metavar="telegram|discord")


class AppFirst(Branch):
    """Takes the chat app's name before or after the verb."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if len(args) > 1 and args[0] in APPS:
            args = [args[1], args[0], *args[2:]]
        return super().resolve_command(ctx, args)


@click.group(
    "bridge",
    cls=AppFirst,
    examples=("moot bridge telegram setup", "moot bridge telegram add"),
    short_help="Connect Telegram and Discord.",
    aliases={"pair": "add", "unpair": "rm"},
)
def bridge() -> None:
    """Connect Telegram and Discord.

    The name of the chat app may also stand first: `moot bridge telegram setup`.
    """


@bridge.command("setup", examples=("moot bridge setup telegram", "moot bridge setup discord --json"))
@app
@click.pass_obj
def setup(session: Session, app: str) -> None:
    """Show the steps of the set-up, and what the settings still lack."""
    missing = problems(load(home_of(session)), app)
    if session.json:
        session.screen.data({"bridge": app, "ready": not missing, "missing": missing, "steps": STEPS[app]})
        return
    for number, step in enumerate(STEPS[app], 1):
        session.screen.say(f"{number}. {step}")
    for one in missing:
        session.screen.say(f"✗ {one}")
    if not missing:
        following = session.screen.command(f"moot bridge test {app}")
        session.screen.say(f"✓ the settings are complete; next: {following}")


@bridge.command("test", examples=("moot bridge test telegram", "moot bridge test telegram --post --json"))
@app
@click.option("--post", "posts", is_flag=True, help="Also post a message in each paired chat and delete it.")
@click.pass_obj
def test(session: Session, app: str, posts: bool) -> int:
    """Check the set-up for known problems, and say how to fix each."""
    set_up_logs(session)
    findings_found = asyncio.run(findings(home_of(session), app, posts=posts))
    if session.json:
        rows = [{"about": f.about, "state": f.state, "text": f.text, "fix": f.fix} for f in findings_found]
        session.screen.data(rows)
    for one in [] if session.json else findings_found:
        session.screen.say(f"{SIGNS[one.state]} {safe(one.about)}: {safe(one.text)}")
        if one.fix:
            session.screen.say(f"    fix   {one.fix}")
    return FAILED if any(one.state == "bad" for one in findings_found) else OK


@bridge.command("status", examples=("moot bridge status telegram", "moot bridge status discord --json"))
@app
@click.pass_obj
def status(session: Session, app: str) -> None:
    """Show which hub runs the bridge, its chats and accounts, and what did not get through."""
    report = with_reading(session, lambda hub: _status(hub, app))
    if session.json:
        session.screen.data(report)
        return
    say = session.screen.say
    is_held = report["holder"] is not None and report["holder"]["is_held"]
    test = session.screen.command(f"moot bridge test {app}")
    say(
        f"{app}: a hub runs it; whether {app.capitalize()} can be reached says {test}"
        if is_held
        else f"{app}: not running; it runs with the hub"
    )
    say(f"  {count_words(len(report['chats']), 'chat')}, {count_words(len(report['accounts']), 'account')}")
    for post in report["posts"]:
        say(f"  ! {post['id']} is {post['state']}: {safe(post['text'].splitlines()[0][:60])}")
        if post["state"] in ("unconfirmed", "dead"):
            say(f"      {session.screen.command('moot bridge resend ' + post['id'])}")
    for letter in report["dead_letters"]:
        about = safe(letter["text"][:60] or letter["key"])
        say(f"  ✗ {about}: {safe(letter['error'][:120])}")


async def _status(hub: Hub, app: str) -> JsonObject:
    holders = [one.to_dict() for one in await hub.bridges.holders() if one.bridge == app]
    return {
        "bridge": app,
        "holder": holders[0] if holders else None,
        "chats": [chat.to_dict() for chat in await hub.bridges.chats(app)],
        "accounts": [one.to_dict() for one in await hub.bridges.accounts() if one.bridge == app],
        "posts": [one.to_dict() for one in await hub.bridges.posts() if one.bridge == app],
        "dead_letters": [one.to_dict() for one in await hub.bridges.dead_letters() if one.bridge == app],
    }


@bridge.command("add", examples=("moot bridge add telegram", "moot bridge add discord --minutes 60 --json"))
@app
@click.option(
    "--minutes",
    type=click.FloatRange(1, 1440),
    default=MINUTES,
    metavar="N",
    help="How long the code works (default 15).",
)
@click.pass_obj
def add(session: Session, app: str, minutes: float) -> None:
    """Make a code that pairs one chat: somebody writes /pair CODE there."""
    code = with_hub(session, lambda hub: hub.bridges.code(app, seconds=minutes * 60))
    if session.json:
        session.screen.data(code.to_dict())
        return
    agents = " AGENT..." if app == "discord" else ""
    session.screen.say(f"/pair {code.code}{agents}")
    session.screen.note(f"write this in the chat within {minutes:g} minutes; it pairs one chat, once")


@bridge.command("list", examples=("moot bridge list telegram", "moot bridge list discord --json"))
@app
@click.pass_obj
def list_(session: Session, app: str) -> None:
    """List the chats that bots are in, paired or not."""
    chats = with_reading(session, lambda hub: hub.bridges.chats(app))
    if session.json:
        session.screen.data([chat.to_dict() for chat in chats])
    elif not chats:
        session.screen.note("no chats yet: add a bot to a group, or write to it")
    else:
        session.screen.table(
            ("chat", "title", "kind", "state", "conversation", "bots", "changed"),
            [_row(one) for one in chats],
        )


def _row(chat: shapes.ChatElsewhere) -> tuple[str, ...]:
    where, bots = chat.conversation or "", ", ".join(chat.agents)
    return chat.chat, safe(chat.title), chat.kind, chat.state, where, bots, ago(chat.updated_at)


@bridge.command(
    "bind",
    examples=("moot bridge bind telegram -100123 build", "moot bridge bind discord CHAT build --json"),
)
@app
@click.argument("chat")
@click.argument("conversation")
@click.pass_obj
def bind(session: Session, app: str, chat: str, conversation: str) -> None:
    """Let a chat continue a conversation that exists. It need not be paired before."""
    chat_changed = with_hub(session, lambda hub: hub.bridges.bind(app, chat, conversation))
    if session.json:
        session.screen.data(chat_changed.to_dict())
    else:
        session.screen.say(f"{safe(chat_changed.title)} now continues {safe(conversation)}")


@bridge.command("rm", examples=("moot bridge rm telegram CHAT", "moot bridge rm discord CHAT --json"))
@app
@click.argument("chat")
@click.pass_obj
def rm(session: Session, app: str, chat: str) -> None:
    """Unpair a chat: nobody in it wakes an agent any more. Its conversation stays."""
    chat_changed = with_hub(session, lambda hub: hub.bridges.unpair(app, chat))
    if session.json:
        session.screen.data(chat_changed.to_dict())
    else:
        session.screen.say(f"{safe(chat_changed.title)} is no longer paired")


@bridge.command("posts", examples=("moot bridge posts", "moot bridge posts --state unconfirmed --json"))
@click.option(
    "--state",
    type=click.Choice(("queued", "sending", "sent", "unconfirmed", "dead", "dropped")),
    help="Only posts in this state.",
)
@click.pass_obj
def posts(session: Session, state: str | None) -> None:
    """List posts that may not have arrived: waiting, unconfirmed or failed ones."""
    posts_listed = with_reading(session, lambda hub: hub.bridges.posts(state))
    if session.json:
        session.screen.data([post.to_dict() for post in posts_listed])
    elif not posts_listed:
        session.screen.note("nothing is waiting, unconfirmed or dead")
    else:
        rows = [(p.id, p.state, p.speaker, safe(p.text[:50]), safe(p.error[:40])) for p in posts_listed]
        session.screen.table(("id", "state", "as", "text", "why"), rows)


@bridge.command(
    "resend", examples=("moot bridge resend telegram/-100/7", "moot bridge resend telegram/-100/7 --json")
)
@click.argument("id")
@click.pass_obj
def resend(session: Session, id: str) -> None:
    """Send an unconfirmed or dead post again. If it got through after all, it is there twice."""
    _tell_post(session, with_hub(session, lambda hub: hub.bridges.resend(id)))


@bridge.command(
    "drop", examples=("moot bridge drop telegram/-100/7", "moot bridge drop telegram/-100/7 --json")
)
@click.argument("id")
@click.pass_obj
def drop(session: Session, id: str) -> None:
    """Drop a post that may not have arrived; it is not sent again."""
    _tell_post(session, with_hub(session, lambda hub: hub.bridges.drop(id)))


def _tell_post(session: Session, post: shapes.OutgoingPost) -> None:
    if session.json:
        session.screen.data(post.to_dict())
    else:
        session.screen.say(f"{post.id} is {post.state}")
