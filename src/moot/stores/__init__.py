"""The write side: a runner that all stores share, and an engine for each place where rows can live."""
