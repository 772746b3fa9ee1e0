"""What became of mutants in, `results/mutation.json` out: what was tried stays tried.

A mutant that was noticed is kept as a digest of its file, its function's text and the change, so
that a run goes on where another stopped, and tries again what is in a function that was
changed since. A survivor is kept in words, with the explanation that was given it by hand.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from mutants import Mutant

Found: TypeAlias = tuple[str, Mutant]
"""A file, and a mutant of it."""
Outcome: TypeAlias = tuple[str, Mutant, str]
"""A file, a mutant of it, and `killed`, `stopped`, `survived` or `unusable`."""


def named(path: str, mutant: Mutant) -> str:
    return f"{path} {mutant.key}"


@dataclass
class Record:
    """What is known of all mutants of a target; saved often, by several processes if need be."""

    file: Path
    target: str
    every: list[Found]

    def __post_init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.noticed, self.why = self._read()

    def _read(self) -> tuple[set[str], dict[str, str]]:
        """What the file says of mutants that still are: digests, and survivors with why."""
        kept = self._all().get(self.target, {})
        told = {digest for line in kept.get("noticed", {}).values() for digest in line.split()}
        why = {each["mutant"]: each["why"] for each in kept.get("survivors", [])}
        names = {named(*each) for each in self.every}
        return (told & {mutant.digest for _, mutant in self.every},
                {name: reason for name, reason in why.items() if name in names})  # fmt: skip

    def _all(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.file.read_text()) if self.file.exists() else {}
        return found

    def untried(self) -> list[Found]:
        return [each for each in self.every
                if each[1].digest not in self.noticed and named(*each) not in self.why]  # fmt: skip

    def unexplained(self) -> list[Found]:
        return [each for each in self.every if self.why.get(named(*each)) == ""]

    def add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.save()

    def save(self) -> None:
        """Write what the file said, with what was found out since the last time."""
        self.noticed, self.why = self._read()
        for path, mutant, outcome in self.outcomes:
            if outcome in ("killed", "stopped"):
                self.noticed.add(mutant.digest)
                self.why.pop(named(path, mutant), None)
            else:
                self.noticed.discard(mutant.digest)
                self.why.setdefault(named(path, mutant), "")
        record = self._all()
        record[self.target] = self._written()
        beside = self.file.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        beside.replace(self.file)

    def _written(self) -> dict[str, Any]:
        noticed: dict[str, list[str]] = {}
        for path, mutant in self.every:
            if mutant.digest in self.noticed:
                noticed.setdefault(path, []).append(mutant.digest)
        survivors = [name for name in sorted(map(_name, self.every)) if name in self.why]
        return {
            "python": sys.version.split()[0],
            "mutants": len(self.every),
            "tried": len(self.noticed) + len(survivors),
            "killed": len(self.noticed),
            "by file": _counts(noticed, survivors),
            "noticed": {path: " ".join(digests) for path, digests in noticed.items()},
            "survivors": [{"mutant": name, "why": self.why[name]} for name in survivors],
        }


def _name(found: Found) -> str:
    return named(*found)


def _counts(noticed: dict[str, list[str]], survivors: Iterable[str]) -> dict[str, dict[str, int]]:
    counts = {path: {"killed": len(each), "survived": 0} for path, each in noticed.items()}
    for name in survivors:
        counts.setdefault(name.split()[0], {"killed": 0, "survived": 0})["survived"] += 1
    return dict(sorted(counts.items()))
