"""Everything that any command imports. The process that `Shell.moot` forks from has loaded this beforehand."""

import gc

import click
import uvloop  # noqa: F401

import moot.brains.llm.brain_string
import moot.cli.tui.chat_app
import moot.doors.http.listener
import moot.testing  # noqa: F401
from moot.cli.app import root
from moot.cli.commands import COMMANDS

for name in COMMANDS:
    root.get_command(click.Context(root), name)
gc.freeze()  # what is shared stays shared: collecting would touch, and so copy, every page
