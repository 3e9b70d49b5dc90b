"""HTTP: one table of routes (api/routes.py, its rows in api/table/), from which come the server's routes, OpenAPI, the
tests and the reference.

A request passes gate/origin.py (Host, Origin), api/endpoint.py (who, how often, may it, is it well-formed) and one
function of the table, which calls the hub. Not here: anything about conversations or agents that another door would
need too.
"""
