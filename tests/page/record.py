"""Record what a hub answers and tells while things happen, for dashboard/tests/recorded.json.

    python -m tests.page.record

The page folds events onto a snapshot; dashboard/tests/fold.test.ts holds what comes out against the snapshots in here.
Made anew when the shape of answers or events changes.
"""

from __future__ import annotations

import json
import tempfile
import time
import urllib.request
from pathlib import Path
from threading import Thread
from typing import Any

from tests.page.conftest import free_port
from tests.page.node import DASHBOARD
from tests.page.running_hub import RunningHub

OPEN_STATES = ("running", "ready", "waiting", "held", "owed")
QUIET = 1.5
"""Seconds after which whatever is told has been told."""


def snapshot(hub: RunningHub) -> dict[str, Any]:
    """The requests that the page makes at its start, in its order."""
    status = hub.api("GET", "/api/status")
    archived = hub.api("GET", "/api/conversations?archived=true&limit=200")["conversations"]
    conversations = [*archived, *hub.api("GET", "/api/conversations?limit=200")["conversations"]]
    turns = [turn for state in OPEN_STATES for turn in hub.api("GET", f"/api/turns?state={state}")["turns"]]
    threads = {
        one["id"]: {"messages": hub.messages(one["id"]), "whole": True, "stale": False}
        for one in conversations
        if one["kind"] != "link"
    }
    return {
        "status": status,
        "conversations": conversations,
        "graph": hub.api("GET", "/api/topology"),
        "tasks": hub.api("GET", "/api/tasks")["tasks"],
        "decisions": hub.api("GET", "/api/decisions")["decisions"],
        "turns": turns,
        "brakes": {},
        "threads": threads,
    }


class Follower(Thread):
    """Everything that is stored, as it is told. Told later, events would carry what has become of things since."""

    def __init__(self, hub: RunningHub) -> None:
        super().__init__(daemon=True)
        self.events: list[Any] = []
        token = (hub.home / "run" / "token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        self._request = urllib.request.Request(f"{hub.url}/api/events?after=0", headers=headers)

    def run(self) -> None:
        with urllib.request.urlopen(self._request, timeout=60) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    event = json.loads(line[6:])
                    if event.get("id"):
                        self.events.append(event)

    def caught_up(self, position: int) -> None:
        """Wait until the newest event up to a position is here; some are told to nobody."""
        until = time.monotonic() + QUIET
        while time.monotonic() < until and not (self.events and int(self.events[-1]["id"]) >= position):
            time.sleep(0.02)


def happen(hub: RunningHub, follower: Follower) -> list[dict[str, Any]]:
    """A little of everything, with a snapshot after each."""
    taken = [snapshot(hub)]
    follower.caught_up(taken[0]["status"]["position"])

    def take(where: str = "") -> None:
        if where:
            hub.settled(where)
        taken.append(snapshot(hub))
        follower.caught_up(taken[-1]["status"]["position"])

    where = hub.conversation("build", "arya", "gendry")
    take()
    hub.say(where, "@arya what now?")
    take(where)
    first = hub.messages(where)[0]
    hub.api("PATCH", f"/api/messages/{first['id']}", {"text": "edited"}, If_Match=f'"{first["version"]}"')
    hub.api("POST", f"/api/conversations/{where}/participants", {"name": "critic"})
    hub.api("PATCH", f"/api/conversations/{where}", {"settings": {"max_depth": 1}})
    take()
    link = hub.api("POST", "/api/links", {"from": "critic", "to": "arya"})
    hub.api("PUT", "/api/topology/positions", {"positions": {"arya": {"x": 10, "y": 20}}})
    hub.api("PUT", f"/api/links/{link['id']}", {"enabled": False})
    take()
    hub.api("DELETE", f"/api/links/{link['id']}")
    with hub.question("arya", "Merge?", "yes", "no") as decision:
        take()
        hub.api("POST", f"/api/decisions/{decision}", {"answer": "yes"})
    hub.api("POST", "/api/agents/gendry/pause")
    hub.say(where, "@gendry @critic and you?")
    take()
    hub.api("POST", "/api/agents/gendry/resume")
    hub.api("DELETE", f"/api/conversations/{where}/participants/critic")
    take(where)
    hub.api("POST", f"/api/conversations/{where}/dissolve")
    take()
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        hub = RunningHub(Path(folder) / "home", free_port())
        hub.start()
        try:
            follower = Follower(hub)
            follower.start()
            taken = happen(hub, follower)
            told = list(follower.events)
        finally:
            hub.stop()
    text = json.dumps({"snapshots": taken, "events": told}, ensure_ascii=False)
    (DASHBOARD / "tests" / "recorded.json").write_text(text + "\n")
    print(f"{len(taken)} snapshots, {len(told)} events, {len(text)} bytes")


if __name__ == "__main__":
    main()
