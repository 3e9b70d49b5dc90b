"""What /openapi.json says: generated from the table of routes, with links from each answer to related routes."""
