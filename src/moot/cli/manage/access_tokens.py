"""`moot tokens`: what lets programs in at the hub's doors, each in the name of one participant."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.confirm import ask_first
from moot.cli.frame.hub_access import with_hub, with_reading
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.cli.terminal.screen import ago
from moot.model.records.token import TokenScope

if TYPE_CHECKING:
    from moot.hub import Hub

SCOPES = tuple(scope.value for scope in TokenScope)
USUAL = "read,post"
FOR = {"program": "a program", "browser": "a browser", "code": "one sign-in"}


@click.group(
    "tokens",
    cls=Branch,
    examples=("moot tokens new nymeria", "moot tokens list nymeria"),
    short_help="Issue, list and revoke the tokens that let programs in.",
    aliases={"rm": "revoke", "create": "new"},
)
def tokens() -> None:
    """Issue, list and revoke the tokens that let programs in."""


@tokens.command("new", examples=("moot tokens new nymeria", "moot tokens new nymeria --scopes read --json"))
@click.argument("agent")
@click.option("--scopes", metavar="A,B", default=USUAL, help=f"Of {', '.join(SCOPES)} (default {USUAL}).")
@click.pass_obj
def new(session: Session, agent: str, scopes: str) -> None:
    """Issue a token for an agent. It is shown once and not stored: only its hash is."""
    scope_names = tuple(scope.strip() for scope in scopes.split(",") if scope.strip())

    async def work(hub: Hub) -> shapes.IssuedToken:
        return await hub.agents.issue_token(await resolve.agent(hub, agent), scopes=scope_names)

    token = with_hub(session, work)
    if session.json:
        session.screen.data(token.to_dict())
        return
    session.screen.say(token.token)
    session.screen.note(
        f"{token.id}, for {token.agent}, may {', '.join(token.scopes)}; it is not shown again"
    )


@tokens.command("list", examples=("moot tokens list nymeria", "moot tokens list nymeria --json"))
@click.argument("agent")
@click.pass_obj
def list_(session: Session, agent: str) -> None:
    """List an agent's tokens, without their secrets."""

    async def work(hub: Hub) -> list[shapes.Token]:
        return await hub.agents.tokens(await resolve.agent(hub, agent))

    tokens_listed = with_reading(session, work)
    if session.json:
        session.screen.data([token.to_dict() for token in tokens_listed])
    elif not tokens_listed:
        session.screen.note("no tokens")
    else:
        session.screen.table(
            ("id", "for", "may", "issued", "last used", "state"),
            [
                (
                    t.id,
                    FOR.get(t.kind, t.kind),
                    ", ".join(t.scopes) or "-",
                    ago(t.created_at),
                    ago(t.used_at),
                    state_of(t),
                )
                for t in tokens_listed
            ],
        )


def state_of(token: shapes.Token) -> str:
    if token.revoked_at:
        return "revoked"
    is_over = token.expires_at and datetime.fromisoformat(token.expires_at).timestamp() <= time.time()
    return "expired" if is_over else "valid"


@tokens.command("revoke", examples=("moot tokens revoke nymeria k0", "moot tokens revoke nymeria k0 --yes"))
@click.argument("agent")
@click.argument("id", metavar="TOKEN_ID")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def revoke(session: Session, agent: str, id: str, yes: bool) -> None:
    """Revoke a token, and every token issued with it. The next call with one of them is refused."""
    ask_first(yes=yes, what="revoking a token")
    if not yes:
        click.confirm(f"Revoke {id}? Programs that use it are refused from now on", abort=True, err=True)

    async def work(hub: Hub) -> shapes.Token:
        return await hub.agents.revoke_token(await resolve.agent(hub, agent), id)

    token = with_hub(session, work)
    if session.json:
        session.screen.data(token.to_dict())
    else:
        session.screen.say(f"✓ revoked {token.id} of {token.agent}")
