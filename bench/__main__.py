"""`python -m bench [W1 W5 …]`: runs the workloads named, or all, and prints a table each."""

import importlib
import sys

from moot.hub.process.tuning import run, tune_process

WORKLOADS = {
    "W1": "bench.w1",
    "W2": "bench.w2",
    "W3": "bench.w3",
    "W4": "bench.w4",
    "W5": "bench.w5",
    "W6": "bench.w6",
    "W7": "bench.w7",
    "W8": "bench.w8",
    "W9": "bench.w9",
    "W10": "bench.w10",
    "W11": "bench.w11",
    "PG": "bench.postgres",
    "PREFIX": "bench.prefix",
    "FLOOD": "bench.flood",
}
ALIASES = {
    "durable-write": "W1",
    "pair-path": "W2",
    "mcp-path": "W3",
    "wake": "W4",
    "window-flat": "W5",
    "http-ingest": "W6",
    "fan-out": "W7",
    "idle-fleet": "W8",
    "cold-start": "W9",
    "turn-rate": "W10",
    "scale-out": "W11",
}


def main(wanted: list[str]) -> int:
    names = [ALIASES.get(name, name.upper()) for name in wanted] or list(WORKLOADS)
    unknown = [name for name in names if name not in WORKLOADS]
    if unknown:
        sys.stderr.write(f"unknown workload {', '.join(unknown)}; there are {', '.join(WORKLOADS)}\n")
        return 2
    tune_process()
    for name in names:
        lines = run(importlib.import_module(WORKLOADS[name]).run())
        sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
