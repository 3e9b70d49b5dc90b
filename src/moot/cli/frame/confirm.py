"""Being sure: what cannot be taken back is asked about, and where nobody can answer it needs --yes."""

import sys

import click


def ask_first(*, yes: bool, what: str) -> None:
    """Refuse where the question could not be answered; the question itself is the command's."""
    if not yes and not sys.stdin.isatty():
        raise click.UsageError(f"{what} needs confirmation, and there is no terminal to ask on: add --yes")
