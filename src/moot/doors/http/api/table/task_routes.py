"""Tasks, and decisions of people."""

from typing import Final

from moot import shapes
from moot.doors.http.api import decisions, spawned, tasks
from moot.doors.http.api.route import Route
from moot.doors.http.api.table.abbreviations import CREATED, KEY, LOOK, POST, SAYING, SPAWN
from moot.errors import BadName, Conflict, NotFound

TASKS: Final = (
    Route(
        "GET", "/api/tasks", "List the tasks you may see", tasks.tasks, LOOK, tasks.TaskList,
        query=tasks.TasksQuery, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/tasks", "Delegate a task to an agent that reports to you", tasks.create, POST,
        shapes.Task, body=tasks.NewTask, status=CREATED, headers=KEY, errors=(NotFound, *SAYING),
    ),
    Route("GET", "/api/tasks/{id}", "Get a task", tasks.task, LOOK, shapes.Task, errors=(NotFound,)),
    Route(
        "PATCH", "/api/tasks/{id}", "Report progress on a task, finish it or cancel it", tasks.change, POST,
        shapes.Task, body=tasks.ChangedTask, errors=(NotFound, Conflict),
    ),
)  # fmt: skip

SPAWNED: Final = (
    Route(
        "GET", "/api/spawned", "List agents that were started from templates, and by whom", spawned.tree, LOOK,
        spawned.SpawnedList,
    ),
    Route(
        "POST", "/api/spawned", "Start an agent from a template", spawned.create, SPAWN, shapes.Spawned,
        body=spawned.NewSpawn, status=CREATED, headers=KEY, errors=(BadName, NotFound, *SAYING),
    ),
)  # fmt: skip

DECISIONS: Final = (
    Route(
        "GET", "/api/decisions", "List decisions you are asked for, and those you asked for", decisions.decisions, LOOK,
        decisions.DecisionList, query=decisions.DecisionsQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/decisions/{id}", "Get a decision", decisions.decision, LOOK, shapes.PersonsDecision,
        errors=(NotFound,),
    ),
    Route(
        "POST", "/api/decisions/{id}", "Answer a decision; only once, and only if you were asked", decisions.answer,
        POST, shapes.PersonsDecision, body=decisions.AnswerBody, errors=(NotFound, *SAYING),
    ),
)  # fmt: skip
