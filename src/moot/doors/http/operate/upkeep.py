"""Agents as processes, role files, logs and settings over HTTP: for the owner."""

from typing import Annotated

from msgspec import Meta, Struct

from moot import shapes
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import RequestShape


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
