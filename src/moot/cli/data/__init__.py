"""Commands about the data as a whole: export, import, backup."""
