"""Brain strings, and whose key goes where."""

import sys
from pathlib import Path
from typing import Any

import pytest

from moot.brains.llm import brain_string
from moot.brains.llm.brain_string import BrainName, is_model_brain, make_model, parse_brain
from moot.brains.llm.keys import KeyRing
from moot.brains.llm.trouble import ModelTrouble, TroubleKind
from moot.errors import BadValue, NoKey
from moot.model.hint import Act, Hint
from moot.model.prompt import Prompt, PromptLine

NO_FILE = Path("/nonexistent/keys.json")
KEY = "sk-0123456789-abcd"


@pytest.mark.parametrize(
    ("brain", "expected"),
    [
        ("anthropic:claude-haiku-5-5", BrainName("anthropic", "claude-haiku-5-5")),
        ("openai:gpt-5", BrainName("openai", "gpt-5")),
        (
            "openai:llama3@http://127.0.0.1:11434/v1",
            BrainName("openai", "llama3", "http://127.0.0.1:11434/v1"),
        ),
        (
            "openai:qwen/qwen3:free@https://openrouter.ai/api/v1/",
            BrainName("openai", "qwen/qwen3:free", "https://openrouter.ai/api/v1"),
        ),
        ("anthropic:claude-opus-4@20250514", BrainName("anthropic", "claude-opus-4@20250514")),
    ],
)
def test_a_brain_string_is_taken_apart(brain: str, expected: BrainName) -> None:
    assert parse_brain(brain) == expected
    assert parse_brain(expected.name) == expected


@pytest.mark.parametrize(
    "brain",
    [
        "",
        "demo",
        "code:a:b",
        "openai:",
        "openai",
        "gemini:pro",
        "openai:m@http://",
        "openai:m x",
        "a2a:http://x",
    ],
)
def test_other_strings_are_refused(brain: str) -> None:
    with pytest.raises(BadValue):
        parse_brain(brain)


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hunter2@host/v1",
        "https://host/v1?key=hunter2",
        "https://host/v1#hunter2",
        "https://hunter2@host/v1",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(BadValue) as raised:
        parse_brain(f"openai:m@{url}")
    assert "hunter2" not in str(raised.value.to_dict())


def test_which_brains_are_models() -> None:
    assert [b for b in ("demo", "anthropic:x", "openai:y", "command:claude") if is_model_brain(b)] == [
        "anthropic:x",
        "openai:y",
    ]


def key_of(brain: str, **environ: str) -> tuple[str, str]:
    """The key that would be sent, and where to."""
    made: Any = make_model(brain, keys=KeyRing(environ, NO_FILE), environ=environ)
    endpoint = made.endpoint
    return (endpoint.key.reveal() if endpoint.key else "", endpoint.url)


def test_each_provider_gets_its_own_key() -> None:
    both = {"ANTHROPIC_API_KEY": "sk-a", "OPENAI_API_KEY": "sk-o"}
    assert key_of("anthropic:m", **both) == ("sk-a", "https://api.anthropic.com")
    assert key_of("openai:m", **both) == ("sk-o", "https://api.openai.com/v1")
    assert key_of("openai:m@https://api.openai.com/v1", **both) == ("sk-o", "https://api.openai.com/v1")


def test_another_host_never_gets_the_key_of_openai() -> None:
    with pytest.raises(NoKey) as raised:
        key_of("openai:m@https://openrouter.ai/api/v1", OPENAI_API_KEY=KEY)
    assert raised.value.fix == (Hint(Act.SET_KEY, provider="openrouter.ai"), "export OPENROUTER_API_KEY=…")
    assert key_of("openai:m@https://openrouter.ai/api/v1", OPENROUTER_API_KEY=KEY)[0] == KEY


def test_a_near_server_needs_no_key_and_gets_one_that_is_its_own() -> None:
    here = "http://127.0.0.1:11434/v1"
    assert key_of(f"openai:m@{here}", OPENAI_API_KEY=KEY) == ("", here)
    assert key_of(f"openai:m@{here}", **{"127_0_0_1_11434_API_KEY": KEY}) == (KEY, here)


def test_a_provider_can_be_reached_elsewhere() -> None:
    elsewhere = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "https://proxy.example/claude/"}
    assert key_of("anthropic:m", **elsewhere) == (KEY, "https://proxy.example/claude")


async def test_without_the_library_there_is_a_clear_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.delitem(sys.modules, "moot.brains.llm.openai", raising=False)
    model = make_model("openai:m@http://127.0.0.1:9/v1", keys=KeyRing({}, NO_FILE))

    async def said(_: str) -> None: ...

    with pytest.raises(ModelTrouble, match=r"pip install 'moot\[llm\]'") as raised:
        await model.complete(Prompt("", (PromptLine("user", "hello"),)), said)
    assert raised.value.kind is TroubleKind.NOT_INSTALLED


def test_a_model_shows_no_key() -> None:
    made: Any = make_model("openai:m", keys=KeyRing({"OPENAI_API_KEY": KEY}, NO_FILE))
    assert KEY not in repr(made) + repr(vars(made)) + repr(made.endpoint)


def test_the_adapters_are_named_where_they_are() -> None:
    assert set(brain_string.ADAPTERS) == set(brain_string.OWN_URLS) == set(brain_string.URL_VARIABLES)
