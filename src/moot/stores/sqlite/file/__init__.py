"""The database file as a whole: made, opened, migrated, locked, copied, checked, and distrusted."""
