"""Every verb enters what it does into the audit, or there is a reason why it need not."""

import importlib
import inspect
import pkgutil

import pytest

from moot import flow

pytestmark = pytest.mark.req("S-17")

TURNS = "moves turns, which their rows and the messages tell of"
PRESENCE = "who is there now: true for the moment only"
IN_A_CHAIN = "what it writes stands in a chain of its own"
READING = "how far somebody has read"
UNAUDITED = {
    "arrange": "where agents are drawn on a page",
    "arrive": PRESENCE,
    "attach": PRESENCE,
    "begin_import": "end_import enters the whole",
    "call_tool": TURNS,
    "check": TURNS,
    "claim": TURNS,
    "create": IN_A_CHAIN,
    "delegate": IN_A_CHAIN,
    "depart": PRESENCE,
    "detach": PRESENCE,
    "edit_message": IN_A_CHAIN,
    "give_up": TURNS,
    "heartbeat": PRESENCE,
    "import_batch": "end_import enters the whole",
    "interrupt": TURNS,
    "leave_partial": IN_A_CHAIN,
    "lower_reach": PRESENCE,
    "mark": READING,
    "move_bookmarks": READING,
    "open_bookmark": READING,
    "post": IN_A_CHAIN,
    "record_refusal": "it enters into the chain of an agent's refusals",
    "release": TURNS,
    "renew": TURNS,
    "seal_chains": "it seals what was entered",
    "send": IN_A_CHAIN,
    "summarise": "sums up what stands in a chain",
    "sweep": TURNS,
    "finish": "a refused reply goes into the refusals; the rest are messages",
    "tool_result": IN_A_CHAIN,
    "update_task": IN_A_CHAIN,
    "use_token": PRESENCE,
    "wait": PRESENCE,
    "write_note": IN_A_CHAIN,
}


def verbs() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(flow.__path__) if not module.ispkg)


def test_each_verb_sees_the_head_of_the_acts_or_has_a_reason() -> None:
    audited = {
        name
        for name in verbs()
        if "acts.HEAD" in inspect.getsource(importlib.import_module(f"moot.flow.{name}").scope)
    }
    assert audited | UNAUDITED.keys() == set(verbs())
    assert audited & UNAUDITED.keys() == set(), "these have no need of a reason"
