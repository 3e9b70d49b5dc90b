"""The standard streams, as every command finds and leaves them."""

import os
import sys


def prepare() -> None:
    """Open /dev/null for a closed stream (`<&-`, `>&-`), so that none of our files gets its number. Characters that an
    encoding lacks are written as escapes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # in this order each gets its own number again
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  for as long as we run
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def is_output_closed() -> bool:
    """Whether standard output was closed before we began, so that nobody reads it."""
    return sys.__stdout__ is None


def close_quietly() -> None:
    """Write nothing more after the reader went away, not even from the interpreter at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
