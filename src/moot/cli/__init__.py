"""The command line: one module per command, all of them clients of the Python SDK.

Above: people and scripts. Below: the hub, and nothing under it. Not here: rules; it only asks and shows.
Only `app` and `commands` are imported before it is known which command is meant, so that help comes at once.
"""

from moot.cli.app import main

__all__ = ["main"]
