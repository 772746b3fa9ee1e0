"""Run the C-RASP texts that we write on all words up to length 10, beside what they are texts of.

`python scripts/check_dialect_texts.py [--languages FILE.csv]`: the texts of the gallery's programs
(beside the program) and of the published regular languages (beside the automaton). One line for
each goes to results/dialect-texts.jsonl; a text that is there already is not run again, so a run
that was stopped goes on where it was. The tests run a part of this.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import rasp
from rasp.base.atoms import Atom, show
from rasp.insight.dialect.automaton import Automaton
from rasp.insight.dialect.automaton_in_c_rasp import c_rasp_of
from rasp.insight.dialect.interpreters import run_on_codes
from rasp.insight.dialect.language_classes import classes
from rasp.insight.dialect.regular_expression import automaton_of
from rasp.insight.dialect.written import DialectProgram
from rasp.language.graph import SOp
from rasp.teaching.gallery import entries
from rasp.teaching.gallery.dialects import stored_dialects

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "results" / "dialect-texts.jsonl"
LANGUAGES = ROOT.parent / "shared" / "dialects" / "regular_languages.csv"
LENGTH = 10
BATCH = 50_000
"""Words that are compared at once."""


def prefixes_accepted(automaton: Automaton, letters: np.ndarray) -> np.ndarray:
    """Which prefixes an automaton accepts, of words given as places of letters in its alphabet."""
    moves = np.array(automaton.moves)
    is_accepting = np.isin(np.arange(automaton.size), list(automaton.accepting))
    states = np.zeros(len(letters), dtype=np.int64)
    accepted = np.empty(letters.shape, dtype=bool)
    for place in range(letters.shape[1]):
        states = moves[states, letters[:, place]]
        accepted[:, place] = is_accepting[states]
    return accepted


def differing_word(automaton: Automaton, text: str, length: int) -> tuple[Atom, ...] | None:
    """A word on which a text and an automaton differ, of all words up to a length; None: none.

    Nothing in C-RASP looks ahead, so words of one length have all the shorter ones as prefixes.
    """
    size = len(automaton.alphabet)
    codes = {show(letter): place for place, letter in enumerate(automaton.alphabet)}
    powers = size ** np.arange(length)[::-1]
    for start in range(0, size**length, BATCH):
        numbers = np.arange(start, min(start + BATCH, size**length))
        letters = numbers[:, None] // powers % size  # (word, position)
        said = run_on_codes(text, letters, codes)["accept"]
        wrong = said != prefixes_accepted(automaton, letters)
        if wrong.any():
            word, place = map(int, np.argwhere(wrong)[0])
            return tuple(automaton.alphabet[letter] for letter in letters[word, : place + 1])
    return None


@dataclass(frozen=True)
class Case:
    """A text, and how to compare it with what it was written from."""

    name: str
    kind: str
    text: str
    letters: int
    where: str
    compare: Callable[[], None]
    """Raises where the two differ."""

    @property
    def sum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def words(self) -> int:
        return sum(self.letters**length for length in range(1, LENGTH + 1))


def languages(path: Path) -> Iterator[Case]:
    """The published languages that are in C-RASP."""
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        automaton = automaton_of(row["regex"])
        found = classes(automaton)
        if found.c_rasp.holds:
            text = c_rasp_of(found.decomposition)

            def compare(automaton: Automaton = automaton, text: str = text) -> None:
                word = differing_word(automaton, text, LENGTH)
                if word is not None:
                    raise AssertionError(f"they differ on {word}")

            size = len(automaton.alphabet)
            yield Case(row["regex"], "language", text, size, "every prefix", compare)


def programs() -> Iterator[Case]:
    """The programs of the gallery that are in C-RASP, or equal to one that is."""
    for entry in entries():
        if "C-RASP" in stored_dialects()[entry.name]:
            handle = rasp.programs.load(entry.name)
            found = rasp.dialects(handle, list(entry.inputs.alphabet))
            written = found["C-RASP"].written
            assert written is not None and isinstance(handle.node, SOp)

            def compare(
                written: DialectProgram = written,
                node: SOp = handle.node,
                alphabet: tuple[Atom, ...] = found.alphabet,
            ) -> None:
                _, longest = written.compare(node, alphabet, most=sys.maxsize)
                assert longest == LENGTH

            where = "the last position" if written.at_last else "every position"
            yield Case(entry.name, "program", written.text, len(found.alphabet), where, compare)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare C-RASP texts on all words.")
    parser.add_argument("--languages", type=Path, default=LANGUAGES)
    arguments = parser.parse_args()
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    known = {(told["name"], told["sha256"]) for told in map(json.loads, lines)}
    cases = [*programs(), *languages(arguments.languages)]
    for case in sorted(cases, key=lambda case: case.words):
        if (case.name, case.sum) in known:
            continue
        began = time.process_time()
        case.compare()
        told = {
            "kind": case.kind, "name": case.name, "sha256": case.sum, "letters": case.letters,
            "lines": len(case.text.splitlines()), "length": LENGTH, "words": case.words,
            "compared at": case.where, "agrees": True,
            "processor_seconds": round(time.process_time() - began, 1),
        }  # fmt: skip
        with RECORD.open("a", encoding="utf-8") as record:
            record.write(json.dumps(told) + "\n")
        print(f"{case.words:>12,} words  {case.name}", flush=True)


if __name__ == "__main__":
    main()
