"""What came of reading moot.toml again, as the outside sees it."""

from moot.shapes.shape import Shape


class ConfigChange(Shape, frozen=True):
    what: str
    """`link`, `setting` or `agent`."""
    name: str
    """Of a link its id, of a setting its key."""
    change: str
    """`added`, `changed` or `removed`."""
    text: str
    """The same as a sentence."""


class Reloaded(Shape, frozen=True):
    """What is in force now that was not before, and what still is not."""

    changes: tuple[ConfigChange, ...] = ()
    restart: tuple[str, ...] = ()
    """Settings that the hub reads only when it starts."""
    troubles: tuple[str, ...] = ()
    """What kept agents from following the file; they go on as before."""
