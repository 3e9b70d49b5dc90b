"""Looking after a hub over HTTP: role files, settings and logs here, processes in tests/doors/cli/test_open.py."""

from pathlib import Path
from typing import Any

from moot.context import identity
from tests.doors.http.world import World


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
