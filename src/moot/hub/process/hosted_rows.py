"""Which agents of moot.toml a hub runs, and how that follows the file.

Rows that were added start, rows that are gone stop, rows that were changed go on with a new brain. None of that touches
a turn under way: it ends with the brain that it began with. Above: settings_in_force.py. Below: the host.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from moot.brains.code import AgentSpec
from moot.errors import BadValue
from moot.host.host import AgentHost
from moot.hub.core import Spawn
from moot.hub.process import daemons
from moot.model.ids import ParticipantId
from moot.model.participant import Participant
from moot.rules.brain_kinds import runs_here
from moot.settings import AgentSettings, Home
from moot.wiring import loaded

Enrolled = Mapping[str, Participant]
Start = Callable[[Sequence[AgentSpec], Enrolled], Awaitable[None]]


class HostedRows:
    def __init__(self, home: Home, host: AgentHost, start: Start, spawn: Spawn) -> None:
        self._home = home
        self._host = host
        self._start = start
        self._spawn = spawn
        self._rows: dict[ParticipantId, AgentSettings] = {}
        """Agents that run here, as moot.toml described them then."""
        self._stopped: set[ParticipantId] = set()
        """Agents that somebody stopped, and nobody has started again."""

    def begin(self, rows: Sequence[AgentSettings], enrolled: Enrolled, agents: Sequence[AgentSpec]) -> None:
        """These agents were started with the hub."""
        names = {spec.name for spec in agents}
        self._rows = {enrolled[row.name].id: row for row in rows if row.name in names}

    async def follow(self, rows: Sequence[AgentSettings], enrolled: Enrolled) -> list[str]:
        """Run what the file describes now; what kept an agent from it, in sentences."""
        apart = {*daemons.all_running(self._home)}
        described = {
            enrolled[row.name].id: row
            for row in rows
            if row.autostart and runs_here(row.brain) and not _names(enrolled[row.name]) & apart
        }
        described = {id: row for id, row in described.items() if id not in self._stopped}
        removed = [id for id in self._rows if id not in described]
        if removed:
            self._spawn(self._host.let_go(removed))
        changed = {
            id: row for id, row in described.items() if self._rows.get(id) != row or not self._host.runs(id)
        }
        specs, broken = loaded(changed.values(), self._home)
        names = {spec.name for spec in specs}
        await self._start(specs, enrolled)
        remaining = {id: row for id, row in self._rows.items() if id in described}
        self._rows = remaining | {id: row for id, row in changed.items() if row.name in names}
        return [one.text for one in broken]

    async def stop(self, id: ParticipantId) -> bool:
        """Run an agent no more until it is started again; False if it does not run here."""
        if not self._host.runs(id) or id not in self._rows:
            return False
        self._stopped.add(id)
        del self._rows[id]
        await self._host.let_go([id])
        return True

    async def resume(self, row: AgentSettings, participant: Participant) -> bool:
        """Run an agent again that was stopped here; False if it was not."""
        if participant.id not in self._stopped:
            return False
        specs, broken = loaded([row], self._home)
        if broken:
            raise BadValue(broken[0].text, fix=broken[0].fix)
        await self._start(specs, {row.name: participant})
        self._stopped.discard(participant.id)
        self._rows[participant.id] = row
        return True

    def left_to_daemons(self, names: Sequence[str]) -> list[str]:
        """Those of them that run in processes of their own, which have read moot.toml at their start."""
        apart = daemons.all_running(self._home)
        return [name for name in names if name in apart]


def _names(participant: Participant) -> set[str]:
    """A daemon runs under the name that its agent had when it was started."""
    return {participant.name, *participant.aliases}
