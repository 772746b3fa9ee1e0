"""Random programs as text, with inputs: what a graph cannot show is here on purpose.

Expressions are the text of random graphs, and templates: calls of the library and of the program's
own functions, keywords, comprehensions, indexing. A template is RASP text in which words in
capitals are holes. Statements bind several names, define functions that nest, recurse and have
defaults, loop, bind a name again, and now and then something has the wrong kind.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product

from hypothesis import strategies as st

from rasp.base.atoms import Atom, show_input
from rasp.base.errors import RaspError
from rasp.base.limits import Limits
from rasp.base.source import Source
from rasp.language.graph import COMPARISONS, Const, Node, Program, expression
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Session
from rasp.language.operators import OPERATORS, Operator, apply_operator
from strategies.graphs import BOOL, NUMBER, TEXT, Graphs, random_input

SELECTOR, SCORER = "selector", "scorer"
KINDS = (NUMBER, NUMBER, BOOL, TEXT)
LIMITS = Limits(steps=20_000, graph_size=3_000, list_size=1_000, recursion=40)
NAMES = ("a", "b", "x", "hist", "flip", "même", "_private", "set", "names", "count")
SAFE = ("1", "2", "3", "0.5", "2.5")
"""What nothing goes wrong with on the right of `/`, `%` and `^`."""
MOST_OUTPUTS = 4
SAMPLES: dict[str, tuple[Atom, ...]] = {NUMBER: (3, 0), BOOL: (True, False), TEXT: ("a", "")}
UNWRITABLE = re.compile(r"\b(string|float|bool)\(| in \[|…")
"""What a graph can hold and a program cannot say."""
NEXT_TO = "select(indices, indices - STEP, ==)"

COMMON = (
    "SAME if BOOL else SAME",
    "[ITEM, ITEM, ITEM][indices % 3]",
    "[ITEM, ITEM, ITEM][STEP]",
    "{0: ITEM, 1: ITEM, 2: ITEM, 3: ITEM, 4: ITEM}[indices % 5]",
    f"aggregate(SELECTOR and {NEXT_TO}, SAME, ITEM)",
    f"aggregate({NEXT_TO}, values=SAME, default=ITEM)",
)
TEMPLATES: dict[str, tuple[str, ...]] = {
    NUMBER: (
        "aggregate(SELECTOR, NUMBER)", "aggregate(SELECTOR, values=NUMBER, default=ITEM)",
        "aggregate(SELECTOR, BOOL)", "selector_width(SELECTOR)",
        "selector_width(SELECTOR, assume_bos=True)", "histf(OTHER)", "histf(OTHER, True)",
        "sort(NUMBER, NUMBER)", "sort(NUMBER, NUMBER, assume_bos=True)", "num_prevs(BOOL)",
        "average(NUMBER)", "load_from_location(NUMBER, NUMBER)", "shift(NUMBER, steps=STEP)",
        "pow(NUMBER, 2)", "NUMBER[STEP]", 'pair_balance("a", "b")', "count(OTHER, ATOM)",
        "frac_prevs(OTHER, ATOM)", "max(NUMBER, NUMBER)", "min(NUMBER, NUMBER)",
        "pairwise_mul(NUMBER, NUMBER)", "NUMBER if BOOL else BOOL",
        "[NUMBER + each for each in range(3)][indices % 3]",
        "{each: NUMBER * each for each in range(2)}[indices % 2]",
    ),
    BOOL: (
        "has_prev(OTHER)", "has_focus(SELECTOR)", "ATOM in OTHER", "OTHER in []",
        "OTHER in [ATOM, ATOM, ATOM]", "contains(OTHER, ATOM)", "mark_first_instance(OTHER, ATOM)",
        "mark_last_instance(OTHER, ATOM)", "BOOL if BOOL else NUMBER",
    ),
    TEXT: (
        'shift(TEXT, STEP, "-")', "sort(TEXT, NUMBER)", "TEXT[0]", "TEXT[-1]",
        "TEXT * (indices % 3)", "(indices % 4) * TEXT", '"abc"[indices % 3]',
    ),
    SELECTOR: (
        "SELECTOR and SELECTOR", "SELECTOR or SELECTOR", "not SELECTOR",
        "select_best(SELECTOR, SCORER)", "select_all", "full_s", "select_eq(OTHER, OTHER)",
        "select_next_identical(OTHER)", "select_from_first(OTHER, ATOM)",
        "select_from_last(OTHER, ATOM)",
        *(f"select(OTHER, OTHER, {op})" for op in COMPARISONS),
    ),
    SCORER: (
        "score(NUMBER, 1)", "score(NUMBER, -1)", "score(NUMBER, NUMBER)", "SCORER + SCORER",
        "SCORER - SCORER", "2 * SCORER", "-1 * SCORER", "0.5 * SCORER",
    ),
}  # fmt: skip
SHALLOW = {
    SELECTOR: tuple(f"select({base}, {base}, {op})" for base, op in
                    (("tokens", "=="), ("tokens", "=="), ("indices", "<="), ("indices", "<"))),
    SCORER: ("score(indices, 1)", "score(indices, -1)"),
}  # fmt: skip


@cache
def templates(kind: str) -> tuple[str, ...]:
    """What an expression of a kind can be: a row of the operator table brings its own."""
    if kind in (SELECTOR, SCORER):
        return TEMPLATES[kind]
    rows = (row for row in OPERATORS.values() if row.written in ("call", "infix", "prefix"))
    return (*COMMON, *TEMPLATES[kind], *(text for row in rows for text in applications(row, kind)))


def applications(row: Operator, kind: str) -> Iterator[str]:
    """Write an operator with each combination of operands that it takes, if it gives a kind."""
    assert row.arity is not None
    for sorts in product((NUMBER, BOOL, TEXT), repeat=row.arity):
        values = [_value(row, atoms) for atoms in product(*(SAMPLES[sort] for sort in sorts))]
        if values[0] is None or _kind(values[0]) != kind:
            continue
        holes = [sort.upper() for sort in sorts]
        if None in values:  # not every operand is safe
            holes[-1] = "SAFE"
        if row.written == "call":
            yield f"{row.name}({', '.join(holes)})"
        else:
            yield (
                f"{holes[0]} {row.text} {holes[1]}" if row.arity == 2 else f"{row.text} {holes[0]}"
            )


def _value(row: Operator, atoms: tuple[Atom, ...]) -> Atom | None:
    try:
        return apply_operator(row.name, atoms)
    except (RaspError, ValueError):
        return None


def _kind(atom: Atom) -> str:
    return BOOL if isinstance(atom, bool) else TEXT if isinstance(atom, str) else NUMBER


@dataclass(frozen=True)
class OwnFunction:
    """A function that the program has defined: its parameters' kinds and its result's."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str


