"""A scripted model server on a real socket: what tests, demos and coding CLIs talk to in place of a provider.

    async with FakeLLM([Answer("first"), Answer(calls=(ScriptedCall("look", {"at": "it"}),))]) as llm:
        ...                      # Anthropic clients take llm.url as base URL, OpenAI clients llm.openai_url
    llm.requests                 # what was asked: path, headers, parsed body, raw bytes, when
    llm.disconnects              # when clients went away in the middle of an answer (time.monotonic())

It speaks Anthropic Messages (`POST /v1/messages`), OpenAI chat completions (`POST /v1/chat/completions`) and
OpenAI responses (`POST /v1/responses`), streaming and whole. `GET /v1/models` lists models; every other path
answers 200 with `{}`, because real coding CLIs probe them. It listens on loopback only and needs no key.

**A script** decides the answers: one `Answer` for ever; a list, used in order, after which the server says 500;
a dict from model name to any of these (`"*"` for the rest); or a function `(Request) -> Answer`, async too.
Without a script it answers as `persona.py` says: in the role of the prompt, deterministic, and telling that it is
a fake. There a model called `fault-NAME` shows that fault: `openai:fault-hang@http://127.0.0.1:PORT/v1`.

**A fault** is a field of an answer; see `Fault` for all of them.

**Usage** is counted at four characters to the token. The prompt cache works like the providers': what a request
shares with the beginning of an earlier request of the same model counts as cached, in blocks of 16 tokens (64
characters). OpenAI's paths cache everything; Anthropic's only what stands before the last `cache_control`.

By hand: `python -m moot.testing.fake_llm --port 0` prints its address and runs until stopped.
Not here: judging what was asked. A request that a real provider would refuse is recorded and answered.
"""

from moot.testing.fake_llm.answers import PASS_VARIANTS, Answer, Fault, ScriptedCall, Spent
from moot.testing.fake_llm.requests import Request
from moot.testing.fake_llm.script import Script, storm
from moot.testing.fake_llm.server import FakeLLM

__all__ = [
    "PASS_VARIANTS",
    "Answer",
    "FakeLLM",
    "Fault",
    "Request",
    "Script",
    "ScriptedCall",
    "Spent",
    "storm",
]
