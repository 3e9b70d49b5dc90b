"""Agents as processes, role files, logs, settings, providers and data over HTTP: for the owner."""

from typing import Annotated

from msgspec import Meta, Struct

from moot import shapes
from moot.doors.http.api import constraints
from moot.doors.http.api.problems import Response
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import RequestShape

CREATED = 201
Brain = Annotated[
    str,
    Meta(
        description="`demo`, or a model: anthropic:MODEL, openai:MODEL or openai:MODEL@URL",
        extra_json_schema={"pattern": "^(demo|(anthropic|openai):[a-z0-9][a-z0-9.-]{0,60})$"},
    ),
]


class NewHostedAgent(RequestShape, frozen=True):
    name: constraints.AgentName
    role: constraints.Line = ""
    brain: Brain = "demo"


class ImportBody(RequestShape, frozen=True):
    text: str
    """Lines that `moot export --format jsonl` wrote."""
    dry_run: bool = False


class ProviderList(Struct, frozen=True):
    providers: list[shapes.ModelProvider]


class BackupList(Struct, frozen=True):
    backups: list[shapes.ListedBackup]


class LinesQuery(RequestShape, frozen=True):
    agent: str | None = None
    lines: Annotated[int, Meta(ge=1, le=5000)] = 200


class WrittenRoleFile(RequestShape, frozen=True):
    text: str
    seen: str | None = None


class NewValue(RequestShape, frozen=True):
    value: str


class RoleFiles(Struct, frozen=True):
    files: list[shapes.RoleFile]


class SettingsList(Struct, frozen=True):
    settings: list[shapes.ListedSetting]


async def add_agent(call: ApiCall) -> Response:
    body = call.body
    agent = await call.hub.operator.add_agent(body.name, role=body.role, brain=body.brain)
    return Response(agent, CREATED, {"Location": f"/api/agents/{agent.name}"})


async def start(call: ApiCall) -> shapes.Agent:
    return await call.hub.operator.start(call.agent)


async def stop(call: ApiCall) -> shapes.Agent:
    return await call.hub.operator.stop(call.agent)


async def ping(call: ApiCall) -> shapes.PingedAgent:
    return await call.hub.operator.ping(call.agent)


async def role_files(call: ApiCall) -> RoleFiles:
    return RoleFiles(await call.hub.operator.role_files(call.agent))


async def write_role_file(call: ApiCall) -> shapes.RoleFile:
    body = call.body
    return await call.hub.operator.write_role_file(call.agent, call.path["id"], body.text, seen=body.seen)


async def logs(call: ApiCall) -> shapes.LogTail:
    return await call.hub.operator.logs(agent=call.query.agent, lines=call.query.lines)


async def settings(call: ApiCall) -> SettingsList:
    return SettingsList(await call.hub.operator.settings())


async def change_setting(call: ApiCall) -> shapes.ChangedValue:
    return await call.hub.operator.change_setting(call.path["id"], call.body.value)


async def providers(call: ApiCall) -> ProviderList:
    return ProviderList(await call.hub.operator.providers())


async def test_provider(call: ApiCall) -> shapes.TriedProvider:
    return await call.hub.operator.test_provider(call.path["name"])


async def backups(call: ApiCall) -> BackupList:
    return BackupList(await call.hub.operator.backups())


async def back_up(call: ApiCall) -> Response:
    return Response(await call.hub.operator.back_up(), CREATED)


async def import_text(call: ApiCall) -> shapes.Imported:
    return await call.hub.operator.import_text(call.body.text, dry_run=call.body.dry_run)
