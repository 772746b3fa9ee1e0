"""The search for the smallest program: rounds of enumeration, each wider than the last.

A round goes layer by layer, and asks after each how a program could end there. Whatever it finds
is run by the language's own evaluator on every example before it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import log2
from random import Random
from time import process_time
from typing import Any

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.insight.equivalence.answering import answer, answers
from rasp.insight.finding.atom_codes import AtomCodes, class_of
from rasp.insight.finding.building_blocks import Blocks
from rasp.insight.finding.closing import Closing
from rasp.insight.finding.enumeration import Enumeration
from rasp.insight.finding.example_grid import ExampleGrid
from rasp.insight.finding.last_heads import Ending, LastHeads
from rasp.insight.finding.search_banks import SearchTimeOver, Widths
from rasp.insight.finding.wording import NAME, program_text
from rasp.insight.schedule import schedule
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.namespace import run
from rasp.language.embedding.program_text import to_rasp
from rasp.language.graph import in_order

Tokens = tuple[Atom, ...]
MOST_POSITIONS = 320
FEWEST_POSITIONS = 90
LONGEST_LAID_OUT = 40
LONGEST_USUAL = 8
MOST_HARD = 25
SCALES = (0.3, 1.0, 4.0, 16.0, 64.0)
BITS_PER_WORD = 12.0
LONGEST_BELIEVED = 16
MOST_TRIED = 25
"""Endings of one layer that are run and compared, the smallest first."""


class StopReason(Enum):
    """Why a search ended.

    >>> StopReason.OUT_OF_TIME.value
    'the time was over'
    """

    FOUND = "a wider search found nothing smaller"
    LEARNED = "an automaton that answers alike was learned instead"
    EXHAUSTED = "the widest search found nothing"
    OUT_OF_TIME = "the time was over"
    INTERRUPTED = "it was interrupted"


@dataclass(frozen=True)
class Bounds:
    """How far a search goes.

    >>> Bounds(seconds=5).most_layers
    4
    """

    seconds: float = 60.0
    most_layers: int = 4
    most_heads: int = 12
    seed: int = 0


@dataclass(frozen=True)
class FoundProgram:
    """A program that gives what is wanted on all examples."""

    text: str
    handle: Handle
    layers: int
    heads: int
    size: int

    @property
    def cost(self) -> tuple[int, int, int]:
        """What makes one program smaller than another."""
        return self.layers, self.heads, self.size


@dataclass(frozen=True)
class Progress:
    """How far a search is.

    >>> Progress(layer=1, candidates=900, kept=40, best=None).kept
    40
    """

    layer: int
    candidates: int
    kept: int
    best: FoundProgram | None


@dataclass
class ProgramSearch:
    """One search: its examples, and what came of them so far."""

    inputs: list[Tokens]
    outputs: list[tuple[Atom | None, ...]]
    bounds: Bounds
    blocks: Blocks = field(default_factory=Blocks)
    tell: Callable[[Progress], None] | None = None
    probes: list[Tokens] = field(default_factory=list)
    programs: dict[str, FoundProgram] = field(default_factory=dict)
    candidates: int = 0
    kept: int = 0
    deadline: float = 0.0
    _hard: list[int] = field(default_factory=list)
    _codes: AtomCodes = field(default_factory=AtomCodes)
    _refused: set[str] = field(default_factory=set)

    def run(self) -> StopReason:
        """ProgramSearch until a wider round finds nothing smaller, or the time is over."""
        started = process_time()
        if not self.deadline:
            self.deadline = started + self.bounds.seconds
        confirmed = False
        for scale in SCALES:
            before = self.best
            try:
                self._round(scale)
            except SearchTimeOver:
                return StopReason.OUT_OF_TIME
            except KeyboardInterrupt:
                return StopReason.INTERRUPTED
            if self.best is not None and self._is_supported(self.best):
                if confirmed or (before is not None and before.cost == self.best.cost):
                    return StopReason.FOUND
                confirmed = 4 * (process_time() - started) > self.bounds.seconds
        return StopReason.FOUND if self.best else StopReason.EXHAUSTED

    def learn(self, tokens: Tokens, wanted: tuple[Atom | None, ...]) -> None:
        """Take one more example, which the best program so far gets wrong."""
        self.inputs.append(tokens)
        self.outputs.append(wanted)
        self._hard.insert(0, len(self.inputs) - 1)
        node_of = {text: program.handle.node for text, program in self.programs.items()}
        for text, node in node_of.items():
            said = answer([node], tokens)
            if isinstance(said, RaspError) or not agrees(said[0], wanted):
                del self.programs[text]

    @property
    def best(self) -> FoundProgram | None:
        """The smallest program that the examples support."""
        return next(iter(self.ranked), None)

    @property
    def ranked(self) -> list[FoundProgram]:
        """Every program found, the smallest first; those far longer than need be come last."""
        shortest = min((one.size for one in self.programs.values()), default=0)
        return sorted(self.programs.values(),
                      key=lambda one: (one.size > 2 * shortest + 3, one.cost))  # fmt: skip

    def _is_supported(self, program: FoundProgram) -> bool:
        """Tell whether the answers say far more than it takes to write the program down."""
        is_short = program.size <= LONGEST_BELIEVED
        return is_short and BITS_PER_WORD * program.size <= self._information

    @property
    def _information(self) -> float:
        whole = all(len(set(answer)) == 1 for answer in self.outputs)
        wanted = [answer[:1] if whole else answer for answer in self.outputs]
        counts = Counter(atom for answer in wanted for atom in answer if atom is not None)
        total = sum(counts.values())
        return sum(count * log2(total / count) for count in counts.values())

    def _round(self, scale: float) -> None:
        codes = self._codes
        inputs, outputs = self._laid_out()
        grid = ExampleGrid.of(inputs, outputs, codes)
        constants, blanks = self._constants()
        made = Enumeration(grid, constants, blanks, Widths().scaled(scale), self.deadline)
        made.add_blocks(self.blocks)
        closing, last_heads = Closing(made), LastHeads(made)
        base = self.candidates
        best = self.best
        most = self.bounds.most_layers
        if best is not None and self._is_supported(best):
            most = min(most, best.layers - (best.heads <= best.layers))
        for layer in range(most + 1):
            for endings in self._steps(made, closing, last_heads, layer):
                self.candidates = base + made.candidates
                self.kept = len(made.sops) + len(made.selectors)
                self._take(endings, made)
                self._tell(layer)
            found = self.best
            if found is not None and found.layers <= layer and self._is_supported(found):
                return

    def _steps(self, made: Enumeration, closing: Closing, last_heads: LastHeads, layer: int
               ) -> Iterator[list[Ending]]:  # fmt: skip
        if layer:
            made.grow_selectors(layer)
            yield list(last_heads.moves(layer))
            made.grow_aggregates(layer)
        made.grow_elementwise(layer)
        yield list(closing.endings(layer))

    def _tell(self, layer: int) -> None:
        if self.tell is not None:
            self.tell(Progress(layer, self.candidates, self.kept, self.best))

    def _take(self, endings: list[Ending], made: Enumeration) -> None:
        """Run the most promising programs on every example; keep those that are right."""
        by_cost = sorted(
            endings, key=lambda one: (one.level, len(one.recipe.heads), one.recipe.size)
        )
        by_size = sorted(endings, key=lambda one: (one.recipe.size, one.level))
        for ending in (*by_size[:MOST_TRIED], *by_cost[:MOST_TRIED]):
            text = program_text(ending.recipe, made)
            if text in self.programs or text in self._refused:
                continue
            program = self.checked(text, ending.recipe.size)
            if program is None:
                self._refused.add(text)
            else:
                self.programs[text] = program

    def checked(self, text: str, size: int | None = None) -> FoundProgram | None:
        """Run a program by the language's own evaluator on every example."""
        try:
            handle: Handle = run(f"{self.blocks.text}\n{text}")[NAME]
        except RaspError:
            return None
        if not isinstance(handle, Handle):
            return None
        if not self._is_right(handle):
            return None
        placed = schedule(handle)
        heads = sum(placed.heads_per_layer)
        within = placed.layers <= self.bounds.most_layers and heads <= self.bounds.most_heads
        if not within and size is not None:
            return None
        return FoundProgram(
            self._whole(text, handle),
            handle,
            placed.layers,
            heads,
            len(in_order([handle.node])) if size is None else size,
        )

    def _is_right(self, handle: Handle) -> bool:
        """Compare on every example; those that have refuted a program before come first."""
        rest = [place for place in range(len(self.inputs)) if place not in set(self._hard)]
        for places in (self._hard, rest[:8], rest[8:64], rest[64:]):
            said = answers([handle.node], [self.inputs[place] for place in places])
            for place, given in zip(places, said, strict=True):
                if isinstance(given, RaspError) or not agrees(given[0], self.outputs[place]):
                    if place in self._hard:
                        self._hard.remove(place)
                    self._hard.insert(0, place)
                    del self._hard[MOST_HARD:]
                    return False
        return True

    def _whole(self, text: str, handle: Handle) -> str:
        """The text with the definitions that it uses."""
        if self.blocks.is_whole:
            return to_rasp(handle, NAME)
        return f"{self.blocks.text.rstrip()}\n\n{text}" if self.blocks.text else text

    # ------------------------------------------------------------------ the tables

    def _laid_out(self) -> tuple[list[Tokens], list[Any]]:
        """Examples for the search: a mix of lengths, few enough to be fast; and probes."""
        order = list(range(len(self.inputs)))
        Random(self.bounds.seed).shuffle(order)
        short = [one for one in order if len(self.inputs[one]) <= LONGEST_LAID_OUT] or order[:4]
        hard = [one for one in self._hard if one in set(short)]
        short = [one for one in short if one not in hard]
        short.sort(key=lambda one: len(self.inputs[one]) > LONGEST_USUAL)
        chosen: list[int] = []
        total = 0
        for one in (*hard, *short):
            size = len(self.inputs[one])
            if total + size <= MOST_POSITIONS or not chosen:
                chosen.append(one)
                total += size
        inputs = [self.inputs[one] for one in chosen]
        outputs: list[Any] = [self.outputs[one] for one in chosen]
        for probe in self.probes:
            if total > FEWEST_POSITIONS and max(map(len, inputs)) > 2:
                break
            inputs.append(probe)
            outputs.append(None)
            total += len(probe)
        return inputs, outputs

    def _constants(self) -> tuple[list[Atom], list[Atom]]:
        """The atoms a program may write: those of the answers first; and those only they hold."""
        seen = Counter(atom for tokens in self.inputs for atom in tokens)
        said = Counter(atom for answer in self.outputs for atom in answer if atom is not None)
        blanks = [atom for atom, _ in said.most_common() if (class_of(atom), atom) not in
                  {(class_of(one), one) for one in seen}][:6]  # fmt: skip
        special = [atom for atom in seen if isinstance(atom, str) and not atom.isalnum()]
        words = [atom for atom in sorted(seen, key=lambda one: -seen[one]) if isinstance(atom, str)]
        usual = words if len(words) <= 8 else [*special[:6], *words[:4]]
        said_often = [atom for atom, count in said.most_common(6)]
        chosen: list[Atom] = [True, False, 0, 1, 2, *self.blocks.constants, *said_often, *usual]
        unique = {(class_of(atom), atom): atom for atom in chosen if atom != ""}
        return list(unique.values()), [*_fillers(seen, said), *blanks, ""]


def _fillers(seen: Iterable[Atom], said: Iterable[Atom]) -> list[str]:
    """Characters of the answers that no input has: what fills up a longer string."""
    known = {character for atom in seen for character in str(atom)}
    written = dict.fromkeys(character for atom in said if isinstance(atom, str)
                            and len(atom) > 1 for character in atom)  # fmt: skip
    return [character for character in written if character not in known][:2]


def agrees(answer: Sequence[Atom], wanted: Sequence[Atom | None]) -> bool:
    """Tell whether an answer is the one wanted; None where anything will do."""
    return len(answer) == len(wanted) and all(
        want is None or (have == want and isinstance(have, str) == isinstance(want, str))
        for have, want in zip(answer, wanted, strict=True)
    )
