"""The standard streams, as every command finds and leaves them."""

import os
import sys


def prepare() -> None:
    """Standard input that was closed (`<&-`) is as good as /dev/null, and its number must not become a file's of ours.
    Closed output stays closed: a hook must not take what nobody reads for handed over. What an encoding cannot say is
    written in its escapes."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  for as long as we run
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def close_quietly() -> None:
    """The reader went away: nothing more is said, not even by the interpreter on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
