"""A home as files: export and import, backups, what a check of it says."""
