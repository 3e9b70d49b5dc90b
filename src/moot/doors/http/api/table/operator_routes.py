"""Looking after the hub: where things stand, processes, role files, settings, logs."""

from typing import Final

from moot import shapes
from moot.doors.http.api.route import Route
from moot.doors.http.api.table.abbreviations import AGENT, CREATED, LOOK, RULE
from moot.doors.http.operate import overview, upkeep
from moot.errors import BadName, BadSettings, BadText, Conflict, HubAbsent, NotFound, StoreUnwritable

OPERATOR: Final = (
    Route(
        "GET", "/api/now", "Get what needs you, who is working, what was done, and which brakes are in force",
        overview.now, LOOK, shapes.Now, query=overview.NowQuery,
    ),
    Route(
        "GET", "/api/now/hour", "Get what happened in the last hour, in numbers", overview.last_hour, LOOK,
        shapes.LastHour,
    ),
    Route(
        "POST", "/api/hosted-agents", "Add an agent to moot.toml; the hub runs it at once", upkeep.add_agent, RULE,
        shapes.Agent, body=upkeep.NewHostedAgent, status=CREATED, errors=(BadName, BadSettings, Conflict, NotFound),
    ),
    Route(
        "POST", "/api/agents/{name}/start", "Start an agent of moot.toml", upkeep.start, RULE, shapes.Agent,
        about=AGENT, errors=(NotFound, Conflict, HubAbsent),
    ),
    Route(
        "POST", "/api/agents/{name}/stop", "Stop an agent of moot.toml after its running turns", upkeep.stop, RULE,
        shapes.Agent, about=AGENT, errors=(NotFound, Conflict),
    ),
    Route(
        "POST", "/api/agents/{name}/ping", "Find out whether its process answers", upkeep.ping, RULE,
        shapes.PingedAgent, about=AGENT, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/files", "Get the files that say who an agent is", upkeep.role_files, RULE,
        upkeep.RoleFiles, about=AGENT, errors=(NotFound, BadSettings),
    ),
    Route(
        "PUT", "/api/agents/{name}/files/{id}", "Write one of these files; a conflict returns both texts",
        upkeep.write_role_file, RULE, shapes.RoleFile, about=AGENT, body=upkeep.WrittenRoleFile,
        errors=(NotFound, BadText, Conflict, BadSettings),
    ),
    Route(
        "GET", "/api/logs", "Get the end of the hub's log, or of an agent's daemon", upkeep.logs, RULE, shapes.LogTail,
        query=upkeep.LinesQuery, errors=(NotFound, BadSettings),
    ),
    Route(
        "GET", "/api/settings", "List every setting, its value and where that comes from", upkeep.settings, RULE,
        upkeep.SettingsList, errors=(BadSettings,),
    ),
    Route(
        "PUT", "/api/settings/{id}", "Set a value in moot.toml and take it in", upkeep.change_setting, RULE,
        shapes.ChangedValue, body=upkeep.NewValue, errors=(NotFound, BadSettings, HubAbsent),
    ),
    Route(
        "GET", "/api/providers", "List providers of models, and which key there is for each", upkeep.providers, RULE,
        upkeep.ProviderList, errors=(BadSettings,),
    ),
    Route(
        "POST", "/api/providers/{name}/test", "Find out whether a provider answers and takes the key",
        upkeep.test_provider, RULE, shapes.TriedProvider, errors=(NotFound, BadSettings),
    ),
    Route("GET", "/api/backups", "List backups, newest first", upkeep.backups, RULE, upkeep.BackupList),
    Route(
        "POST", "/api/backups", "Back up the database while it is in use, and verify the copy", upkeep.back_up, RULE,
        shapes.MadeBackup, status=CREATED, errors=(StoreUnwritable,),
    ),
    Route(
        "POST", "/api/imports", "Bring in exported conversations; with dry_run, only say what would happen",
        upkeep.import_text, RULE, shapes.Imported, body=upkeep.ImportBody, errors=(Conflict,),
    ),
)  # fmt: skip
