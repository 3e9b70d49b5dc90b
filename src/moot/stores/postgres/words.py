"""Splits texts into words with SQLite's tokeniser, so that a search finds the same on both engines.

SQLite's full-text index uses `unicode61`, which ignores case and accents; APSW offers it without a database. Its
`snippet`, the piece of a text around the words, is also computed by SQLite: in memory, for the hits only.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import apsw

TOKENISER = ("unicode61", "remove_diacritics", "2")
MAX_WORD_CHARACTERS = 80
"""Characters of a word that the index holds; a longer word is replaced by a fingerprint."""
PIECE_WORDS = 16


@cache
def _tokeniser() -> Any:
    name, *options = TOKENISER
    return apsw.Connection(":memory:").fts5_tokenizer(name, options)


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    found: list[str] = _tokeniser()(
        text.encode("utf-8", "replace"),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    if max(map(len, found), default=0) <= MAX_WORD_CHARACTERS:
        return found
    return [word if len(word) <= MAX_WORD_CHARACTERS else _short(word) for word in found]


def _short(word: str) -> str:
    return f"{word[:8]}#{hashlib.sha256(word.encode()).hexdigest()}"


def join_words(tokens: Sequence[str]) -> str:
    """Words as they are stored, each between spaces, so that a search never matches a part of a word."""
    return f" {' '.join(tokens)} "


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
        query = 'any : "x"' + "".join(f" AND content : {_quoted(term)}" for term in terms)
        snippets = connection.execute(
            "SELECT rowid, snippet(found, 0, '', '', '…', ?) FROM found WHERE found MATCH ?",
            (PIECE_WORDS, query),
        )
        around = dict(snippets)
    finally:
        connection.close()
    return [around.get(n, text) for n, text in enumerate(texts, 1)]


def _quoted(term: str) -> str:
    return '"' + term.encode("utf-8", "replace").decode().replace("\0", " ").replace('"', '""') + '"'
