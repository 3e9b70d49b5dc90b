"""Where keys come from, and that they are never shown."""

import json
import logging
import os
import pickle
import stat
from pathlib import Path

import pytest

from moot.brains.llm.keys import KeyRing, Secret, as_holder, is_near, variables
from moot.errors import BadSettings, BadValue, NoKey
from moot.model.hint import Act, Hint

KEY = "sk-ant-0123456789-x7Qa"
OTHER = "sk-other-0123456789-abcd"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "keys.json"


def ring(path: Path, **environ: str) -> KeyRing:
    return KeyRing(environ, path)


def test_a_stored_key_is_found_and_nobody_else_can_read_it(path: Path) -> None:
    ring(path).store("anthropic", f"  {KEY}\n")
    found = ring(path).need("anthropic")
    assert found.key.reveal() == KEY
    assert (found.source, found.variable) == ("keys.json", "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["keys.json"]


def test_the_environment_wins_and_is_not_copied_to_disk(path: Path) -> None:
    ring(path).store("anthropic", OTHER)
    keys = ring(path, ANTHROPIC_API_KEY=KEY)
    found = keys.need("anthropic")
    assert (found.key.reveal(), found.source, found.variable) == (KEY, "environment", "ANTHROPIC_API_KEY")
    keys.store("openai", OTHER)
    assert KEY not in path.read_text()


def test_without_a_key_both_ways_to_give_one_are_named(path: Path) -> None:
    with pytest.raises(NoKey) as raised:
        ring(path).need("anthropic", "agent arya")
    assert raised.value.title == "agent arya uses anthropic, but no key is set"
    assert raised.value.fix == (Hint(Act.SET_KEY, provider="anthropic"), "export ANTHROPIC_API_KEY=…")
    assert str(path) in raised.value.detail
    assert raised.value.code == "E101"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o666])
def test_a_file_that_others_can_read_is_refused(path: Path, mode: int) -> None:
    ring(path).store("anthropic", KEY)
    path.chmod(mode)
    with pytest.raises(BadSettings, match="can be read by other users") as raised:
        ring(path).find("anthropic")
    assert raised.value.fix == (f"chmod 600 {path}",)
    assert KEY not in str(raised.value.to_dict())


@pytest.mark.parametrize("text", ["", "[]", '{"anthropic": 5}', f'{{"anthropic": "{KEY}"', f'"{KEY}"'])
def test_a_broken_file_is_refused_without_repeating_it(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(BadSettings) as raised:
        ring(path).find("anthropic")
    assert KEY not in str(raised.value.to_dict())
    assert raised.value.__cause__ is None
    assert KEY not in repr(raised.value.__context__)


@pytest.mark.parametrize("value", ["", "two words", "line\nbreak", "schlüssel", "x" * 5000, "bell\x07"])
def test_what_cannot_be_a_key_is_refused_without_repeating_it(path: Path, value: str) -> None:
    with pytest.raises(BadValue) as raised:
        ring(path).store("anthropic", value)
    assert not value or value not in str(raised.value.to_dict())
    assert not path.exists()


def test_a_broken_key_in_the_environment_names_its_variable(path: Path) -> None:
    with pytest.raises(BadValue, match="ANTHROPIC_API_KEY is not a key"):
        ring(path, ANTHROPIC_API_KEY="two words").find("anthropic")


def test_removing_takes_it_out_of_the_file_only(path: Path) -> None:
    keys = ring(path)
    keys.store("anthropic", KEY)
    keys.store("openai", OTHER)
    assert keys.remove("anthropic") is True
    assert keys.remove("anthropic") is False
    assert json.loads(path.read_text()) == {"openai": OTHER}


def test_all_lists_every_key_once(path: Path) -> None:
    ring(path).store("anthropic", OTHER)
    ring(path).store("my.server:8000", OTHER)
    keys = ring(path, ANTHROPIC_API_KEY=KEY, OPENROUTER_API_KEY=KEY, OPENAI_API_KEY=KEY)
    assert [(held.holder, held.source) for held in keys.all()] == [
        ("anthropic", "environment"),
        ("openai", "environment"),
        ("openrouter.ai", "environment"),
        ("my.server:8000", "keys.json"),
    ]


def test_a_write_that_fails_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring(path).store("anthropic", KEY)

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(BadSettings, match="No space left"):
        ring(path).store("anthropic", OTHER)
    assert ring(path).need("anthropic").key.reveal() == KEY
    assert [file.name for file in path.parent.iterdir()] == ["keys.json"]


@pytest.mark.req("P-06")
def test_a_secret_shows_itself_nowhere() -> None:
    secret = Secret(KEY)
    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret:>40}",
        logging.LogRecord("x", 10, "", 0, "%s %r", (secret, secret), None).getMessage(),
        str([secret]),
    ]
    assert [text for text in shown if KEY in text] == []
    assert secret.ending == "…x7Qa"
    assert Secret("short").ending == "…"
    assert secret.hide_in(f"Bearer {KEY}.") == "Bearer ***."
    with pytest.raises(TypeError):
        pickle.dumps(secret)


@pytest.mark.parametrize(
    ("holder", "expected"),
    [
        ("anthropic", ("ANTHROPIC_API_KEY",)),
        ("openai", ("OPENAI_API_KEY",)),
        ("openrouter.ai", ("OPENROUTER_API_KEY", "OPENROUTER_AI_API_KEY")),
        ("my.server:8000", ("MY_SERVER_8000_API_KEY",)),
        ("openai.evil.example", ("OPENAI_EVIL_EXAMPLE_API_KEY",)),
    ],
)
def test_each_holder_has_variables_of_its_own(holder: str, expected: tuple[str, ...]) -> None:
    assert variables(holder) == expected


@pytest.mark.parametrize(
    ("given", "holder"),
    [
        ("Anthropic", "anthropic"),
        ("https://openrouter.ai/api/v1", "openrouter.ai"),
        ("http://127.0.0.1:11434/v1", "127.0.0.1:11434"),
        ("http://user:pass@my.server/v1", "my.server"),
    ],
)
def test_a_holder_is_a_provider_or_a_host(given: str, holder: str) -> None:
    assert as_holder(given) == holder


@pytest.mark.parametrize("given", ["", "two words", "a/b", "../x", "x" * 300, "a\nb"])
def test_what_is_no_holder_is_refused(given: str) -> None:
    with pytest.raises(BadValue):
        as_holder(given)


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("10.1.2.3", True),
        ("192.168.0.9", True),
        ("localhost", True),
        ("ollama", True),
        ("box.local", True),
        ("8.8.8.8", False),
        ("openrouter.ai", False),
        ("localhost.evil.example", False),
    ],
)
def test_near_servers_want_no_key(host: str, near: bool) -> None:
    assert is_near(host) is near