class Programs:
    """Writes the statements of one program, each using the names before it."""

    def __init__(self, rng: random.Random, tokens_kind: str, depth: int) -> None:
        self.rng, self.depth, self.numbered = rng, depth, 0
        self.graphs = Graphs(rng, tokens_kind)
        self.names: dict[str, list[str]] = {NUMBER: [], BOOL: [], TEXT: [], SELECTOR: []}
        self.functions: list[OwnFunction] = []

    def expression(self, kind: str, depth: int) -> str:
        """An expression that is probably of a kind, in brackets where it needs some."""
        rng = self.rng
        if kind in KINDS and rng.random() < 0.01:
            kind = rng.choice(KINDS)
        if self.names.get(kind) and rng.random() < 0.35:
            return rng.choice(self.names[kind])
        if kind in KINDS and (depth <= 0 or rng.random() < 0.25):
            return self.graph(kind, depth)
        own = [function for function in self.functions if function.result == kind]
        if own and rng.random() < 0.2:
            return self.call(rng.choice(own), depth - 1)
        if kind not in KINDS and depth <= 0:
            return rng.choice(SHALLOW[kind])
        return f"({self.filled(rng.choice(templates(kind)), kind, depth - 1)})"

    def graph(self, kind: str, depth: int) -> str:
        """The text of a random graph."""
        written = expression(self.graphs.sop(kind, max(depth, 1)), {}, depth=40)
        if UNWRITABLE.search(written):
            written = expression(self.graphs.leaf(kind), {})
        return f"({written})"

    def filled(self, template: str, kind: str, depth: int) -> str:
        """Fill a template's holes."""
        other = self.rng.choice([NUMBER, TEXT])

        def hole(match: re.Match[str]) -> str:
            rng, word = self.rng, match[0]
            match word:
                case "STEP":
                    return str(rng.randint(-2, 2))
                case "SAFE":
                    return rng.choice(SAFE)
                case "ITEM" | "ATOM":
                    return self.atom(kind if word == "ITEM" else other)
            wanted = {"SAME": kind, "OTHER": other}.get(word, word.lower())
            return self.expression(wanted, depth)

        return re.sub(r"\b[A-Z]{4,}\b", hole, template)

    def atom(self, kind: str) -> str:
        """An atom as people write it."""
        return f"({expression(Const(self.graphs.atom(kind)), {})})"

    def call(self, function: OwnFunction, depth: int) -> str:
        """A call of a function of the program's own, with keywords now and then."""
        by_name = self.rng.random() < 0.4
        given = []
        for name, kind in function.parameters:
            value = str(self.rng.randint(0, 3)) if kind == "turns" else self.expression(kind, depth)
            given.append(f"{name}={value}" if by_name else value)
        return f"{function.name}({', '.join(given)})"

    def new_name(self) -> str:
        """A name: mostly a new one, now and then one that is taken."""
        self.numbered += 1
        chosen = self.rng.choice(NAMES)
        fresh = chosen if self.rng.random() < 0.2 else f"{chosen}{self.numbered}"
        for names in self.names.values():
            if fresh in names:
                names.remove(fresh)
        self.functions = [function for function in self.functions if function.name != fresh]
        return fresh

    def named(self, kind: str, value: str) -> str:
        """Bind a new name."""
        name = self.new_name()
        self.names[kind].append(name)
        return f"{name} = {value};"

    def text(self, count: int) -> str:
        """A program; its last statement defines an s-op called `last`."""
        lines = [self.statement() for _ in range(count)]
        lines.append(f"last = {self.expression(self.rng.choice(KINDS), self.depth)};")
        return "\n".join(lines) + "\n"

    def statement(self) -> str:
        rng, chance = self.rng, self.rng.random()
        kind = rng.choice(KINDS)
        if chance < 0.45:
            return self.named(kind, self.expression(kind, self.depth))
        if chance < 0.6:
            return self.named(SELECTOR, self.expression(SELECTOR, self.depth))
        if chance < 0.72:
            return self.function()
        if chance < 0.8:
            return self.loop(rng.choice([NUMBER, TEXT]))
        if chance < 0.87:
            return self.several()
        if chance < 0.92:
            return self.named(kind, self.atom(kind))
        if chance < 0.96:
            given = random_input(rng, self.graphs.tokens_sort)[:6]
            tokens = ", ".join(expression(Const(token), {}) for token in given)
            applied = rng.choice([*self.names[SELECTOR], "indices", "length"])
            return f"{applied}([{tokens}]);"
        return rng.choice(["# so", "# é", "# x = 1;", f"{self.new_name()} = draw + not [];"])

    def several(self) -> str:
        """Several names at once, from a list or from a function that returns one."""
        kinds = self.rng.choices(KINDS, k=self.rng.randint(2, 3))
        values = ", ".join(self.expression(kind, self.depth - 1) for kind in kinds)
        before = ""
        if self.rng.random() < 0.3:
            function = self.new_name()
            before, values = f"def {function}() {{ return {values}; }}\n", f"{function}()"
        targets = [f"{self.new_name()}_{at}" for at in range(len(kinds))]
        for target, kind in zip(targets, kinds, strict=True):
            self.names[kind].append(target)
        return f"{before}{', '.join(targets)} = {values};"

    def loop(self, kind: str) -> str:
        """A name that a loop builds up."""
        first = self.named(kind, self.expression(kind, self.depth - 1))
        target = self.names[kind][-1]
        source = self.rng.choice(["range(2)", "range(1, 4)", "[3, 1]"])
        again = self.expression(kind, 2)
        return f"{first}\nfor turn in {source} {{ {target} = {target} + {again}; }}"

    def function(self) -> str:
        """A function of one to three parameters; it may recurse, nest or have a default."""
        rng = self.rng
        kinds = [NUMBER, BOOL, TEXT, SELECTOR]
        result, parameters = (
            rng.choice(kinds),
            [(f"p{at}", kind) for at, kind in enumerate(rng.choices(kinds, k=rng.randint(1, 3)))],
        )
        kept = {kind: list(names) for kind, names in self.names.items()}
        for parameter, kind in parameters:
            self.names[kind].append(parameter)
        local = ""
        if rng.random() < 0.4:
            local = f"local = {self.expression(NUMBER, self.depth - 1)}; "
            self.names[NUMBER].append("local")
        if rng.random() < 0.15:
            local += "def nested(q) { return q + 1; } "
        value = self.expression(result, self.depth - 1)
        self.names = kept
        name, written = self.new_name(), [parameter for parameter, _ in parameters]
        if rng.random() < 0.15:
            again = f"{name}({', '.join(written)}, turns - 1)"
            value = f"{value} if turns <= 0 else {again}"
            parameters.append(("turns", "turns"))
            written.append("turns=2")
        elif parameters[-1][1] != SELECTOR and rng.random() < 0.4:
            written[-1] += f"={self.atom(parameters[-1][1])}"
        self.functions.append(OwnFunction(name, tuple(parameters), result))
        return f"def {name}({', '.join(written)}) {{ {local}return {value}; }}"


