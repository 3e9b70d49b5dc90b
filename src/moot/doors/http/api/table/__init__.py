"""The rows of the table of routes, one module per subject; api/routes.py puts them together."""
