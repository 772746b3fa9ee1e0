"""The front door: what is wanted in, a `Found` out, with the words for how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from time import monotonic
from typing import Any, TypeAlias

from rasp.base.atoms import Atom, from_python, plain_lists, read_input, show, show_input, to_python
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.input_text import read_alphabet
from rasp.base.terminal_text import visibly
from rasp.insight.equivalence.answering import answer, answers, show_alphabet
from rasp.insight.finding.building_blocks import Blocks
from rasp.insight.finding.language_learning import learned_program
from rasp.insight.finding.program_search import (
    Bounds,
    FoundProgram,
    ProgramSearch,
    Progress,
    StopReason,
    agrees,
)
from rasp.insight.finding.wanted_outputs import Answer, check_pairs, read_output, read_pair
from rasp.insight.finding.wording import NAME
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.program_text import to_rasp

Oracle: TypeAlias = Callable[[list[Any]], Any]

ASKED = 500
"""Inputs that an oracle is asked before the search; all of a length, while they are few."""
LONGEST_ASKED = 9
MOST_PROVED = 60_000
DEFAULT_ALPHABET = ("a", "b", "c")
MORE_LETTERS = tuple("abcdefgh")
"""Where nobody says what the tokens are: those of every short input, and of longer ones."""
PROVED_TO = 7
RANDOM_QUESTIONS = 400


@visibly
@dataclass(frozen=True)
class Rival:
    """Another program that agrees with all examples, and an input on which the two differ.

    >>> find([("abc", "aaa")], seconds=2).rival is None
    False
    """

    text: str
    handle: Handle
    question: tuple[Atom, ...]
    answer: list[Atom]
    """What the program found answers there."""
    other: list[Atom]
    """What the rival answers there."""

    def __str__(self) -> str:
        return (
            f"what should {show_input(self.question)} give?\n"
            f"  {_shown(self.answer)}  as the program above says\n"
            f"  {_shown(self.other)}  as this one says:\n{_indented(self.text)}"
        )

    __repr__ = __str__


@visibly
@dataclass(frozen=True)
class Found:
    """The smallest program that was found, how sure it is, and why the search stopped.

    >>> found = find([("abc", "cba"), ("hello", "olleh"), ("xy", "yx")], seconds=20)
    >>> found.program("stop")
    ['p', 'o', 't', 's']
    >>> found.layers
    2
    """

    program: Handle | None
    text: str
    layers: int
    heads: int
    size: int
    verdict: str
    proved_up_to: int
    """The length up to which every input was compared with an oracle; 0 without one."""
    rival: Rival | None
    stopped: StopReason
    candidates: int
    seconds: float

    def __bool__(self) -> bool:
        return self.program is not None

    def __str__(self) -> str:
        how = f"{self.candidates:,} candidates in {self.seconds:.1f} s; {self.stopped.value}"
        if self.program is None:
            return f"{self.verdict}\n({how})"
        lines = [self.text.rstrip(), f"\n{self.verdict}", f"{_cost(self.layers, self.heads)}",
                 f"({how})"]  # fmt: skip
        return "\n".join([*lines, *([str(self.rival)] if self.rival else [])])

    __repr__ = __str__

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data.

        >>> find([("abc", "aaa"), ("b", "b")], seconds=2).as_dict()["verdict"]
        'agrees with all 2 examples'
        """
        rival = self.rival
        return {
            "found": self.program is not None,
            "text": self.text,
            "layers": self.layers,
            "heads": self.heads,
            "size": self.size,
            "verdict": self.verdict,
            "proved_up_to": self.proved_up_to,
            "stopped": self.stopped.name.lower(),
            "candidates": self.candidates,
            "seconds": round(self.seconds, 3),
            "rival": rival and {
                "text": rival.text,
                "question": [to_python(atom) for atom in rival.question],
                "answer": plain_lists(list(rival.answer)),
                "other": plain_lists(list(rival.other)),
            },
        }  # fmt: skip


