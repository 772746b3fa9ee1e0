"""Deterministic finite automata: minimal ones, and how two of them differ."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rasp.base.atoms import Atom, show
from rasp.base.terminal_text import visibly


@visibly
@dataclass(frozen=True)
class Automaton:
    """A complete deterministic automaton. State 0 is where every input starts.

    >>> odd = Automaton(("a", "b"), ((1, 0), (0, 1)), frozenset([1]))
    >>> odd.accepts("aba"), odd.accepts("ab")
    (False, True)
    """

    alphabet: tuple[Atom, ...]
    moves: tuple[tuple[int, ...], ...]
    """For each state, the next state for each letter of the alphabet, in order."""
    accepting: frozenset[int]

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.moves)

    @cached_property
    def _letter_places(self) -> dict[Atom, int]:
        return {letter: place for place, letter in enumerate(self.alphabet)}

    def state_after(self, letters: Iterable[Atom], start: int = 0) -> int:
        """The state that an input leads to.

        >>> Automaton(("a",), ((1,), (0,)), frozenset([1])).state_after("aaa")
        1
        """
        state = start
        for letter in letters:
            state = self.moves[state][self._letter_places[letter]]
        return state

    def accepts(self, letters: Iterable[Atom]) -> bool:
        """Whether an input belongs to the language.

        >>> Automaton(("a",), ((1,), (0,)), frozenset([1])).accepts("aa")
        False
        """
        return self.state_after(letters) in self.accepting

    def minimal(self) -> Automaton:
        """The smallest automaton of the same language, states numbered as inputs reach them.

        >>> Automaton(("a",), ((1,), (2,), (0,)), frozenset()).minimal().size
        1
        """
        return _renumbered(self, _classes(self))

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The strongly connected components: states that can be reached from one another."""
        reached = [self._reached_from(state) for state in range(self.size)]
        components: dict[tuple[int, ...], None] = {}
        for state in range(self.size):
            together = (other for other in sorted(reached[state]) if state in reached[other])
            components[tuple(together)] = None
        return tuple(components)

    def _reached_from(self, start: int) -> set[int]:
        reached, waiting = {start}, [start]
        while waiting:
            for state in self.moves[waiting.pop()]:
                if state not in reached:
                    reached.add(state)
                    waiting.append(state)
        return reached

    def word_between(self, start: int, goal: int) -> tuple[Atom, ...] | None:
        """A shortest non-empty input that leads from one state to another.

        >>> Automaton(("a", "b"), ((0, 1), (0, 1)), frozenset()).word_between(0, 0)
        ('a',)
        """
        waiting: deque[tuple[int, tuple[Atom, ...]]] = deque([(start, ())])
        seen: set[int] = set()
        while waiting:
            state, word = waiting.popleft()
            for letter, after in zip(self.alphabet, self.moves[state], strict=True):
                if after == goal:
                    return (*word, letter)
                if after not in seen:
                    seen.add(after)
                    waiting.append((after, (*word, letter)))
        return None

    def difference(self, other: Automaton) -> tuple[Atom, ...] | None:
        """A shortest input on which two automata over one alphabet differ; None: there is none.

        >>> odd = Automaton(("a",), ((1,), (0,)), frozenset([1]))
        >>> some = Automaton(("a",), ((1,), (1,)), frozenset([1]))
        >>> odd.difference(some)
        ('a', 'a')
        """
        waiting: deque[tuple[int, int, tuple[Atom, ...]]] = deque([(0, 0, ())])
        seen = {(0, 0)}
        while waiting:
            ours, theirs, word = waiting.popleft()
            if (ours in self.accepting) != (theirs in other.accepting):
                return word
            for letter in self.alphabet:
                pair = self.state_after([letter], ours), other.state_after([letter], theirs)
                if pair not in seen:
                    seen.add(pair)
                    waiting.append((*pair, (*word, letter)))
        return None

    def __str__(self) -> str:
        lines = [f"{self.size} states over {' '.join(map(show, self.alphabet))}"]
        for state, row in enumerate(self.moves):
            ends = "accepts" if state in self.accepting else "rejects"
            moves = ", ".join(
                f"{show(letter)} to {after}"
                for letter, after in zip(self.alphabet, row, strict=True)
            )
            lines.append(f"  state {state} {ends}; {moves}")
        return "\n".join(lines)


def _classes(automaton: Automaton) -> list[int]:
    """Number the states by the language each accepts, refining until nothing changes."""
    classes = [int(state in automaton.accepting) for state in range(automaton.size)]
    while True:
        numbers: dict[tuple[int, ...], int] = {}
        refined = [
            numbers.setdefault((classes[state], *(classes[after] for after in row)), len(numbers))
            for state, row in enumerate(automaton.moves)
        ]
        if len(numbers) == len(set(classes)):
            return refined
        classes = refined


def _renumbered(automaton: Automaton, classes: Sequence[int]) -> Automaton:
    """One state for each class that can be reached, in the order of shortest inputs."""
    representative = {number: state for state, number in reversed(list(enumerate(classes)))}
    order = [classes[0]]
    for number in order:  # grows while it is read
        row = automaton.moves[representative[number]]
        order += dict.fromkeys(classes[after] for after in row if classes[after] not in order)
    place = {number: position for position, number in enumerate(order)}
    moves = tuple(
        tuple(place[classes[after]] for after in automaton.moves[representative[number]])
        for number in order
    )
    accepting = frozenset(
        place[number] for number in order if representative[number] in automaton.accepting
    )
    return Automaton(automaton.alphabet, moves, accepting)
