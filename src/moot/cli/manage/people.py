"""`moot people`: who else may sign in to the page, each as themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame.hub_access import home_of, with_hub, with_reading
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.cli.manage.access_tokens import state_of
from moot.cli.terminal.screen import ago
from moot.errors import HubAbsent, NotFound, NotPermitted
from moot.hub.process.hub_lock import running_hub
from moot.model.hint import Act, Hint

if TYPE_CHECKING:
    from moot.hub import Hub

DAY = 24 * 3600.0


@click.group(
    "people",
    cls=Branch,
    examples=("moot people invite sansa", "moot people list"),
    short_help="Invite people to the page, and list them.",
)
def people() -> None:
    """Invite people to the page, and list them."""


@people.command("invite", examples=("moot people invite sansa", "moot people invite sansa --days 1 --json"))
@click.argument("name")
@click.option(
    "--days",
    type=click.FloatRange(min=0, max=30, min_open=True),
    default=7.0,
    metavar="N",
    help="How long the link works (default 7).",
)
@click.option("--url", metavar="URL", help="Address of the hub as the person reaches it (default: its own).")
@click.pass_obj
def invite(session: Session, name: str, days: float, url: str | None) -> None:
    """Make a link that signs a person in, once. Somebody who is not known yet is added."""
    hub = running_hub(home_of(session))
    if hub is None or not hub.get("url"):
        raise HubAbsent("a link needs a running hub to lead to", fix=(Hint(Act.START_HUB),))

    async def work(hub: Hub) -> shapes.SignInCode:
        await _person(hub, name.lstrip("@"))
        return await hub.agents.sign_in_code(name.lstrip("@"), seconds=days * DAY)

    code = with_hub(session, work)
    link = f"{(url or hub['url']).rstrip('/')}{code.path}"
    if session.json:
        session.screen.data({"url": link, "participant": code.participant, "expires_at": code.expires_at})
        return
    session.screen.say(link)
    session.screen.note(
        f"send it to {code.participant}: it signs in one browser, within {days:g} days; "
        f"{session.screen.command(f'moot tokens revoke {code.participant} {code.id}')} takes it back"
    )


async def _person(hub: Hub, name: str) -> None:
    try:
        participant = await hub.agents.get(name)
    except NotFound:
        await hub.agents.create(name, human=True)
        return
    if participant.kind != "human":
        raise NotPermitted(
            f"{participant.name} is no person: only people sign in",
            fix=(Hint(Act.NEW_TOKEN, agent=participant.name),),
        )


@people.command("list", examples=("moot people list", "moot people list --json"))
@click.pass_obj
def list_(session: Session) -> None:
    """List the people, and in how many browsers each is signed in."""

    async def work(hub: Hub) -> list[tuple[shapes.TopologyNode, list[shapes.Token]]]:
        people_rows = [node for node in (await hub.topology()).agents if node.kind == "human"]
        return [(one, await hub.agents.tokens(one.name)) for one in people_rows]

    people_rows = with_reading(session, work)
    if session.json:
        session.screen.data(
            [
                {**person.to_dict(), "tokens": [token.to_dict() for token in tokens]}
                for person, tokens in people_rows
            ]
        )
        return
    session.screen.table(
        ("name", "browsers", "open invitations", "last seen"),
        [(person.name, *_token_counts(tokens)) for person, tokens in people_rows],
    )


def _token_counts(tokens: list[shapes.Token]) -> tuple[str, str, str]:
    good = [token for token in tokens if state_of(token) == "valid"]
    browsers = [token for token in good if token.kind == "browser"]
    codes = [token for token in good if token.kind == "code"]
    last_seen = max((token.used_at or token.created_at or "" for token in browsers), default="")
    return str(len(browsers)), str(len(codes)), ago(last_seen or None)


@people.command(
    "link", examples=("moot people link telegram 1001 sansa", "moot people link discord 4711 sansa --json")
)
@click.argument("bridge", type=click.Choice(("telegram", "discord")))
@click.argument("account")
@click.argument("name")
@click.pass_obj
def link(session: Session, bridge: str, account: str, name: str) -> None:
    """Say whose account in a chat app it is: from then on it speaks as that person, without a guest's limits.

    `moot bridge telegram status --json` lists the accounts that have written.
    """
    _tell_account(session, with_hub(session, lambda hub: hub.bridges.link(bridge, account, name.lstrip("@"))))


@people.command(
    "unlink", examples=("moot people unlink telegram 1001", "moot people unlink discord 4711 --json")
)
@click.argument("bridge", type=click.Choice(("telegram", "discord")))
@click.argument("account")
@click.pass_obj
def unlink(session: Session, bridge: str, account: str) -> None:
    """Make an account in a chat app a guest's again."""
    _tell_account(session, with_hub(session, lambda hub: hub.bridges.unlink(bridge, account)))


def _tell_account(session: Session, account: shapes.LinkedAccount) -> None:
    if session.json:
        session.screen.data(account.to_dict())
        return
    what = "a guest" if account.guest else "linked"
    session.screen.say(f"{account.bridge} {account.account} ({account.shown}) is {account.person}, {what}")