def find(
    examples: Iterable[tuple[Any, Any]] | Oracle | Handle,
    *,
    seconds: float = 60.0,
    alphabet: object = None,
    most_layers: int = 4,
    most_heads: int = 12,
    max_length: int = PROVED_TO,
    last: bool = False,
    using: str = "",
    like: Handle | None = None,
    inputs: Iterable[Any] = (),
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> Found:
    """Find the smallest program, by layers, heads and size, that gives what is wanted.

    What is wanted is a list of pairs (input, output), or a function to imitate, which gets the
    tokens as a list. An output has a value for each position, `None` where anything will do, or
    is one value for the whole input; with `last`, only the last position counts. A function is
    asked about inputs over `alphabet`, and the program is compared with it on every input up to
    `max_length`; it is not asked where it raises an error. `using` is RASP text whose
    definitions may be used; `like` is a program to look near.

    >>> find(lambda tokens: [len(tokens)] * len(tokens), max_length=4).text
    'answer = length;\\n'
    """
    bounds = Bounds(seconds, most_layers, most_heads, seed)
    blocks = Blocks.of(using, like)
    if isinstance(examples, Handle) or callable(examples):
        letters = read_alphabet(alphabet) if alphabet is not None else DEFAULT_ALPHABET
        more = list(inputs)
        if alphabet is None:
            more += list(_random_inputs(MORE_LETTERS, 150, 6, Random(seed)))
        wanted = _Wanted(_asking(examples), last)
        return _imitate(wanted, letters, max_length, more, bounds, blocks, progress)
    pairs = [read_pair(given, output, last) for given, output in examples]
    if not pairs:
        raise RaspValueError("there are no examples", hint="give pairs of an input and its output")
    check_pairs(pairs)
    known = {token: token for tokens, _ in pairs for token in tokens}
    letters = read_alphabet(alphabet) if alphabet is not None else tuple(known)
    search = _search(pairs, bounds, blocks, progress, letters)
    started = monotonic()
    stopped = search.run()
    return _answer(search, stopped, monotonic() - started,
                   _agreement(len(pairs)), 0, letters)  # fmt: skip


def _search(pairs: Sequence[tuple[tuple[Atom, ...], Answer]], bounds: Bounds, blocks: Blocks,
            progress: Callable[[Progress], None] | None, letters: Sequence[Atom]
            ) -> ProgramSearch:  # fmt: skip
    random = Random(bounds.seed)
    probes = [tuple(random.choices(letters, k=random.randint(2, 6))) for _ in range(40)]
    return ProgramSearch([tokens for tokens, _ in pairs], [wanted for _, wanted in pairs], bounds,
                  blocks, progress, probes)  # fmt: skip


# ---------------------------------------------------------------------- oracles


def _asking(oracle: Oracle | Handle) -> Oracle:
    if isinstance(oracle, Handle):
        node = oracle.node
        return lambda tokens: _or_raise(answer([node], tuple(map(from_python, tokens))))
    return oracle


def _or_raise(outcome: list[Any] | RaspError) -> Any:
    if isinstance(outcome, RaspError):
        raise outcome
    return outcome[0]


@dataclass
class _Wanted:
    """What an oracle says, each input asked once; None where it raises an error."""

    oracle: Oracle
    last: bool

    def __post_init__(self) -> None:
        self.said: dict[tuple[Atom, ...], Answer | None] = {}

    def __call__(self, tokens: tuple[Atom, ...]) -> Answer | None:
        if tokens not in self.said:
            try:
                output = self.oracle([to_python(token) for token in tokens])
            except Exception:
                self.said[tokens] = None
            else:
                self.said[tokens] = read_output(tokens, output, self.last)
        return self.said[tokens]


def _imitate(wanted: _Wanted, letters: tuple[Atom, ...], longest: int, more: list[Any],
             bounds: Bounds, blocks: Blocks, progress: Callable[[Progress], None] | None
             ) -> Found:  # fmt: skip
    """ProgramSearch, compare with the oracle on every input, and search again where they differ."""
    asked = [*_asked(letters, bounds.seed), *map(read_input, more)]
    pairs = [(tokens, said) for tokens in asked if (said := wanted(tokens)) is not None]
    if not pairs:
        raise RaspValueError(
            f"the function answers none of {len(asked)} inputs over {show_alphabet(letters)}",
            hint="say which tokens it takes with `alphabet`",
        )
    check_pairs(pairs)
    search = _search(pairs, bounds, blocks, progress, letters)
    started = monotonic()
    while True:
        stopped = search.run()
        best = search.best
        if best is None:
            best = _by_language(search, wanted, letters)
            if best is None:
                return _answer(search, stopped, monotonic() - started, "", 0, letters)
            stopped = StopReason.LEARNED
            search.programs[best.text] = best
        wrong, tried, length = _compare(best, wanted, letters, longest)
        if wrong is None:
            verdict = (f"proved equal on all {tried:,} inputs over {show_alphabet(letters)} "
                       f"up to length {length}")  # fmt: skip
            return _answer(search, stopped, monotonic() - started, verdict, length, letters)
        search.learn(wrong, wanted.said[wrong] or ())


def _by_language(
    search: ProgramSearch, wanted: _Wanted, letters: tuple[Atom, ...]
) -> FoundProgram | None:
    """For a yes/no function: the program of the automaton that answers alike."""
    if any(answer[-1] not in (True, False) or not isinstance(answer[-1], bool)
           or not {*answer} <= {answer[-1], None} for answer in search.outputs):  # fmt: skip
        return None

    def accepts(tokens: tuple[Atom, ...]) -> bool | None:
        said = wanted(tokens)
        return None if said is None else said[-1] is True

    handle = learned_program(letters, accepts)
    return None if handle is None else search.checked(to_rasp(handle, NAME))


def _asked(letters: tuple[Atom, ...], seed: int) -> Iterator[tuple[Atom, ...]]:
    """Every short input, while there are few, then random ones."""
    length, count = 1, 0
    while count + len(letters) ** length <= ASKED // 2:
        yield from product(letters, repeat=length)
        count += len(letters) ** length
        length += 1
    yield from _random_inputs(letters, ASKED - count, min(length, 6), Random(seed))


def _random_inputs(letters: Sequence[Atom], count: int, shortest: int, random: Random
                   ) -> Iterator[tuple[Atom, ...]]:  # fmt: skip
    for _ in range(count):
        few = random.sample(letters, random.randint(1, len(letters)))
        yield tuple(random.choices(few, k=random.randint(shortest, LONGEST_ASKED)))


def _compare(program: FoundProgram, wanted: _Wanted, letters: tuple[Atom, ...], longest: int
             ) -> tuple[tuple[Atom, ...] | None, int, int]:  # fmt: skip
    """The first input on which they differ, how many were compared, and up to what length."""
    tried = done = 0
    for length in range(1, longest + 1):
        if tried + len(letters) ** length > MOST_PROVED:
            break
        inputs = [tokens for tokens in product(letters, repeat=length)
                  if wanted(tokens) is not None]  # fmt: skip
        for tokens, outcome in zip(inputs, answers([program.handle.node], inputs), strict=True):
            said = wanted(tokens)
            if isinstance(outcome, RaspError) or said is None or not agrees(outcome[0], said):
                return tokens, tried, done
        tried, done = tried + len(inputs), length
    return None, tried, done


# ---------------------------------------------------------------------- the answer


def _answer(search: ProgramSearch, stopped: StopReason, seconds: float, verdict: str, proved: int,
            letters: Sequence[Atom]) -> Found:  # fmt: skip
    best = search.best
    if best is None:
        bounds = search.bounds
        none = f"nothing found up to {_cost(bounds.most_layers, bounds.most_heads)}"
        return Found(None, "", 0, 0, 0, none, 0, None, stopped, search.candidates, seconds)
    rival = None if proved else _rival(best, search.ranked, letters, search.inputs)
    return Found(best.handle, best.text, best.layers, best.heads, best.size, verdict, proved,
                 rival, stopped, search.candidates, seconds)  # fmt: skip


def _rival(best: FoundProgram, ranked: Sequence[FoundProgram], letters: Sequence[Atom],
           known: Sequence[tuple[Atom, ...]]) -> Rival | None:  # fmt: skip
    """The next program that is not the same as the best, on the shortest input that tells."""
    random, few = Random(0), tuple(letters)[:3]
    questions = [tokens for length in (1, 2, 3, 4) for tokens in product(few, repeat=length)]
    questions += [tuple(random.choices(letters, k=random.randint(2, 8)))
                  for _ in range(RANDOM_QUESTIONS)]  # fmt: skip
    asked = [tokens for tokens in questions if tokens not in set(known)]
    says = answers([best.handle.node], asked)
    for other in ranked:
        if other is best:
            continue
        for tokens, one, two in zip(asked, says, answers([other.handle.node], asked), strict=True):
            if not isinstance(one, RaspError) and not isinstance(two, RaspError) and one != two:
                return Rival(other.text, other.handle, tokens, one[0], two[0])
    return None


def _cost(layers: int, heads: int) -> str:
    return f"{layers} layer{'s' * (layers != 1)}, {heads} head{'s' * (heads != 1)}"


def _shown(atoms: Sequence[Atom]) -> str:
    return "[" + ", ".join(map(show, atoms)) + "]"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.rstrip().split("\n"))


def _agreement(examples: int) -> str:
    return "agrees with its example" if examples == 1 else f"agrees with all {examples:,} examples"
