"""Commands about the data as a whole: export, import, backup, moving to another store."""
