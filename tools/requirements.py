"""Requirement id → its tests → pass or fail.

A test says what it proves with `@pytest.mark.req("A-05")`; tests/conftest.py carries the ids into each
suite's JUnit report. This tool sets those reports against tests/requirements.toml and fails when an id whose
state is `done` has no passing test (or a failing one), or when a test names an id the manifest does not know.

The reports come from the last `make test`. When there was none, or something changed since, the marked tests
are run first.
"""

from __future__ import annotations

import sys
import tomllib
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools import suites

MANIFEST = suites.ROOT / "tests" / "requirements.toml"
STATES = ("open", "done")


class BadManifest(Exception):
    """The manifest itself cannot be trusted."""


@dataclass(frozen=True)
class Requirement:
    id: str
    sentence: str
    state: str


@dataclass(frozen=True)
class Proof:
    """One test's word on one requirement."""

    test: str
    outcome: str
    """passed, failed or skipped"""


@dataclass(frozen=True)
class Verdict:
    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def manifest(path: Path) -> dict[str, Requirement]:
    """Read the manifest, in its own order."""
    known = {}
    for id_, row in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if set(row) != {"sentence", "state"} or row["state"] not in STATES or not row["sentence"].strip():
            raise BadManifest(f"{path.name}: [{id_}] needs a sentence, and a state that is one of {STATES}")
        known[id_] = Requirement(id_, row["sentence"], row["state"])
    return known


def proofs(reports: Iterable[Path]) -> dict[str, list[Proof]]:
    """All (id, test, outcome) on record, over all suites' reports."""
    found: dict[str, list[Proof]] = defaultdict(list)
    for report in sorted(reports):
        for case in ET.parse(report).getroot().iter("testcase"):
            properties = [(p.get("name"), p.get("value") or "") for p in case.iter("property")]
            test = next((value for name, value in properties if name == "nodeid"), case.get("name") or "?")
            for id_ in (value for name, value in properties if name == "req"):
                found[id_].append(Proof(test, outcome_of(case)))
    return {id_: sorted(tests, key=lambda proof: proof.test) for id_, tests in found.items()}


def outcome_of(case: ET.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def judge(known: Mapping[str, Requirement], found: Mapping[str, Sequence[Proof]]) -> Verdict:
    """Set what the tests say against what the manifest claims."""
    verdict = Verdict()
    for requirement in known.values():
        tests = found.get(requirement.id, ())
        verdict.lines.append(f"{requirement.id}  {requirement.state:<4}  {requirement.sentence}")
        verdict.lines.extend(f"      {proof.outcome:<7} {proof.test}" for proof in tests)
        outcomes = {proof.outcome for proof in tests}
        if requirement.state == "done" and "failed" in outcomes:
            verdict.problems.append(f"{requirement.id} is done, but one of its tests fails")
        elif requirement.state == "done" and "passed" not in outcomes:
            verdict.problems.append(f"{requirement.id} is done, but no passing test proves it")
    for id_, strangers in found.items():
        if id_ not in known:
            names = ", ".join(sorted({proof.test for proof in strangers}))
            verdict.problems.append(f"{id_!r} is not in tests/requirements.toml, but is named by {names}")
    return verdict


def recorded() -> Path | None:
    """The folder of the last full run's reports, unless the code or a test is newer than that run."""
    mark = suites.finished_mark(suites.FULL_RUN)
    if not mark.exists():
        return None
    finished = mark.stat().st_mtime
    for folder in ("src", "tests"):
        for path in (suites.ROOT / folder).rglob("*"):
            relevant = path.suffix in {".py", ".sql", ".toml"} and path != MANIFEST
            if relevant and path.stat().st_mtime > finished:
                return None
    return mark.parent


def run_marked() -> Path:
    """Run only the tests that name a requirement, into a folder of their own."""
    folder = suites.RESULTS / "requirements"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.xml"):
        old.unlink()
    for step in suites.plan(suites.FULL_RUN):
        if isinstance(step, suites.Suite):
            suites.run(step, folder, marked="req")
    return folder


def main(arguments: Sequence[str]) -> int:
    try:
        known = manifest(MANIFEST)
    except BadManifest as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    # The last step of a full run judges that run, even if a file was saved while it went on.
    brief = "--brief" in arguments
    folder = suites.finished_mark(suites.FULL_RUN).parent if brief else recorded() or run_marked()
    found = proofs(folder.glob("*.xml"))
    verdict = judge(known, found)
    if not brief:
        print(*verdict.lines, sep="\n")
    done = sum(1 for requirement in known.values() if requirement.state == "done")
    tested = sum(1 for id_ in known if found.get(id_))
    print(
        f"{len(known)} requirements, {done} done, {tested} named by a test; problems: {len(verdict.problems)}"
    )
    for problem in verdict.problems:
        print(f"  ✗ {problem}")
    return 1 if verdict.problems else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