@dataclass(frozen=True)
class Case:
    """A program and inputs for it."""

    text: str
    inputs: tuple[tuple[Atom, ...], ...]
    errors: tuple[RaspError, ...] = field(default=(), compare=False, init=False)

    @cached_property
    def session(self) -> Session:
        """The program, run; it goes on after mistakes."""
        session = Session(LIMITS, Loader(enabled=False))
        _, errors = session.check(Source("case", self.text))
        object.__setattr__(self, "errors", tuple(errors))
        return session

    @cached_property
    def outputs(self) -> dict[str, Node]:
        """The last few s-ops and selectors that the program names."""
        nodes = {name: value for name, value in self.session.names().items()
                 if isinstance(value, Node) and not isinstance(value, Const)}  # fmt: skip
        return dict(list(nodes.items())[-MOST_OUTPUTS:])

    @cached_property
    def program(self) -> Program:
        """What is known of the outputs: their names and places."""
        return Program.joined(self.session.program_of(name) for name in self.outputs)

    def __repr__(self) -> str:
        return f"{self.text}# on {', '.join(show_input(tokens) for tokens in self.inputs)}"


def random_case(rng: random.Random) -> Case:
    """A program of up to six statements, with a few inputs."""
    kind = rng.choice([TEXT, TEXT, NUMBER, BOOL])
    inputs = [random_input(rng, kind)[:40] for _ in range(rng.choice([1, 1, 2, 4]))]
    if rng.random() < 0.05:
        inputs.append(random_input(rng, rng.choice([TEXT, NUMBER])))
    program = Programs(rng, kind, rng.choice([1, 2, 2, 3]))
    return Case(program.text(rng.randint(0, 6)), tuple(inputs))


def seeded_cases(count: int) -> Iterator[Case]:
    """So many cases, the same ones each time."""
    return (random_case(random.Random(seed)) for seed in range(count))


def cases() -> st.SearchStrategy[Case]:
    """Programs with inputs: most run, some make mistakes."""
    return st.randoms(use_true_random=False).map(random_case)
