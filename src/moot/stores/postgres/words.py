"""How a text is cut into words, so that a search here finds what it finds on SQLite: by the same tokeniser.

SQLite's full-text index cuts by `unicode61`, without case and accents; APSW lends that function without any database.
Its `snippet` shows the piece of a text around the words; that too is asked of it, for the hits alone, in memory.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import apsw

CUT = ("unicode61", "remove_diacritics", "2")
LONGEST = 80
"""Characters of a word that an index holds; of a longer one it holds a fingerprint."""
PIECE_WORDS = 16


@cache
def _tokeniser() -> Any:
    name, *options = CUT
    return apsw.Connection(":memory:").fts5_tokenizer(name, options)


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    found = _tokeniser()(
        text.encode("utf-8", "replace"),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return [_short(word) for word in found]


def _short(word: str) -> str:
    if len(word) <= LONGEST:
        return word
    return f"{word[:8]}#{hashlib.sha256(word.encode()).hexdigest()}"


def joined(found: Sequence[str]) -> str:
    """Words as they are stored, a space around each: whoever looks for one finds no part of another."""
    return f" {' '.join(found)} "


def pieces(texts: Sequence[str], terms: Sequence[str]) -> list[str]:
    """The piece of each text around the words of the terms."""
    connection = apsw.Connection(":memory:")
    try:
        connection.execute(
            "CREATE VIRTUAL TABLE found USING fts5 (content, any, tokenize = 'unicode61 remove_diacritics 2')"
        )
        connection.executemany(
            "INSERT INTO found (content, any) VALUES (?, 'x')", [(text,) for text in texts]
        )
        asked = 'any : "x"' + "".join(f" AND content : {_quoted(term)}" for term in terms)
        cut = connection.execute(
            "SELECT rowid, snippet(found, 0, '', '', '…', ?) FROM found WHERE found MATCH ?",
            (PIECE_WORDS, asked),
        )
        around = dict(cut)
    finally:
        connection.close()
    return [around.get(n, text) for n, text in enumerate(texts, 1)]


def _quoted(term: str) -> str:
    return '"' + term.encode("utf-8", "replace").decode().replace("\0", " ").replace('"', '""') + '"'
