"""The tools of a brain, as far as its agent's settings allow them.

Above: wiring offers an agent its tools, a model's brain calls them. Below: ports (the `Tool` they fill), settings.
Not here: deciding whether a call is made at all, storing results, the loop around a model.

`offer` reads the setting; `shell` is the tool; `command` checks the request; `sandbox` confines the program; `process`
runs and ends it; `shared_notes` are tools too; `text_calls` finds calls in the answers of models that cannot call.
"""

from moot.tools.offer import Offer, offered
from moot.tools.process import Bounds
from moot.tools.sandbox import Sandbox
from moot.tools.shell import ShellTool
from moot.tools.text_calls import TextCalls, text_calls

__all__ = ["Bounds", "Offer", "Sandbox", "ShellTool", "TextCalls", "offered", "text_calls"]
