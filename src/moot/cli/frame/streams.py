"""The standard streams, as every command finds and leaves them."""

import os
import sys


def prepare() -> None:
    """A stream that was closed (`<&-`, `>&-`) is as good as /dev/null: what is said there is for nobody, and its number
    must not become a file's of ours. What an encoding cannot say is written in its escapes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # in this order each gets its own number again
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  for as long as we run
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def is_output_closed() -> bool:
    """Whether standard output was closed before we began: whatever is said, nobody reads it."""
    return sys.__stdout__ is None


def close_quietly() -> None:
    """The reader went away: nothing more is said, not even by the interpreter on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
