"""Rows in a SQLite file: the engine that writes, the reads beside it, the schema and its migrations.

Everything that is particular to SQLite stays in this folder; SQL lives in sql/ and schema/ beside it.
"""
