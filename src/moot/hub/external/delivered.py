"""Which turns the model of an outside agent's session has certainly read, kept in `run/hooks/ID.json`.

A session has several processes (its MCP server, and a hook for each event of its client), which share it by this file.

Only what is noted counts. Whatever is lost on the way here, a note that was never written or one half written, costs a
repetition and no message.
"""

from pathlib import Path

import msgspec
from msgspec import Struct, structs

from moot import files
from moot.model.participant import Participant
from moot.settings import Home

MAX_BYTES = 1 << 20


class Handovers(Struct, frozen=True):
    """Turns, by their ids."""

    session: int = 0
    """The process of the session's server; of another session, all this is void."""
    greeted: bool = False
    """A hook of this session has delivered something before."""
    handed: tuple[str, ...] = ()
    """Turns that a hook of this session wrote to its client and confirmed."""
    taken: bool = False
    """The client's turn that got them has ended and was not interrupted, which would have discarded them."""
    asked: tuple[str, ...] = ()
    """Turns that the session fetched itself, by a tool."""

    @property
    def read(self) -> tuple[str, ...]:
        """Turns that have certainly reached the model."""
        return (*self.handed, *self.asked) if self.taken else self.asked


class HandoverFile:
    def __init__(self, path: Path, session: int) -> None:
        self._path = path
        self._session = session

    def read(self) -> Handovers:
        """Empty if nothing was noted for this session, or the file cannot be read."""
        try:
            handovers = msgspec.json.decode(files.read(self._path, MAX_BYTES), type=Handovers)
        except (OSError, msgspec.DecodeError):
            return Handovers(self._session)
        return handovers if handovers.session == self._session else Handovers(self._session)

    def begin(self) -> None:
        """A session starts, or its model has forgotten what it read."""
        self._write(Handovers(self._session))

    def note_spoken(self, handed: tuple[str, ...]) -> None:
        """A hook has delivered. What was delivered before has ended by now, or was included again."""
        self._write(structs.replace(self.read(), greeted=True, handed=handed, taken=False))

    def taken(self) -> Handovers:
        """What the last hook wrote has surely been read."""
        handovers = structs.replace(self.read(), taken=True)
        if handovers.handed:
            self._write(handovers)
        return handovers

    def note_asked(self, turns: tuple[str, ...]) -> None:
        """The session fetched turns by a tool; not noted if no hook has ever run."""
        if self._path.exists():
            self._write(structs.replace(self.read(), asked=turns))

    def _write(self, handovers: Handovers) -> None:
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        files.replace(self._path, msgspec.json.encode(handovers))


def handovers_of(home: Home, agent: Participant) -> HandoverFile:
    return HandoverFile(home.run / "hooks" / f"{agent.id}.json", session_of(agent))


def session_of(participant: Participant) -> int:
    """What tells one session of an agent from the next; 0 for those that have no process of ours."""
    return participant.config.pid
