"""What came of reading moot.toml again, as the outside sees it."""

from moot.shapes.shape import Shape


class ConfigChange(Shape, frozen=True):
    what: str
    """`link`, `setting` or `agent`."""
    name: str
    """The link's id or the setting's key."""
    change: str
    """`added`, `changed` or `removed`."""
    text: str
    """The same as a sentence."""


class Reloaded(Shape, frozen=True):
    """What a reload has changed, and what takes effect only after a restart."""

    changes: tuple[ConfigChange, ...] = ()
    restart: tuple[str, ...] = ()
    """Settings that take effect when the hub is restarted."""
    troubles: tuple[str, ...] = ()
    """Why agents could not be changed; they continue as before."""
    applied_at: str | None = None
    """If nothing changed: when the file was last applied, and with which changes."""
    applied: tuple[ConfigChange, ...] = ()
