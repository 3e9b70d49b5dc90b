"""Looking after a hub over HTTP: role files, settings and logs here, processes in tests/doors/cli/test_open.py."""

from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.context import identity
from moot.hub.archive.export import Export
from moot.testing.fake_llm import FakeLLM
from tests.doors.http.world import World


async def exported(hub: Hub, name: str) -> str:
    store = hub._core.parts.store
    found = await store.conversation(name)
    assert found is not None
    made = await Export.of(store)
    return b"".join([chunk async for chunk in made.jsonl([found])]).decode()


async def test_a_role_file_is_read_written_and_guarded_against_two_writers(world: World) -> None:
    path = "/api/agents/arya/files"
    files = {one["name"]: one for one in (await world.get(path)).json()["files"]}
    assert set(files) == {"SOUL.md", "IDENTITY.md", "USER.md", "ROLE.md"}
    assert (files["ROLE.md"]["text"], files["ROLE.md"]["version"]) == ("", "")
    made = await world.ask("owner", "PUT", f"{path}/ROLE.md", {"text": "You test.", "seen": ""})
    assert made.status_code == 200
    first = made.json()["version"]
    stale = await world.ask("owner", "PUT", f"{path}/ROLE.md", {"text": "Mine.", "seen": ""})
    assert (stale.status_code, stale.json()["current_text"], stale.json()["your_text"]) == (
        409,
        "You test.",
        "Mine.",
    )
    again = await world.ask("owner", "PUT", f"{path}/ROLE.md", {"text": "You write.", "seen": first})
    assert again.json()["text"] == "You write."
    home = Path(world.hub._core.parts.home.path)
    assert (home / "agents" / "arya" / "ROLE.md").stat().st_mode & 0o777 == 0o600
    assert identity.read(home / "agents", "arya") == {"role": "You write."}
    [entry, *_] = (await world.get("/api/audit?acts=agent.edited")).json()["entries"]
    assert "You write" not in str(entry)
    assert "ROLE.md" in str(entry)


async def test_only_the_four_files_can_be_written_and_no_link_is_followed(
    world: World, tmp_path: Path
) -> None:
    async def put(file: str, text: str = "x") -> Any:
        return await world.ask("owner", "PUT", f"/api/agents/arya/files/{file}", {"text": text})

    assert (await put("moot.toml")).status_code == 404
    assert (await put("..%2F..%2Fmoot.toml")).status_code == 404
    assert (await put("ROLE.md", "x" * 70_000)).status_code == 422
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = world.hub._core.parts.home.agents / "quiet"
    folder.symlink_to(outside)
    answer = await world.ask("owner", "PUT", "/api/agents/quiet/files/ROLE.md", {"text": "x"})
    assert answer.status_code == 500
    assert list(outside.iterdir()) == []
    assert (await world.get("/api/agents/karl/files")).status_code == 403


async def test_a_setting_is_listed_changed_in_the_file_and_taken_in(world: World) -> None:
    listed = {one["key"]: one for one in (await world.get("/api/settings")).json()["settings"]}
    depth = listed["groups.max_depth"]
    assert (depth["value"], depth["source"], depth["needs_restart"]) == (2, "default", False)
    assert listed["hub.port"]["needs_restart"] is True
    assert depth["meaning"]
    changed = await world.ask("owner", "PUT", "/api/settings/groups.max_depth", {"value": "4"})
    assert changed.json() == {"key": "groups.max_depth", "value": 4, "previous": None, "needs_restart": False}
    assert world.hub.settings.groups.max_depth == 4
    wrong = await world.ask("owner", "PUT", "/api/settings/groups.max_depth", {"value": "deep"})
    assert (wrong.status_code, "max_depth" in wrong.json()["title"]) == (422, True)
    assert (
        await world.ask("owner", "PUT", "/api/settings/groups.nonsense", {"value": "1"})
    ).status_code == 404
    assert world.hub.settings.groups.max_depth == 4


async def test_the_end_of_a_log_is_shown_without_secrets(world: World) -> None:
    home = world.hub._core.parts.home
    lines = [f"line {number}" for number in range(300)] + [f"token moot_ag_arya_{'x' * 40}"]
    home.log_of("arya").write_text("\n".join(lines) + "\n")
    told = (await world.get("/api/logs?agent=arya&lines=2")).json()
    assert told["lines"][0] == "line 299"
    assert "xxxx" not in told["lines"][1]
    missing = await world.get("/api/logs?agent=quiet")
    assert (missing.status_code, missing.json()["fix"]) == (404, ["POST /api/agents/quiet/start"])


