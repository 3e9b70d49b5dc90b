"""Golden homes: how one is kept in the repository, built up again, and read through the public hub.

A golden home is a folder `golden/VERSION/`: `moot.sql` is its database and `backup.sql` its backup as SQL text, which
git packs and people can read; `files/` are its other files; `reads.json` is what that version answered when all of it
was read. The full-text index is kept page by page, as it was: a rebuilt one would hide a break in its format.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from moot import Hub

FOLDER = Path(__file__).with_name("golden")
NEVER_THERE = "/home/somebody/.moot"
"""Stands for the folder in which the home was made."""
QUERIES = (
    "forge",
    "世界",
    "from:arya noted",
    "in:build has:mention",
    "is:deleted",
    "kind:system",
    "is:partial",
)
_SHADOW = re.compile(r"^(\w+)_(data|idx|docsize|config|content)$")


def versions() -> list[str]:
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


# --- as text ----------------------------------------------------------------------------------------------


def as_text(database: Path) -> Iterator[str]:
    """Statements that make the database again, row by row in the order of the tables."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    schema = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql <> ''")
    made = [(str(kind), str(name), str(sql)) for kind, name, sql in schema]
    virtual = {name for _, name, sql in made if sql.startswith("CREATE VIRTUAL")}
    shadows = {name for _, name, _ in made if (found := _SHADOW.match(name)) and found[1] in virtual}
    for pragma in ("application_id", "user_version"):
        yield f"PRAGMA {pragma} = {connection.pragma(pragma)}"
    for _, name, sql in sorted(made, key=lambda row: (row[0] != "table", row[1] in virtual)):
        if name not in shadows:
            yield sql
    for name in sorted(shadows):
        yield f"DELETE FROM {name}"  # the index makes rows of its own when it is created
    for name in sorted(name for kind, name, _ in made if kind == "table" and name not in virtual):
        columns = [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))]
        wanted = ", ".join(f'"{column}"' for column in columns)
        for row in connection.execute(f"SELECT {wanted} FROM {name} ORDER BY 1, 2"):
            values = ", ".join(apsw.format_sql_value(value) for value in row)
            yield f"INSERT INTO {name} ({wanted}) VALUES ({values})"
    connection.close()


def from_text(statements: str, database: Path) -> None:
    connection = apsw.Connection(str(database))
    with connection:
        connection.execute(statements)
    connection.close()
    database.chmod(0o600)


def keep(home: Path, version: str) -> Path:
    """Write a home down as the golden one of a version."""
    folder = FOLDER / version
    [backup] = (home / "backups").glob("*.db")
    for target, database in (("moot.sql", home / "moot.db"), ("backup.sql", backup)):
        text = "".join(f"{statement};\n" for statement in as_text(database))
        _write(folder / target, text.replace(str(home), NEVER_THERE))
    for path in (home / "moot.toml", *sorted((home / "agents").rglob("*.md"))):
        _write(folder / "files" / path.relative_to(home), path.read_text(encoding="utf-8"))
    return folder


def build(version: str, home: Path) -> Path:
    """The golden home of a version, as it lay on disk."""
    folder = FOLDER / version
    files = folder / "files"
    for path in files.rglob("*"):
        if path.is_file():
            _write(home / path.relative_to(files), path.read_text(encoding="utf-8"))
    home.chmod(0o700)
    from_text((folder / "moot.sql").read_text(encoding="utf-8"), home / "moot.db")
    (home / "backups").mkdir(mode=0o700)
    backup = home / "backups" / "moot-20260105T090100000000Z.db"
    from_text((folder / "backup.sql").read_text(encoding="utf-8"), backup)
    return home


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


# --- as it is read ----------------------------------------------------------------------------------------


def expected(version: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / version / "reads.json").read_text(encoding="utf-8"))
    return found


def keep_reads(version: str, reads: dict[str, Any]) -> None:
    """An entry a line, so that a difference is one."""
    parts = []
    for name, entries in reads.items():
        keyed = entries.items() if isinstance(entries, dict) else ((None, entry) for entry in entries)
        lines = [(f"{_json(key)}: " if key is not None else "") + _json(entry) for key, entry in keyed]
        opening, closing = "{}" if isinstance(entries, dict) else "[]"
        parts.append(f"{_json(name)}: {opening}\n" + ",\n".join(lines) + f"\n{closing}")
    _write(FOLDER / version / "reads.json", "{\n" + ",\n".join(parts) + "\n}\n")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


async def everything_read(home: Path) -> dict[str, Any]:
    """All that is kept, read as a user would. Left out is what later versions may say in other words or decide
    anew from the same rows: reasons, labels, what a prompt would look like today."""
    async with Hub.reading(home) as hub:
        conversations = [
            each.to_dict()
            for archived in (False, True)
            for each in await hub.conversations.list(archived=archived)
        ]
        messages = [m.to_dict() for each in conversations for m in await hub.messages(each["id"], limit=1000)]
        agents = [agent.to_dict() for agent in await hub.agents.list()]
        names = [hub.name, "bert", *[agent["name"] for agent in agents]]
        return {
            "conversations": conversations,
            "messages": messages,
            "agents": [_without(agent, "activity", "status", "reachability") for agent in agents],
            "turns": [await _turn(hub, turn.id) for turn in await hub.turns()],
            "why": {m["id"]: await _why(hub, m["id"]) for m in messages},
            "events": [
                [event.id, event.type, event.at] for event in (await hub.history.past(0, limit=10_000)).events
            ],
            "tokens": [token.to_dict() for name in names for token in await hub.agents.tokens(name)],
            "found": {q: [hit.message.id for hit in await hub.search(q, limit=100)] for q in QUERIES},
            "inbox": [[each.message.id, each.unread] for each in await hub.inbox(limit=1000)],
            "dead_letters": [turn.id for turn in await hub.deliveries.dead_letters()],
        }


async def _turn(hub: Hub, id: str) -> dict[str, Any]:
    turn = (await hub.turn(id)).to_dict()
    given = turn.pop("given") or {}
    return {**turn, "system": given.get("system"), "tools": given.get("tools")}


async def _why(hub: Hub, id: str) -> dict[str, Any]:
    found = await hub.why(id)
    return {"cause": found.cause, "agents": {row.agent: row.turn for row in found.agents}}


def _without(shape: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in shape.items() if name not in names}


def differences(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """Where what is read now is not what was read before. What was added since is no difference."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            if key not in now:
                yield f"{where}.{key} is gone"
            else:
                yield from differences(value, now[key], f"{where}.{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for place, (old, new) in enumerate(zip(before, now, strict=True)):
            yield from differences(old, new, f"{where}[{place}]")
    elif before != now:
        yield f"{where} was {before!r}, is {now!r}"
