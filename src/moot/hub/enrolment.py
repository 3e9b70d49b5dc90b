"""Who a hub begins with: the owner, the agents of moot.toml, and functions given to it.

Above: runtime.py enrols and hosts them. Below: flow/enrol.py takes them into the registry.
"""

from collections.abc import Mapping, Sequence

from moot.brains.code import AgentSpec, CodeBrain, refuse_undecorated
from moot.context.window import Size
from moot.flow.enrol import Newcomer
from moot.host.held_shares import HeldShares
from moot.host.hosted import Hosted
from moot.host.supervision import SupervisedHub, Supervision
from moot.hub.core import Core
from moot.model.participant import AgentConfig, Kind, Participant
from moot.rules.brain_kinds import CODE, EXTERNAL, kind_of
from moot.settings import AgentSettings, Settings


def newcomers(settings: Settings, agents: Sequence[AgentSpec]) -> tuple[Newcomer, ...]:
    """Everybody that moot.toml and the given functions name."""
    refuse_undecorated(agents)
    specs = {spec.name: spec for spec in agents}
    rows = {row.name for row in settings.agents}
    return (
        Newcomer(name=settings.hub.user, kind=Kind.HUMAN),
        *[_of_row(row, specs.get(row.name)) for row in settings.agents],
        *[_of_function(spec) for spec in agents if spec.name not in rows],
    )


def _of_row(row: AgentSettings, spec: AgentSpec | None) -> Newcomer:
    kind = Kind.EXTERNAL if kind_of(row.brain) is EXTERNAL else Kind.AGENT
    watches = row.watches or (spec.watches if spec is not None else ())
    config = AgentConfig(row.on_busy.value, row.avatar, row.color, watches=watches)
    named = spec is None or spec.brain or spec.prompted or kind_of(row.brain) is CODE
    return Newcomer(
        row.name, kind, row.display, row.role, row.brain if named else "code", row.project, config
    )


def _of_function(spec: AgentSpec) -> Newcomer:
    config = AgentConfig(spec.on_busy, watches=spec.watches)
    brain = spec.brain or "code"
    return Newcomer(spec.name, Kind.AGENT, spec.display, spec.role, brain, spec.project or "", config)


def hosted(
    core: Core, agents: Sequence[AgentSpec], enrolled: Mapping[str, Participant], shares: HeldShares
) -> list[Hosted]:
    """The given agents as a host runs them."""
    parts, directory = core.parts, core.directory
    around = SupervisedHub(
        parts.store, parts.log, parts.clock, shares, directory.people, directory.name, directory.shape_with
    )
    rows = {row.name: row for row in parts.settings.agents}
    return [
        Hosted(
            participant=enrolled[spec.name],
            brain=CodeBrain(spec.think, spec.brain, spec.close)
            if spec.watch is None
            else Supervision(enrolled[spec.name], spec.watch, around),
            size=size_of(spec, row := rows.get(spec.name)),
            concurrency=1 if spec.one_at_a_time else spec.concurrency if row is None else row.concurrency,
            partitions=spec.partitions if row is None else row.partitions,
            offered=spec.offered,
            budget=spec.budget,
            budgets_above=spec.budgets_above,
        )
        for spec in agents
    ]


def size_of(spec: AgentSpec, row: AgentSettings | None) -> Size:
    """How much an agent is shown; a row of moot.toml wins over its function."""
    has = spec if row is None else row
    return Size(has.context_messages, has.context_tokens, grows=spec.prompted)
