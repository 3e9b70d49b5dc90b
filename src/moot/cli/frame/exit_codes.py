"""Error class → exit code: the command line's one table (UX 3.3). A test holds it complete."""

from typing import Final

from moot import errors

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
NO_KEY: Final = 4
REFUSED: Final = 5
LIMITED: Final = 6
PAUSED: Final = 7
WAITED: Final = 8
HUB: Final = 9
INTERRUPTED: Final = 130

EXITS: Final[dict[type[errors.MootError], int]] = {
    errors.NotFound: NOT_FOUND,
    errors.BadName: USAGE,
    errors.BadText: USAGE,
    errors.BadValue: USAGE,
    errors.Conflict: FAILED,
    errors.BadSettings: USAGE,
    errors.Unauthenticated: REFUSED,
    errors.NotPermitted: REFUSED,
    errors.RateLimited: LIMITED,
    errors.Braked: PAUSED,
    errors.Closed: REFUSED,
    errors.WouldDeadlock: REFUSED,
    errors.Stale: FAILED,
    errors.Undelivered: WAITED,
    errors.TimedOut: WAITED,
    errors.Passed: OK,
    errors.TurnFailed: FAILED,
    errors.NoKey: NO_KEY,
    errors.KeyRefused: NO_KEY,
    errors.ModelUnavailable: FAILED,
    errors.PortTaken: HUB,
    errors.HubRunning: HUB,
    errors.HubAbsent: HUB,
    errors.McpClient: NOT_FOUND,
    errors.StoreNewer: FAILED,
    errors.StoreDamaged: FAILED,
    errors.StoreUnwritable: FAILED,
}

OUTCOMES: Final = {
    "replied": OK,
    "passed": OK,
    "queued": OK,
    "owed": OK,
    "timed_out": WAITED,
    "failed": FAILED,
}


def exit_code(error: errors.MootError) -> int:
    """The code of the nearest class in the table; what is not in it failed."""
    return next((EXITS[kind] for kind in type(error).__mro__ if kind in EXITS), FAILED)
