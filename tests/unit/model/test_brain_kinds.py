"""The table of brain kinds: complete, and the same for settings, commands and loaders."""

import re

import pytest

from moot.brains.llm.brain_string import ADAPTERS, OWN_URLS, URL_VARIABLES
from moot.rules.brain_kinds import (
    BRAIN_KINDS,
    CODE,
    DEMO,
    EXTERNAL,
    forms,
    has_model,
    is_built,
    is_cli,
    kind_of,
    runs_here,
)
from moot.settings.schema.constraints import BRAIN, SUMMING
from moot.wiring import LOADERS

WRITTEN = {
    "demo": "demo",
    "code:module:attr": "code:module:attr",
    "anthropic:MODEL": "anthropic:claude-haiku-5-5",
    "openai:MODEL": "openai:gpt-6",
    "openai:MODEL@URL": "openai:llama3@http://127.0.0.1:11434/v1",
    "command:claude": "command:claude",
    "command:codex": "command:codex",
    "command:TEMPLATE": "command:tool --ask {prompt}",
    "acp:COMMAND": "acp:opencode acp",
    "a2a:URL": "a2a:https://agents.example/one",
    "external": "external",
}


def test_every_form_is_tried_here() -> None:
    assert tuple(WRITTEN) == forms() == BRAIN.choices


@pytest.mark.parametrize("brain", WRITTEN.values())
def test_what_is_written_as_shown_is_taken_and_is_of_one_kind(brain: str) -> None:
    assert BRAIN.fits(brain)
    fitting = [kind for kind in BRAIN_KINDS.values() if re.fullmatch(kind.pattern, brain)]
    assert fitting == [kind_of(brain)]


def test_each_kind_that_runs_here_can_be_loaded_and_no_other() -> None:
    assert set(LOADERS) == {prefix for prefix in BRAIN_KINDS if runs_here(prefix)}


def test_each_kind_with_a_model_has_its_adapter_and_address() -> None:
    with_model = {prefix for prefix in BRAIN_KINDS if has_model(prefix)}
    assert with_model == set(ADAPTERS) == set(OWN_URLS) == set(URL_VARIABLES)


def test_what_sums_up_is_the_demo_or_a_model() -> None:
    for brain in WRITTEN.values():
        assert SUMMING.fits(brain) == (has_model(brain) or kind_of(brain) is DEMO), brain
    assert SUMMING.fits("")


def test_what_is_known_of_each_kind() -> None:
    assert kind_of("code:a:b") is CODE
    assert kind_of("external") is EXTERNAL
    assert not runs_here("external")
    assert not is_built("a2a:https://agents.example/one")
    assert not runs_here("a2a:https://agents.example/one")
    assert is_cli("command:claude")
    assert is_cli("acp:opencode acp")
    assert not is_cli("demo")
    assert kind_of("telepathy:strong") is None
    assert not runs_here("telepathy:strong")
    assert is_built("telepathy:strong"), "it is not a promise of ours"
