"""Confirmation: what cannot be undone is asked about; without a terminal it needs --yes."""

import sys

import click


def ask_first(*, yes: bool, what: str) -> None:
    """Refuse if the question could not be answered; the command itself asks it."""
    if not yes and not sys.stdin.isatty():
        raise click.UsageError(f"{what} needs confirmation, and there is no terminal to ask on: add --yes")
