"""Rounds, medians and tables. Every figure is a ratio of things measured side by side in one run."""

import gc
import json
import os
import platform
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
Contender = Callable[[], Awaitable[float]]


class Table:
    """Figures of one workload: contenders by name, one figure per round each."""

    def __init__(self, workload: str, unit: str) -> None:
        self.workload = workload
        self.unit = unit
        self.figures: dict[str, list[float]] = {}
        self.notes: dict[str, Any] = {}

    async def run(self, contenders: dict[str, Contender], rounds: int) -> None:
        """Round-robin, so that a noisy moment hits everybody alike; what one left behind is not the next one's."""
        for _ in range(rounds):
            for name, contender in contenders.items():
                gc.collect()
                self.figures.setdefault(name, []).append(await contender())

    def median(self, name: str) -> float:
        return statistics.median(self.figures[name])

    def ratios(self, name: str, to: str) -> list[float]:
        return [a / b for a, b in zip(self.figures[name], self.figures[to], strict=True)]

    def ratio(self, name: str, to: str) -> str:
        found = self.ratios(name, to)
        return f"{statistics.median(found):.2f} ({min(found):.2f}-{max(found):.2f})"

    def show(self, lines: list[str]) -> None:
        for name, figures in self.figures.items():
            lines.append(f"  {name:34} {statistics.median(figures):>12,.0f} {self.unit}")
        for name, note in self.notes.items():
            lines.append(f"  {name:34} {note}")

    def save(self) -> None:
        RESULTS.mkdir(parents=True, exist_ok=True)
        record = {
            "workload": self.workload,
            "unit": self.unit,
            "figures": self.figures,
            "notes": self.notes,
            "load": os.getloadavg(),
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "python": platform.python_version(),
        }
        name = self.workload.lower().replace(" ", "-").replace("/", "-")
        (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


def middle_and_late(seconds: list[float]) -> tuple[float, float]:
    """p50 and p99, in milliseconds."""
    parts = statistics.quantiles(seconds, n=100)
    return parts[49] * 1000, parts[98] * 1000


def load() -> str:
    """What else the machine does: the kernel's load over the last minute."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