async def test_a_ping_tells_whether_a_process_answers(world: World) -> None:
    found = (await world.post("/api/agents/arya/ping")).json()
    assert (found["agent"], found["known"], found["woken"]) == ("arya", True, True)
    assert found["milliseconds"] >= 0
    assert (await world.post("/api/agents/bob/ping")).json()["woken"] is False


async def test_an_agent_is_added_to_the_file_with_its_files_and_a_refusal_changes_nothing(
    world: World,
) -> None:
    home = world.hub._core.parts.home
    made = await world.post("/api/hosted-agents", {"name": "fin", "role": "reads ${FILINGS}"})
    assert (made.status_code, made.json()["brain"], made.json()["role"]) == (201, "demo", "reads ${FILINGS}")
    files = (await world.get("/api/agents/fin/files")).json()["files"]
    assert "Reads ${FILINGS}" in next(one["text"] for one in files if one["name"] == "ROLE.md")
    before = home.toml.read_text()
    assert 'name = "fin"' in before
    for name, brain, status in (
        ("fin", "demo", 409),
        ("bob", "demo", 409),
        ("all", "demo", 409),
        ("tools", "command:claude", 422),
        ("mine", "code:os:system", 422),
    ):
        refused = await world.post("/api/hosted-agents", {"name": name, "brain": brain})
        assert (refused.status_code, refused.json()["title"] != "") == (status, True), refused.text
    assert home.toml.read_text() == before
    assert (await world.ask("karl", "POST", "/api/hosted-agents", {"name": "his"})).status_code == 403


async def test_a_provider_shows_the_end_of_its_key_and_says_whether_it_answers(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-ant-canary-0123456789-x7Qa"
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    answer = await world.get("/api/providers")
    found = {one["name"]: one for one in answer.json()["providers"]}
    assert (found["anthropic"]["ending"], found["anthropic"]["variable"]) == ("…x7Qa", "ANTHROPIC_API_KEY")
    assert found["openai"]["ending"] is None
    tried = [await world.post(f"/api/providers/{name}/test") for name in ("anthropic", "openai", "nobody")]
    assert [one.status_code for one in tried] == [200, 200, 404]
    assert [one.json()["answers"] for one in tried[:2]] == [False, False]
    assert "no key" in tried[1].json()["problem"]
    assert secret not in answer.text + "".join(one.text for one in tried)


async def test_a_provider_that_answers_says_how_many_models_it_offers(world: World) -> None:
    async with FakeLLM() as fake:
        brain = f"openai:fake@{fake.openai_url}"
        path = world.hub._core.parts.home.toml
        path.write_text(path.read_text() + f'[[agents]]\nname = "thinker"\nbrain = "{brain}"\n')
        await world.hub.reload()
        holder = fake.url.removeprefix("http://")
        tried = (await world.post(f"/api/providers/{holder}/test")).json()
        assert (tried["name"], tried["answers"], tried["problem"]) == (holder, True, "")
        assert tried["models"] >= 1


async def test_a_backup_is_made_and_an_export_comes_back_once(world: World) -> None:
    made = await world.post("/api/backups")
    assert made.status_code == 201
    [listed] = (await world.get("/api/backups")).json()["backups"]
    assert (listed["name"], listed["kind"]) == (made.json()["name"], "manual")
    assert (world.hub._core.parts.home.backups / listed["name"]).stat().st_size == listed["bytes"]
    await world.hub.post("room", "to be taken along")
    text = await exported(world.hub, "room")
    for dry, state in ((True, "new"), (False, "new"), (False, "there")):
        answer = await world.post("/api/imports", {"text": text, "dry_run": dry})
        [brought] = answer.json()["conversations"]
        assert (brought["called"], brought["state"], answer.json()["dry_run"]) == ("room-2", state, dry)
    broken = await world.post("/api/imports", {"text": "no export"})
    assert (broken.status_code, broken.json()["line"]) == (422, 1)


async def test_the_last_hour_is_counted_as_far_as_one_may_read(world: World) -> None:
    await world.hub.post("room", "one")
    await world.hub.settled("room")
    owner, bob = [(await world.ask(who, "GET", "/api/now/hour")).json() for who in ("owner", "bob")]
    said = len(await world.hub.messages("room"))
    assert (owner["messages"], sum(owner["parts"]), owner["parts"][-1]) == (said, said, said)
    assert (bob["messages"], owner["refused"], owner["at_least"]) == (0, 0, False)
