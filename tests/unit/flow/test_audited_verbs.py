"""Every verb enters what it does into the audit, or there is a reason why it need not."""

import importlib
import inspect
import pkgutil

import pytest

from moot import flow
from moot.flow.steps import channel

pytestmark = pytest.mark.req("S-17")

TURNS = "moves turns, which their rows and the messages tell of"
PRESENCE = "who is there now: true for the moment only"
IN_A_CHAIN = "what it writes stands in a chain of its own"
READING = "how far somebody has read"
OUTSIDE = "the log outside: nobody's act, and nothing that was said"
ON_A_BRIDGE = (
    "what its records tell; who paired a chat and whose account it is are entered by their own verbs"
)
UNAUDITED = {
    "arrange": "where agents are drawn on a page",
    "arrive": PRESENCE,
    "attach": PRESENCE,
    "begin_import": "end_import enters the whole",
    "call_tool": TURNS,
    "charge": TURNS,
    "check": TURNS,
    "claim": TURNS,
    "create": IN_A_CHAIN,
    "delegate": IN_A_CHAIN,
    "depart": PRESENCE,
    "detach": PRESENCE,
    "hold_relay": OUTSIDE,
    "hold_shares": PRESENCE,
    "mark_published": OUTSIDE,
    "park_record": OUTSIDE,
    "place_topic": OUTSIDE,
    "restate": OUTSIDE,
    "stop_topic": OUTSIDE,
    "edit_message": IN_A_CHAIN,
    "give_up": TURNS,
    "hear_answer": TURNS,
    "heartbeat": PRESENCE,
    "import_batch": "end_import enters the whole",
    "interrupt": TURNS,
    "keep_session": TURNS,
    "leave_partial": IN_A_CHAIN,
    "lower_reach": PRESENCE,
    "mark": READING,
    "move_bookmarks": READING,
    "move_watch": READING,
    "open_bookmark": READING,
    "post": IN_A_CHAIN,
    "record_refusal": "it enters into the chain of an agent's refusals",
    "release": TURNS,
    "renew": TURNS,
    "seal_chains": "it seals what was entered",
    "send": IN_A_CHAIN,
    "summarise": "sums up what stands in a chain",
    "sweep": TURNS,
    "find_chat": ON_A_BRIDGE,
    "hear": IN_A_CHAIN,
    "hold_bridge": PRESENCE,
    "pace_guest": ON_A_BRIDGE,
    "plan_posts": ON_A_BRIDGE,
    "record_arrival": ON_A_BRIDGE,
    "revise_post": ON_A_BRIDGE,
    "update_notice": ON_A_BRIDGE,
    "finish": "a refused reply goes into the refusals; the rest are messages",
    "tool_result": IN_A_CHAIN,
    "update_task": IN_A_CHAIN,
    "use_token": PRESENCE,
    "wait": PRESENCE,
    "write_note": IN_A_CHAIN,
}


def verbs() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(flow.__path__) if not module.ispkg)


def scope_of(verb: str) -> str:
    """What it says of its scope, itself or in the words that those which cut links share."""
    source = inspect.getsource(importlib.import_module(f"moot.flow.{verb}").scope)
    return source + (inspect.getsource(channel.cutting) if "channel.cutting(" in source else "")


def test_each_verb_sees_the_head_of_the_acts_or_has_a_reason() -> None:
    audited = {name for name in verbs() if "acts.HEAD" in scope_of(name)}
    assert audited | UNAUDITED.keys() == set(verbs())
    assert audited & UNAUDITED.keys() == set(), "these have no need of a reason"
