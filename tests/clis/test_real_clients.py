"""The real claude and the real codex find Moot, talk with each other through it, and are woken by it.

Each has a scripted model; everything else is theirs: their configuration, their MCP client, their hooks.
"""

import asyncio
import json

from moot.testing.fake_llm import Answer, ScriptedCall
from tests.clis.place import Place, Played, calls, says

QUESTION, ANSWER = "Which port does your dev server use?", "5173, see vite.config.ts"


def asking() -> Played:
    return Played(
        calls("list_agents"),
        calls("send_to_agent", target="codex-web", message=QUESTION),
        calls("wait_for_messages", timeout_seconds=50),
        lambda heard: Answer(f"It is: {heard.results[-1]['messages'][0]['text']}"),
    )


def answering() -> Played:
    return Played(
        calls("list_agents"),
        calls("wait_for_messages", timeout_seconds=50),
        lambda heard: Answer(
            calls=(
                ScriptedCall("reply", {"message_id": heard.results[-1]["messages"][0]["id"], "text": ANSWER}),
            )
        ),
        says("answered"),
    )


async def test_found_by_what_config_prints_they_ask_and_answer_each_other(place: Place) -> None:
    config = place.folder("api") / "moot.json"
    config.write_text(await place.moot("mcp", "config", "--client", "claude"))
    place.tell_codex_of_the_model(await place.moot("mcp", "config", "--client", "codex"))
    claude = place.script["claude"] = asking()
    codex = place.script["codex"] = answering()
    async with asyncio.TaskGroup() as both:
        web = both.create_task(place.codex("answer what comes", folder="web"))
        await place.until_known("codex-web")
        api = both.create_task(
            place.claude("ask codex-web", "--mcp-config", str(config), "--strict-mcp-config", folder="api")
        )
    listed = claude.heard[1].results[0]
    assert listed["self"] == "claude-api"
    assert {"claude-api", "codex-web"} <= {agent["name"] for agent in listed["agents"]}
    assert codex.heard[1].results[0]["self"] == "codex-web"
    assert codex.heard[2].results[1]["messages"][0]["text"] == QUESTION
    assert codex.heard[3].results[2]["delivered"] is True
    assert f"It is: {ANSWER}" in api.result()
    assert "answered" in web.result()


async def test_found_by_what_install_did_they_ask_and_answer_each_other(place: Place) -> None:
    place.tell_codex_of_the_model()
    told = await place.moot("mcp", "install", "claude", "codex", "--yes")
    assert "✓ claude" in told
    assert "✓ codex" in told
    claude = place.script["claude"] = asking()
    codex = place.script["codex"] = answering()
    async with asyncio.TaskGroup() as both:
        both.create_task(place.codex("answer what comes", folder="web"))
        await place.until_known("codex-web")
        api = both.create_task(place.claude("ask codex-web", folder="api"))
    assert claude.heard[1].results[0]["self"] == "claude-api"
    assert codex.heard[2].results[1]["messages"][0]["from"] == "claude-api"
    assert f"It is: {ANSWER}" in api.result()


async def test_uninstall_restores_their_own_files_byte_for_byte(place: Place) -> None:
    place.tell_codex_of_the_model()
    place.script["claude"] = Played()
    await place.claude("say something", folder="api")
    (place.home / ".claude").mkdir(exist_ok=True)
    (place.home / ".claude/settings.json").write_text('{"cleanupPeriodDays":  30}')
    before = place.settings_files()
    assert set(before) == {".claude.json", "settings.json", "config.toml"}
    await place.moot("mcp", "install", "--wake", "claude", "codex", "--yes")
    assert "moot" in (await place.run("codex", "mcp", "list"))
    changed = place.settings_files()
    assert all(changed[name] != before[name] for name in before)
    told = await place.moot("mcp", "uninstall")
    assert told.count("restored") == 4
    assert place.settings_files() == before


async def test_what_they_wrote_to_their_files_since_stays_and_our_entry_goes(place: Place) -> None:
    place.tell_codex_of_the_model()
    await place.moot("mcp", "install", "--wake", "claude", "codex", "--yes")
    claude = place.script["claude"] = Played(calls("list_agents"), says("seen"))
    await place.claude("who is there?", folder="api")
    assert claude.heard[1].results[0]["self"] == "claude-api"
    await place.run("codex", "mcp", "add", "third", "--", "/bin/true")
    told = await place.moot("mcp", "uninstall")
    assert ".claude.json   it has changed since, so only Moot's entry was removed" in told
    assert "config.toml   it has changed since, so only Moot's entry was removed" in told
    assert "moot" not in await place.run("claude", "mcp", "list")
    listed = await place.run("codex", "mcp", "list")
    assert "third" in listed
    assert "moot" not in listed
    assert "# a person's own settings" in (place.home / ".codex/config.toml").read_text()


