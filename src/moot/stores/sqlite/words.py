"""A search as people type it, made safe for FTS5: every word quoted, so that none of them is an operator."""

MOST_WORDS = 64


def quoted(query: str) -> str:
    """The FTS5 expression that asks for all words of a query; empty when there is none."""
    text = query.encode("utf-8", "replace").decode().replace("\x00", " ")
    return " ".join(f'"{doubled(word)}"' for word in text.split()[:MOST_WORDS])


def doubled(word: str) -> str:
    return word.replace('"', '""')
