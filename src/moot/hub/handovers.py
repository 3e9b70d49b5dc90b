"""What hooks handed over to an agent's session, noted for the other processes of it: `run/hooks/ID.json`."""

from pathlib import Path

import msgspec
from msgspec import Struct

from moot.model.ids import ParticipantId
from moot.model.participant import Participant
from moot.settings import Home


class Handovers(Struct, frozen=True):
    """Turns, by their ids."""

    session: int = 0
    """The process of the session's server; of another session, all this is void."""
    unread: tuple[str, ...] = ()
    """An earlier session was given them and left them open: this one has not read them."""
    handed: tuple[str, ...] = ()
    """Hooks of this session handed them over."""


class Kept:
    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Handovers:
        """Nothing, where nothing was noted or it cannot be read: then something is handed out once more."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Handovers)
        except (OSError, msgspec.DecodeError):
            return Handovers()

    def write(self, handovers: Handovers) -> None:
        if handovers == Handovers():
            self._path.unlink(missing_ok=True)
            return
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        self._path.write_bytes(msgspec.json.encode(handovers))


def handovers_of(home: Home, agent: ParticipantId) -> Kept:
    return Kept(home.run / "hooks" / f"{agent}.json")


def session_of(who: Participant) -> int:
    """What tells one session of an agent from the next; 0 for those that have no process of ours."""
    return int(who.config.get("pid", 0))
