"""Links and the graph they make."""

from typing import Final

from moot import shapes
from moot.doors.http.api import conversations, links, schema
from moot.doors.http.api.route import Route
from moot.doors.http.api.table.abbreviations import AGENT, CREATED, LINK, LOOK, MANAGE, READ, RULE
from moot.errors import Conflict, NotFound, StoreUnwritable

LINKS: Final = (
    Route(
        "GET", "/api/links", "List links: who may write to whom", links.links, LOOK, links.LinkList,
        query=links.Between, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/links", "Link two agents; the answer lists whom they can no longer reach", links.create, RULE,
        shapes.MadeLink, body=links.NewLink, status=CREATED, errors=(NotFound, Conflict),
    ),
    Route(
        "PUT", "/api/links", "Replace all links; with dry_run, only report what would change", links.apply, RULE,
        shapes.AppliedLinks, body=links.WantedLinks, errors=(NotFound, Conflict, StoreUnwritable),
    ),
    Route("GET", "/api/links/{id}", "Get a link", links.link, LOOK, shapes.Link, errors=(NotFound,)),
    Route(
        "GET", "/api/links/{id}/prompts", "Get what the prompts of both agents say about a link", links.prompts, LOOK,
        shapes.LinkPrompts, errors=(NotFound,),
    ),
    Route(
        "PUT", "/api/links/{id}", "Change a link's direction, relationship or whether it is on", links.change, RULE,
        shapes.Link, body=links.ChangedLink, errors=(NotFound, Conflict),
    ),
    Route(
        "DELETE", "/api/links/{id}", "Delete a link; its channel is archived, or erased with purge=true", links.remove,
        RULE, shapes.Link, query=schema.EraseQuery, errors=(NotFound, Conflict),
    ),
    Route(
        "GET", "/api/links/{id}/messages", "List a link's messages, oldest first, even after it is deleted",
        conversations.messages, READ, schema.MessageList, about=LINK, query=schema.MessagesQuery, errors=(NotFound,),
        glances=True,
    ),
    Route(
        "GET", "/api/agents/{name}/links", "List its links", links.of_agent, LOOK, links.LinkList, about=AGENT,
        errors=(NotFound,),
    ),
    Route("GET", "/api/topology", "Get all participants and links as a graph", links.topology, LOOK,
        shapes.Topology),
    Route(
        "PUT", "/api/topology/positions", "Set a participant's position in the graph", links.arrange, MANAGE,
        shapes.Positions, body=links.NewPositions, errors=(NotFound,),
    ),
)  # fmt: skip
