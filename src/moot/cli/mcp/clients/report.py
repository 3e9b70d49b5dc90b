"""What `moot mcp install`, `uninstall` and `status` do and say, in the order in which people read it."""

import shlex
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from msgspec import structs

from moot import shapes
from moot.cli.frame.hub_access import home_of, with_reading
from moot.cli.frame.session import Session
from moot.cli.mcp.clients import tokens
from moot.cli.mcp.clients.entry import Http, Way, server, variable_of
from moot.cli.mcp.clients.installation import InstallPlan, InstallRequest, Run, carry_out, plan
from moot.cli.mcp.clients.known import CLIENTS, Client, Scope, UserEnvironment
from moot.cli.mcp.clients.ledger import Change, Issued, Ledger
from moot.cli.mcp.clients.probe import MAX_START_SECONDS, seconds_to_start, too_slow
from moot.cli.mcp.clients.removal import Undone
from moot.cli.mcp.clients.removal import undo as undone_by
from moot.cli.mcp.clients.state import ClientState, client_state
from moot.cli.run.welcome import tilde_path
from moot.cli.terminal.screen import clock_time
from moot.errors import McpClient
from moot.hub import Hub
from moot.model.json import JsonObject


class Installing:
    """One run of `moot mcp install`."""

    def __init__(
        self, session: Session, names: Sequence[str], *, wake: bool, http: bool, scope: Scope
    ) -> None:
        self._session = session
        self._names = tuple(dict.fromkeys(names))
        self._wake = wake
        self._http = http
        self._scope: Scope = scope
        self._home = home_of(session)
        self._place = UserEnvironment.here()

    @cached_property
    def plans(self) -> list[InstallPlan]:
        ledger = Ledger(self._home)
        return [plan(request, ledger) for request in self._requests()]

    @property
    def has_to_change(self) -> bool:
        return any(plan.steps for plan in self.plans)

    def _requests(self) -> list[InstallRequest]:
        requested = [CLIENTS[name] for name in self._names]
        clients = requested or [client for client in CLIENTS.values() if client.found(self._place)]
        requests = [self._request(client) for client in clients]
        missing = [request for request in requests if not request.program]
        if missing:
            raise not_installed(missing[0])
        if not requests:
            raise McpClient(
                "no supported coding CLI is on PATH",
                detail=f"looked for {', '.join(client.program for client in CLIENTS.values())}",
                fix=("moot mcp config", "moot mcp config --client codex"),
            )
        return requests

    def _request(self, client: Client) -> InstallRequest:
        way: Way = server(self._home.path, client=client.name)
        if self._http:
            way = Http(tokens.address(self._home), variable_of(client.name))
        program = client.found(self._place) or ""
        return InstallRequest(client, program, way, self._scope, self._wake, self._home, self._place)

    # --- before ------------------------------------------------------------------------------------------

    def show(self) -> None:
        """Show what will be done."""
        say = self._session.screen.say
        if self._session.json:
            self._session.screen.data([plan_to_dict(plan) for plan in self.plans])
            return
        say("Found   " + "   ".join(f"{p.request.client.name} ({p.request.program})" for p in self.plans))
        self._show_steps()
        for each in self.plans:
            if not each.steps:
                say(f"Nothing to do for {each.request.client.name}: it is already connected.")
            if self._wake and each.request.client.hooks(self._scope, self._place) is None:
                say(
                    f"{each.request.client.title} has no hooks that Moot can use: its agents read "
                    "messages on demand."
                )
        if self.has_to_change:
            mine = "project files" if self._scope == "user" else "your own settings"
            say(f"Will not touch: {mine}, other MCP servers.      Undo: moot mcp uninstall")

    def _show_steps(self) -> None:
        say = self._session.screen.say
        steps = [step for plan in self.plans for step in plan.steps]
        commands = [command for step in steps if isinstance(step, Run) for command in step.commands]
        if commands:
            say("Will run:")
        for command in commands:
            say(f"  {shlex.join(command)}")
        writes = [step for step in steps if not isinstance(step, Run)]
        if writes:
            say("Will write:")
        for step in writes:
            say(
                f"  {tilde_path(step.path)}   {', '.join(dict.fromkeys(edit.path[-1] for edit in step.edits))}"
            )
        if self._http:
            names = ", ".join(plan.request.client.name for plan in self.plans if plan.steps)
            say(f"Will create a token for: {names}")

    # --- after -------------------------------------------------------------------------------------------

    def carry_out(self) -> None:
        ledger = Ledger(self._home)
        self._home.make()
        issued: dict[str, shapes.IssuedToken] = {}
        for each in self.plans:
            change = carry_out(each, ledger, shapes.when(time.time()) or "")
            if change is not None and each.steps and isinstance(each.request.way, Http) and not change.token:
                new_token = issued[each.request.client.name] = tokens.issue(
                    self._session, each.request.client.name
                )
                ledger.keep(structs.replace(change, token=Issued(new_token.agent, new_token.id)))
        seconds = self._seconds_to_start()
        if self._session.json:
            secrets = {name: token.token for name, token in issued.items()}
            clients = [plan_to_dict(plan) for plan in self.plans]
            self._session.screen.data([{**each, "token": secrets.get(each["client"])} for each in clients])
        else:
            self._report(seconds, issued)
        self._refuse_a_slow_start(seconds)

    def _seconds_to_start(self) -> float | None:
        return 0.0 if self._http else seconds_to_start()

    def _refuse_a_slow_start(self, seconds: float | None) -> None:
        for each in self.plans:
            if seconds is None or seconds > (each.request.client.patience or MAX_START_SECONDS):
                raise too_slow(each.request.client, seconds)

    def _report(self, seconds: float | None, issued: dict[str, shapes.IssuedToken]) -> None:
        say = self._session.screen.say
        for each in self.plans:
            client = each.request.client
            outcome = "registered" if each.steps else "unchanged "
            allowed = f" ({client.title} allows {client.patience:.0f} s)" if client.patience else ""
            ready = f"; server started in {seconds:.1f} s{allowed}" if seconds else ""
            say(f"✓ {client.name:<12}{outcome}    {client.after}{ready}")
            if each.request.wake and client.trust:
                say(f"  {client.trust}")
        for name, token in issued.items():
            say(f"  export {variable_of(name)}={token.token}   # {name}'s token, shown this once")
        if issued:
            say("  They can connect while the hub is running: moot up")
        self._tell_reachability()

    def _tell_reachability(self) -> None:
        say = self._session.screen.say
        reach = {plan.request.client.name: self._reach(plan) for plan in self.plans}
        say(f"Reachability now: {', '.join(f'{name} {word}' for name, word in reach.items())}.")
        deaf = [name for name, word in reach.items() if word == "on-demand" and name in ("claude", "codex")]
        if deaf:
            say("  Messages wait until the agent asks. To deliver at turn end:"
                f" moot mcp install --wake {' '.join(deaf)}")  # fmt: skip

    def _reach(self, plan: InstallPlan) -> str:
        wakes = client_state(plan.request.client, self._home, self._place, ()).wake
        trusted = " once its hooks are trusted" if plan.request.client.trust else ""
        return f"next-turn{trusted}" if wakes else "on-demand"


