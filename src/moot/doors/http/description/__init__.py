"""What /openapi.json says: written from the table of routes, with where each answer leads."""