async def wakes(place: Place, client: str, folder: str, **more: str) -> Played:
    """A turn of a client during which a message comes in; what its model was given."""
    name = f"{client}-{folder}"

    async def is_written_to(heard: object) -> Answer:
        await place.moot("send", name, "please look at the tests", "--no-wait")
        return Answer("my turn is over")

    played = Played(
        calls("list_agents"),
        is_written_to,
        lambda heard: Answer(
            calls=(ScriptedCall("reply", {"message_id": message_id(heard.text), "text": "I do"}),)
        ),
        says("done"),
    )
    place.script[client] = played
    return played


def message_id(text: str) -> str:
    """As the hook told it, inside of JSON."""
    return text.rpartition('[From human \\"user\\"]: id ')[2].partition(" ")[0]


async def assert_woken(place: Place, played: Played, name: str) -> None:
    assert "please look at the tests" not in played.heard[1].text
    woken = played.heard[2]
    assert "please look at the tests" in woken.text
    assert f'for you, \\"{name}\\", from Moot' in woken.text
    assert played.heard[3].results[-1]["delivered"] is True
    assert len(played.heard) == 4, "the turn was made longer once"
    where = message_id(woken.text).rpartition(":")[0]
    assert '"I do"' in await place.moot("conv", "show", where, "--json")
    assert (await place.agents())[name].reachability in ("next-turn", "on-demand", "away")


async def test_what_comes_in_during_a_turn_is_handed_to_claude_at_its_end(place: Place) -> None:
    await place.moot("mcp", "install", "--wake", "claude", "--yes")
    played = await wakes(place, "claude", "api")
    await place.claude("do something", folder="api")
    await assert_woken(place, played, "claude-api")
    assert not (place.home / ".moot/logs/hooks.log").exists()


async def test_what_comes_in_during_a_turn_is_handed_to_codex_at_its_end(place: Place) -> None:
    place.tell_codex_of_the_model()
    await place.moot("mcp", "install", "--wake", "codex", "--yes")
    played = await wakes(place, "codex", "web")
    # A person trusts hooks once, in Codex itself (/hooks); this is the flag for machines.
    await place.codex("do something", "--dangerously-bypass-hook-trust", folder="web")
    await assert_woken(place, played, "codex-web")


async def test_what_waits_goes_along_with_the_next_prompt_of_claude(place: Place) -> None:
    await place.moot("mcp", "install", "--wake", "claude", "--yes")
    place.script["claude"] = Played(calls("list_agents"), says("hello"))
    await place.claude("who is there?", folder="api")
    await place.moot("send", "claude-api", "good morning", "--no-wait")
    second = place.script["claude"] = Played(says("and to you"))
    await place.claude("anything new?", folder="api")
    assert "good morning" in second.heard[0].text
    assert 'In Moot you are \\"claude-api\\"' in second.heard[0].text


async def test_without_a_persons_trust_codex_runs_no_hook(place: Place) -> None:
    """What the how-to says of it; should this fail, Codex has changed, and the how-to has to."""
    place.tell_codex_of_the_model()
    await place.moot("mcp", "install", "--wake", "codex", "--yes")
    played = await wakes(place, "codex", "web")
    await place.codex("do something", folder="web")
    assert len(played.heard) == 2


async def test_both_reach_the_hub_over_http_with_a_token_from_the_environment(place: Place) -> None:
    config = place.folder("api") / "moot.json"
    told = json.loads(await place.moot("mcp", "config", "ann", "--client", "claude", "--http", "--json"))
    config.write_text(told["config"])
    assert told["token"] not in told["config"]
    claude = place.script["claude"] = Played(calls("list_agents"), says("seen"))
    words = ("--mcp-config", str(config), "--strict-mcp-config")
    await place.claude("who am I?", *words, folder="api", MOOT_TOKEN_ANN=told["token"])
    assert claude.heard[1].results[0]["self"] == "ann"

    told = json.loads(await place.moot("mcp", "config", "ben", "--client", "codex", "--http", "--json"))
    place.tell_codex_of_the_model(told["config"])
    codex = place.script["codex"] = Played(calls("list_agents"), says("seen"))
    await place.codex("who am I?", folder="web", MOOT_TOKEN_BEN=told["token"])
    assert codex.heard[1].results[0]["self"] == "ben"


async def test_installed_for_http_claude_is_who_its_token_says(place: Place) -> None:
    [told] = json.loads(await place.moot("mcp", "install", "claude", "--http", "--yes", "--json"))
    claude = place.script["claude"] = Played(calls("list_agents"), says("seen"))
    await place.claude("who am I?", folder="api", MOOT_TOKEN_CLAUDE=told["token"])
    assert claude.heard[1].results[0]["self"] == "claude"
