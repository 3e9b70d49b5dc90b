"""Whether a turn may begin under the budgets, and what it is charged to when it ends.

Above: the host, for agents whose thinking costs something. Below: flow/reserve.py decides.
"""

from moot.errors import Stale
from moot.flow import reserve
from moot.host.hosted import Running
from moot.host.turn_end import Transact
from moot.rules.brakes import Account, account


async def may_begin(transact: Transact, run: Running, now: float) -> bool:
    budget, turn = run.hosted.budget, run.turn
    if budget is None:
        return True
    above = run.hosted.budgets_above()
    where = account(turn.agent, turn.root, now, tuple(above))
    try:
        may: bool = await transact(reserve, reserve.Reserve(turn.id, turn.fence, where, budget, above))
    except Stale:
        return False
    return may


def charged_to(run: Running, now: float) -> Account | None:
    """None where nothing was spent."""
    if run.spent is None:
        return None
    return account(run.turn.agent, run.turn.root, now, tuple(run.hosted.budgets_above()))
