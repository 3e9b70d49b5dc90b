"""Once a minute, and at a clean stop: chains that have grown are sealed, and where they stand is written to a file.

Above: runtime.py, in the process that is the hub, so that it is done once. Below: flow/seal_chains.py, heads_file.py.
"""

import asyncio
from hashlib import sha256
from typing import Final

import structlog

from moot.errors import MootError
from moot.failpoints import failpoint
from moot.flow import seal_chains
from moot.hub.process import heads_key
from moot.hub.process.heads_file import MAX_BYTES, HeadsFile, set_aside
from moot.model.records.audit import CHAIN_HEADS
from moot.wiring import Parts

log = structlog.get_logger("moot.audit")

MINUTE: Final = 60.0
WHOLE_EVERY: Final = 60
"""Runs between two that look at every chain; the others look at those that were touched lately."""
OVERLAP: Final = 120.0
"""Seconds before the last run from which is looked again: what was decided before it may have been committed after."""


class HeadsExport:
    def __init__(self, parts: Parts, *, max_bytes: int = MAX_BYTES) -> None:
        self._parts = parts
        self._max_bytes = max_bytes
        self._file = HeadsFile(parts.home, max_bytes=max_bytes)
        self._key_path = heads_key.place_of(parts.home, parts.settings.hub.audit_key)
        self._runs = 0
        self._last = 0.0
        self._instance = ""
        self._working = asyncio.Lock()

    async def run(self) -> None:
        """For as long as the hub lives. A minute begins with an export, however long that takes."""
        clock = self._parts.clock
        while True:
            started = clock.now()
            await self.export()
            await clock.sleep_until(started + MINUTE)

    async def export(self) -> None:
        async with self._working:
            try:
                await self._export()
            except (MootError, OSError) as trouble:
                log.warning("heads were not written", action="audit_export_failed", error=str(trouble))

    def _open(self) -> None:
        """Read what stands in the file. Without a key it is signed from now on; what was signed with a key that is gone
        is kept under another name."""
        key = heads_key.read(self._key_path)
        self._file = HeadsFile(self._parts.home, key, max_bytes=self._max_bytes)
        self._file.read()
        for problem in self._file.problems:
            log.warning(problem, action="audit_file_altered")
        if key is None:
            if self._file.problems:
                set_aside(self._parts.home, f"unsigned-{self._parts.clock.now():.0f}")
                self._file = HeadsFile(self._parts.home, max_bytes=self._max_bytes)
                self._file.read()
            self._file.sign_all(heads_key.make(self._key_path))

    async def _export(self) -> None:
        store, now = self._parts.store, self._parts.clock.now()
        if not self._instance:
            await asyncio.to_thread(self._open)
            self._instance = sha256(f"moot:{await store.secret()}".encode()).hexdigest()[:16]
        heads = await store.records(CHAIN_HEADS.all())
        if any(head.sealed < head.length for head in heads):
            await store.transact(seal_chains, seal_chains.SealChains())
            failpoint("audit.sealed")
        whole = self._runs % WHOLE_EVERY == 0
        ends = await store.chain_ends(since=0.0 if whole else max(0.0, self._last - OVERLAP))
        await asyncio.to_thread(self._file.append, ends, self._instance, now)
        self._runs, self._last = self._runs + 1, now
