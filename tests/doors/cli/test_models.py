"""`moot models` and `moot keys test`: a provider is asked for its models, which costs nothing and tries the key."""

import json
import os
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.doors.cli.shell import Shell, Terminal, Told
from tests.support.waiting import PATIENCE

Moot = Callable[..., Told]

GOOD = "sk-good-0123456789-x7Qa"
BAD = "sk-bad-0123456789-n0pe"
MODELS = ("claude-haiku-5-5", "claude-opus-5-5")
CLOSED = "http://127.0.0.1:9"

pytestmark = pytest.mark.req("P-03")


class Provider(BaseHTTPRequestHandler):
    """Knows one key, has two models."""

    protocol_version = "HTTP/1.1"
    asked: list[str] = []  # noqa: RUF012  http.server makes a new object for each request

    def do_GET(self) -> None:
        self.asked.append(self.path)
        key = self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
        known = key == GOOD
        listed = {"object": "list", "has_more": False, "data": [{"id": m, "type": "model"} for m in MODELS]}
        refused = {"type": "error", "error": {"type": "authentication_error", "message": f"no: {key}"}}
        body = json.dumps(listed if known else refused).encode()
        self.send_response(200 if known else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Not on the test's screen."""


@pytest.fixture
def url() -> Iterator[str]:
    Provider.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("moot.cli.manage.models.local_server_answers", lambda: False)


def test_a_key_that_is_accepted(moot: Moot, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", GOOD)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    told = moot("keys", "test", "anthropic")
    assert (told.code, told.out) == (0, "✓ anthropic accepts the key …x7Qa and offers 2 models\n")
    assert [path.partition("?")[0] for path in Provider.asked] == ["/v1/models"]
    assert moot("keys", "test", "anthropic", "--json").json == {
        "provider": "anthropic",
        "source": "environment",
        "variable": "ANTHROPIC_API_KEY",
        "ending": "…x7Qa",
        "accepted": True,
        "models": 2,
    }


def test_a_key_that_is_refused_is_named_by_its_ending(
    moot: Moot, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", BAD)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    told = moot("keys", "test", "anthropic")
    assert told.code == 4
    assert told.err == (
        "error[E102] anthropic refused the key ending …n0pe (HTTP 401)\n"
        "  fix   moot keys set anthropic\n"
        "  more  moot explain E102\n"
    )
    debugged = moot("--debug", "keys", "test", "anthropic", "--json")
    assert BAD not in told.out + told.err + debugged.out + debugged.err


def test_a_provider_that_does_not_answer_is_another_error(
    moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", GOOD)
    monkeypatch.setenv("OPENAI_BASE_URL", CLOSED)
    told = moot("keys", "test", "openai")
    assert told.code == 1
    assert told.err == (
        "error[E104] openai at 127.0.0.1:9: it cannot be reached\n"
        "  fix   moot doctor net\n"
        "  more  moot explain E104\n"
    )


def test_a_key_that_is_not_there_cannot_be_tried(moot: Moot) -> None:
    told = moot("keys", "test", "anthropic")
    assert (told.code, told.err.splitlines()[0]) == (
        4,
        "error[E101] anthropic needs a key, but no key is set",
    )
    told = moot("keys", "test", "openrouter.ai")
    assert told.code == 4


def test_the_key_of_a_server_goes_to_that_server_only(
    moot: Moot, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = url.partition("//")[2]
    variable = host.replace(".", "_").replace(":", "_") + "_API_KEY"
    monkeypatch.setenv(variable, GOOD)
    told = moot("keys", "test", host)
    assert (told.code, told.err.splitlines()[0]) == (
        3,
        f"error[E201] the address of {host} is not known: no agent uses it",
    )
    assert moot("keys", "test", host, "--url", f"{CLOSED}/v1").code == 2
    assert Provider.asked == []
    told = moot("keys", "test", host, "--url", f"{url}/v1")
    assert told.out == f"✓ {host} accepts the key …x7Qa and offers 2 models\n"


# --- models --------------------------------------------------------------------------------------------------


def test_models_of_everybody_whose_key_is_set(
    shell: Shell, moot: Moot, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", GOOD)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    moot("agents", "new", "fin", "--model", "anthropic:claude-haiku-5-5")
    moot("agents", "new", "far", "--model", f"openai:llama@{CLOSED}/v1")
    told = moot("models")
    assert told.code == 0
    assert told.out.splitlines() == [
        "brain                       in $/M  out $/M  agents",
        "demo                        -       -",
        "anthropic:claude-haiku-5-5  0.1     0.5      fin",
        "anthropic:claude-opus-5-5   4       20",
    ]
    assert told.err == "! openai at 127.0.0.1:9: it cannot be reached\n"
    assert [row["brain"] for row in moot("models", "anthropic", "--json").json] == [
        f"anthropic:{model}" for model in MODELS
    ]
    assert moot("models", "127.0.0.1:9").code == 1
    assert moot("models", "nobody").err.startswith('error[E201] unknown provider "nobody"\n')


@pytest.mark.req("P-07")
def test_doctor_asks_those_that_agents_think_with(
    moot: Moot, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_HUB__PORT", "0")
    monkeypatch.setenv("ANTHROPIC_API_KEY", GOOD)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    assert moot("doctor").out.splitlines()[-1] == "All good."
    assert Provider.asked == []
    moot("agents", "new", "fin", "--model", f"anthropic:{MODELS[0]}")
    assert "✓ models: anthropic answers and offers 2 models\n" in moot("doctor").out
    moot("agents", "new", "far", "--model", "anthropic:nobody")
    told = moot("doctor")
    assert (told.code, told.out.splitlines()[0]) == (
        0,
        "! models: anthropic does not list nobody, the model of far",
    )
    monkeypatch.setenv("ANTHROPIC_API_KEY", "wrong-key-abcd")
    told = moot("doctor")
    assert told.code == 1
    assert "(HTTP 401) (fin, far cannot answer)" in told.out.splitlines()[0]


def test_models_without_any_key(moot: Moot) -> None:
    told = moot("models")
    assert (told.code, told.err) == (
        0,
        "no key is set, so no provider was asked: moot keys set anthropic\n",
    )
    assert moot("models", "--json", "--fields", "brain").json == [{"brain": "demo"}]
    assert moot("models", "openai").code == 4


# --- set -----------------------------------------------------------------------------------------------------


def typed(shell: Shell, url: str, key: str) -> tuple[int, str]:
    clean = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", "ANTHROPIC_BASE_URL": url}
    terminal = Terminal(shell, "keys", "set", "anthropic", env=clean)
    try:
        terminal.read_until("Key (hidden): ")
        terminal.type(key)
        seen = terminal.rest()
        assert key not in seen
        return int(terminal.process.wait(timeout=PATIENCE)), seen
    finally:
        terminal.close()


def test_a_key_that_is_typed_is_tried_before_it_is_kept(shell: Shell, url: str) -> None:
    shell.moot("agents", "set", "arya", "--model", "demo")
    code, seen = typed(shell, url, BAD)
    assert code == 4
    assert "error[E102] anthropic refused the key ending …n0pe (HTTP 401)" in seen
    assert not os.path.exists(shell.home / "keys.json")
    code, seen = typed(shell, url, GOOD)
    assert code == 0
    assert "✓ key accepted (asked the provider for its model list, no tokens used)" in seen
    assert "still on the demo brain: arya. Switch them: moot agents set --all --model auto" in seen
    assert json.loads((shell.home / "keys.json").read_text()) == {"anthropic": GOOD}


def test_a_key_that_cannot_be_tried_is_kept_all_the_same(shell: Shell) -> None:
    code, seen = typed(shell, CLOSED, GOOD)
    assert code == 0
    assert "! the key was not checked: anthropic at 127.0.0.1:9: it cannot be reached" in seen
    assert (shell.home / "keys.json").exists()
