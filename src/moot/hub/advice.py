"""What a sender is told beyond what was decided: who may have been meant, and whom the cap leaves out.

Above: Hub puts it into receipts and previews. Below: the receipt of flow/post.py.
Not here: deciding anything; without it every message would be treated the same.
"""

from collections.abc import Sequence

from msgspec import structs

from moot.hub.core import Core
from moot.model.answer import Receipt, Warned
from moot.model.turn import Duty, Rule
from moot.rules.mentions import nearest
from moot.rules.reasons import REMOVED


async def advised(core: Core, receipt: Receipt, max_turns: int | None = None) -> Receipt:
    """The receipt with its warnings completed. `max_turns` is the message's own cap, if it has one."""
    told = list(receipt.warnings)
    if any(warning.code == "E201" for warning in told):
        known = [who.name for who in core.people() if not who.removed]
        told = [_with_near_names(warning, known) for warning in told]
    if any(part.rule == Rule.PAUSED.value for part in receipt.deliveries):
        receipt = _worded(core, receipt)
    cut = [part.agent for part in receipt.deliveries if _is_cut(part.duty, part.rule)]
    if cut:
        found = await core.conversation(receipt.conversation)
        usual = found.settings.over(core.parts.settings.groups).max_agent_turns_per_message
        told.append(_cut_by_the_cap(receipt, cut, max_turns or usual))
    return structs.replace(receipt, warnings=tuple(told)) if told else receipt


def _worded(core: Core, receipt: Receipt) -> Receipt:
    """Whoever was removed is not merely paused, and the sender reads so."""
    removed = {who.name for who in core.people() if who.removed}
    parts = tuple(
        structs.replace(part, reason=REMOVED) if part.agent in removed else part
        for part in receipt.deliveries
    )
    return structs.replace(receipt, deliveries=parts)


def _is_cut(duty: str, rule: str) -> bool:
    return duty == Duty.BLOCKED.value and rule == Rule.CAP.value


def _cut_by_the_cap(receipt: Receipt, cut: Sequence[str], cap: int) -> Warned:
    asked = sum(part.duty == Duty.MUST.value for part in receipt.deliveries) + len(cut)
    text = f"{asked} agents mentioned, cap is {cap}: {', '.join(cut)} will not answer"
    return Warned("E304", text, tuple(cut))


def _with_near_names(warning: Warned, known: Sequence[str]) -> Warned:
    near = [name for token in warning.names[:3] for name in nearest(token, known)]
    if warning.code != "E201" or not near:
        return warning
    return structs.replace(warning, message=f"{warning.message}; did you mean {', '.join(near)}?")
