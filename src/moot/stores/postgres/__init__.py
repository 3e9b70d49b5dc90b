"""Rows in a PostgreSQL server: the engine that writes, the reads beside it, the schema and its migrations.

Several hubs, on several machines, may write at once. Everything that is particular to PostgreSQL stays in this
folder; SQL lives in sql/ and schema/ beside it. Why it is built so: docs/adr/0025-postgresql-holds.md.
"""
