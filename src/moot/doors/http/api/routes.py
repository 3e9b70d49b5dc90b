"""The table of routes: every method of every path, who may call it, what it takes and what it answers. The rows are in
table/, by subject.

Nothing is served that is not in this table."""

from typing import Final

from moot.doors.http.api import subject
from moot.doors.http.api.route import Route, SocketRoute
from moot.doors.http.api.table.abbreviations import POST, READ
from moot.doors.http.api.table.agent_routes import AGENTS
from moot.doors.http.api.table.conversation_routes import CONVERSATIONS
from moot.doors.http.api.table.hub_routes import HUB
from moot.doors.http.api.table.link_routes import LINKS
from moot.doors.http.api.table.message_routes import MESSAGES
from moot.doors.http.api.table.note_routes import NOTES
from moot.doors.http.api.table.operator_routes import OPERATOR
from moot.doors.http.api.table.page_routes import PAGE
from moot.doors.http.api.table.task_routes import DECISIONS, SPAWNED, TASKS
from moot.errors import Conflict, NotFound

ROUTES: Final[tuple[Route, ...]] = (
    *HUB,
    *CONVERSATIONS,
    *MESSAGES,
    *AGENTS,
    *LINKS,
    *TASKS,
    *SPAWNED,
    *DECISIONS,
    *NOTES,
    *OPERATOR,
    *PAGE,
)

SOCKETS: Final[tuple[SocketRoute, ...]] = (
    SocketRoute(
        "/ws/conversations/{id}", "Follow a conversation and post to it, as plain text", subject.readable, READ,
        errors=(NotFound, Conflict),
    ),
    SocketRoute(
        "/ws/agents/{name}", "Your direct conversation with a participant, created by the first message",
        subject.pair, POST, errors=(NotFound, Conflict),
    ),
)  # fmt: skip
