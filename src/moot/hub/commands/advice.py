"""Advice for a sender beyond the decision: whom it may have meant, and whom the cap leaves out.

Above: Hub puts it into receipts and previews. Below: the receipt of flow/post.py.
Not here: deciding anything; without it every message would be treated the same.
"""

from collections.abc import Sequence

from msgspec import structs

from moot.flow.steps.posted import Posted
from moot.hub.core import Core
from moot.model.answer import Delivery, Receipt, Warned
from moot.model.hint import WarningCode
from moot.model.message import Message
from moot.model.turn import Duty, RuleName
from moot.rules import reasons
from moot.rules.why import Scene
from moot.rules.words.mentions import nearest


def advised(core: Core, posted: Posted, max_turns: int | None = None) -> Receipt:
    """The receipt with its reasons and warnings completed. `max_turns` is the message's own cap, if it has one."""
    receipt = posted.receipt()
    warnings = list(receipt.warnings)
    if any(warning.code == WarningCode.UNKNOWN for warning in warnings):
        names = [participant.name for participant in core.directory.people() if not participant.removed]
        warnings = [_with_near_names(warning, names) for warning in warnings]
    if posted.scene is not None and any(part.rule in reasons.WORDED for part in receipt.deliveries):
        where = posted.scene.where
        receipt = _worded(core, receipt, posted.message, posted.scene)
        cut = [part.agent for part in receipt.deliveries if _is_cut(part.duty, part.rule)]
        usual = where.settings.over(core.parts.settings.groups).max_agent_turns_per_message
        warnings += [_cut_by_the_cap(receipt, cut, max_turns or usual)] if cut else []
    return structs.replace(receipt, warnings=tuple(warnings)) if warnings else receipt


def _worded(core: Core, receipt: Receipt, message: Message, scene: Scene) -> Receipt:
    """The settings behind the rules are named to the sender as `why` names them later."""
    settings, where = core.parts.settings, scene.where
    in_force = where.settings.over(settings.groups), settings.limits
    parts: list[Delivery] = []
    for part in receipt.deliveries:
        agent = core.directory.named(part.agent) if part.rule in reasons.WORDED else None
        if agent is not None and not part.delayed_ms:
            case = reasons.Case(agent, message, where, *in_force, scene.round, len(receipt.deliveries))
            part = structs.replace(part, reason=reasons.reason(RuleName(part.rule), case))  # noqa: PLW2901
        parts.append(part)
    return structs.replace(receipt, deliveries=tuple(parts))


def _is_cut(duty: str, rule: str) -> bool:
    return duty == Duty.BLOCKED.value and rule == RuleName.CAP.value


def _cut_by_the_cap(receipt: Receipt, cut: Sequence[str], cap: int) -> Warned:
    mentioned = sum(part.duty == Duty.MUST.value for part in receipt.deliveries) + len(cut)
    text = f"{mentioned} agents mentioned, cap is {cap}: {', '.join(cut)} will not answer"
    return Warned(WarningCode.NOT_ASKED, text, tuple(cut))


def _with_near_names(warning: Warned, names: Sequence[str]) -> Warned:
    near = [name for token in warning.names[:3] for name in nearest(token, names)]
    if warning.code != WarningCode.UNKNOWN or not near:
        return warning
    return structs.replace(warning, message=f"{warning.message}; did you mean {', '.join(near)}?")
