"""Blacken what looks like a secret or an address in a text that is about to leave the house.

By shape only: keys of known makers, tokens, private keys, passwords in addresses, e-mail addresses. It cannot
know a secret that looks like a word; whoever shares an export reads it first.
"""

import re
from collections.abc import Mapping
from typing import Final

from moot.model.json import Json

BLACK: Final = "[redacted]"

_HOST: Final = r"(?:localhost|\[[^\]\s]*\]|[^\s/?#@:]+\.[^\s/?#@:]+|[^\s/?#@:]+(?=:\d))(?::\d+)?/"
"""What is surely one: an "@" behind it is part of the path. object other is taken for the end of a password."""
_ADDRESS: Final = re.compile(rf"(?<=://)(?:(?!{_HOST})\S*@)?([^\s?#]*)\S*")

_SHAPES: Final = re.compile(
    r"""
      -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    | \b(?:sk|pk|rk)-[A-Za-z0-9_-]{12,}
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,} | \bglpat-[A-Za-z0-9_-]{16,}
    | \bxox[a-z]-[A-Za-z0-9-]{10,}
    | \bmoot_[a-z]{2}_[A-Za-z0-9_-]{20,}
    | \bAKIA[0-9A-Z]{16}\b | \bAIza[0-9A-Za-z_-]{30,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*
    | \b\d{8,10}:[A-Za-z0-9_-]{30,}
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)
    | (?i:(?<=bearer\ ))[A-Za-z0-9._~+/=-]{12,}
    | \b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMED: Final = re.compile(
    r"""(?i)\b((?:[a-z0-9]+[_-])*(?:password|passwd|pwd|secret|token|api[_-]?key)["']?\s*[:=]\s*)"""
    r"""("[^"]*"|'[^']*'|[^\s,;]+)"""
)


# What every one of them holds. Most texts hold none of it, and looking for this alone is thirty times quicker.
_MAYBE: Final = re.compile(r"[\w.~+/=-]{12}|[@=]|(?i:passw|pwd|secret|token|key)")


def bare_brain(brain: str) -> str:
    """What a brain string says of a brain without what may be a secret: addresses without user, password, query and
    fragment, of a command the program alone. This is what is stored and shown."""
    if brain.startswith(("command:", "acp:")):
        return " ".join(brain.split()[:1])
    return _ADDRESS.sub(r"\1", brain)


def redacted(text: str) -> str:
    if _MAYBE.search(text) is None:
        return text
    text = _SHAPES.sub(BLACK, text)
    return _NAMED.sub(lambda met: met[1] + BLACK, text)


def redacted_values(value: object) -> Json:
    """The same for every text inside a value of JSON; keys stay."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {key: redacted_values(inside) for key, inside in value.items()}
    if isinstance(value, list | tuple):
        return [redacted_values(inside) for inside in value]
    return value
