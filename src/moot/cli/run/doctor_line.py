"""One line of `moot doctor`: what was checked, its state, and what fixes it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from moot.model.json import JsonObject

OK, WARN, BAD = "ok", "warn", "bad"


class DoctorLine(Struct, frozen=True):
    check: str
    state: str
    text: str
    fix: str = ""
    mend: Callable[[], object] | None = None
    """A repair that cannot lose anything."""

    def to_dict(self) -> JsonObject:
        fields = {"check": self.check, "state": self.state, "text": self.text, "fix": self.fix}
        return {**fields, "can_be_repaired": self.mend is not None}
