"""`moot reload`: the running hub applies moot.toml; without a hub, its links and agents are written to the store."""

from __future__ import annotations

from moot import shapes
from moot.cli.frame.hub_access import home_of, with_hub
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.cli.terminal.screen import Screen, clock_time, safe
from moot.hub.process.hub_lock import running_hub

SIGNS = {"added": "+", "changed": "~", "removed": "-"}


@leaf("reload", examples=("moot reload", "moot reload --json"))
def reload(session: Session) -> None:
    """Read moot.toml again and apply it: links, policy, limits, groups and agents.

    A running hub also notices changes by itself. A broken file changes nothing. The other settings take effect when the
    hub starts.
    """
    result = with_hub(session, lambda hub: hub.reload())
    if session.json:
        session.screen.data(result.to_dict())
        return
    hub = running_hub(home_of(session))
    by = f"the hub (pid {hub['pid']})" if hub is not None else "the home; no hub is running"
    session.screen.say(f"✓ moot.toml was read by {by}")
    tell(session.screen, result)


def tell(screen: Screen, result: shapes.Reloaded) -> None:
    """Say what has changed, and what needs a restart."""
    if result.applied_at is not None:
        screen.say(f"  nothing changed since {clock_time(result.applied_at)}, when the hub applied:")
    elif not result.changes:
        screen.say("  nothing changed")
    for change in result.changes or result.applied:
        screen.say(f"  {SIGNS[change.change]} {change.what:<8}{safe(change.text)}")
    for key in result.restart:
        screen.note(f"  {key} takes effect when the hub starts again: moot stop, then moot up")
    for trouble in result.troubles:
        screen.note(f"  ! {safe(trouble)}")