def not_installed(request: InstallRequest) -> McpClient:
    """E501, with what to paste."""
    client = request.client
    snippet = "\n".join(f"        {line}" for line in client.snippet(request.way).splitlines())
    return McpClient(
        f"{client.program} is not on PATH",
        fix=(f"install {client.title}, or add this to its config:\n{snippet}",),
        client=client.name,
        file=str(client.config(request.scope, request.place)),
    )


def plan_to_dict(plan: InstallPlan) -> JsonObject:
    steps = plan.steps
    return {
        "client": plan.request.client.name,
        "program": plan.request.program,
        "scope": plan.request.scope,
        "changes": bool(steps),
        "runs": [list(command) for step in steps if isinstance(step, Run) for command in step.commands],
        "writes": [str(step.path) for step in steps if not isinstance(step, Run)],
    }


# --- undoing ---------------------------------------------------------------------------------------------


def undo(session: Session, names: Sequence[str], *, only_print: bool) -> bool:
    """Whether all of it could be undone."""
    ledger, place = Ledger(home_of(session)), UserEnvironment.here()
    changes = [change for change in ledger.changes if not names or change.client in names]
    if only_print or not changes:
        _tell_changes(session, changes)
        return True
    undone: list[Undone] = []
    for change in changes:
        undone += undone_by(change, ledger, place)
        if change.token is not None:
            tokens.revoke(session, change.token.agent, change.token.id)
    if session.json:
        session.screen.data([structs.asdict(each) for each in undone])
    else:
        for each in undone:
            sign = "✗" if each.how == "kept" else "✓"
            why = f"   {each.why}" if each.why else ""
            session.screen.say(f"{sign} {each.client:<12}{each.how:<10}{tilde_path(Path(each.path))}{why}")
        session.screen.note("restart open sessions of these clients")
    return all(each.how != "kept" for each in undone)


def _tell_changes(session: Session, changes: Sequence[Change]) -> None:
    if session.json:
        session.screen.data([
            {"client": change.client, "scope": change.scope, "files": [each.path for each in change.files]}
            for change in changes
        ])  # fmt: skip
        return
    for change in changes:
        for each in change.files:
            session.screen.say(f"{change.client:<12}{tilde_path(Path(each.path))}")
    if not changes:
        session.screen.say("nothing to undo: Moot has not changed any client's files")


# --- looking ---------------------------------------------------------------------------------------------


def tell_client_states(session: Session, names: Sequence[str]) -> None:
    home, place = home_of(session), UserEnvironment.here()

    clients = [client for client in CLIENTS.values() if not names or client.name in names]

    async def look(hub: Hub) -> list[ClientState]:
        agents = {agent.name: agent for agent in await hub.agents.list()}
        arrivals = {client.name: await hub.agents.arrivals(client.name) for client in clients}
        return [
            client_state(client, home, place, [agents[each.name] for each in arrivals[client.name]])
            for client in clients
        ]

    states = with_reading(session, look)
    if session.json:
        session.screen.data([each.to_dict() for each in states])
        return
    rows = [_row(each) for each in states]
    session.screen.table(("client", "installed", "registered", "wake", "last seen", "reachability"), rows)
    for each in states:
        if each.trouble:
            session.screen.note(f"! {each.client}: {each.trouble}")
        elif each.found and not each.registered:
            session.screen.note(f"  to connect {each.client}: moot mcp install {each.client}")


def _row(each: ClientState) -> tuple[str, ...]:
    where = ", ".join(r.scope if r.by == "moot" else f"{r.scope}, by hand" for r in each.registered)
    seen = f"{clock_time(each.seen)} {each.agents[0]}" if each.agents else "never"
    installed = tilde_path(Path(each.found)) if each.found else "no"
    return (
        each.client,
        installed,
        where or "no",
        "yes" if each.wake else "no",
        seen,
        each.reachability or "away",
    )
