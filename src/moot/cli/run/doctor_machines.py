"""What `moot doctor` says of a store shared by several machines: hosts, their partitions, and whose moot.toml leads."""

from collections import Counter

from moot.cli.run.doctor_line import OK, WARN, DoctorLine
from moot.errors import MootError
from moot.host.presence import this_machine
from moot.hub.archive import health
from moot.settings import Home, load
from moot.wiring import postgres_of


async def machines(home: Home) -> list[DoctorLine]:
    """No lines if everything is on one machine; another check covers the store itself."""
    try:
        settings = load(home)
        if postgres_of(settings) is None:
            return []
        users = await health.users(home)
    except MootError:
        return []
    here = this_machine()
    elsewhere = {host.machine for host in users.hosts} - {here}
    lines = [DoctorLine("hosts", OK, f"{len(users.hosts)} on this and {len(elsewhere)} other machines")]
    parts = Counter((share.grp.removeprefix("agent-"), share.place) for share in users.shares)
    lines += [
        DoctorLine("shares", OK, f"{agent}: {count} parts at {place}")
        for (agent, place), count in parts.items()
    ]
    mine = str(home.path)
    if users.ruler is not None and not users.ruler.place.endswith(f":{mine}"):
        text = f"links are kept as the moot.toml of {users.ruler.place} says"
        ignored = bool(settings.links)
        lines.append(
            DoctorLine(
                "links",
                WARN if ignored else OK,
                f"{text}; [[links]] here are not used" if ignored else text,
                "move [[links]] there, or set hub.leads = false there" if ignored else "",
            )
        )
    return lines
