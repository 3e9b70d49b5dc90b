"""The coding CLIs people start themselves: how each is told of Moot, and how all of it is undone."""
