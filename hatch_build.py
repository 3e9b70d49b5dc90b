"""Puts the built page into wheel and sdist. Whoever installs a wheel needs no Node; whoever makes one needs none
either, since one is fetched then. MOOT_WITHOUT_PAGE=1 leaves the page out; an editable installation never has it."""

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))

from tools import page

EDITABLE = "editable"


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    @property
    def _has_nothing_to_do(self) -> bool:
        return bool(os.environ.get("MOOT_WITHOUT_PAGE")) or page.is_built(Path(self.root))

    def dependencies(self) -> list[str]:
        is_editable = any(EDITABLE in word for word in sys.argv)  # the name of the step that pip asks for
        return [] if is_editable or self._has_nothing_to_do or page.node_on_path() else [page.NODE_WHEEL]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == EDITABLE or self._has_nothing_to_do:
            return
        found = page.node()
        if found is None:
            raise page.NotBuilt("the page needs Node to be built; MOOT_WITHOUT_PAGE=1 leaves it out")
        page.build(Path(self.root), found, self.app.display_info)
