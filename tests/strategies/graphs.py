"""Random graphs: of all kinds of atoms (`Graphs`), and of numbers alone, of a given size.

Every choice comes from a `random.Random`. With a seed it is the same graph again; as a strategy of
hypothesis (`graphs_and_inputs`), what fails is made small.
"""

from __future__ import annotations

import random
from fractions import Fraction

from hypothesis import strategies as st

from rasp.base.atoms import Atom
from rasp.language.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Program,
    Score,
    Scorer,
    ScoreSum,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    Tokens,
    TokensAs,
    in_order,
)

NUMBER, BOOL, TEXT = "number", "bool", "text"
MOST_COMPARISONS = 6


class Graphs:
    """Makes random s-ops and selectors, mostly of fitting kinds, that share parts."""

    def __init__(self, rng: random.Random, tokens_sort: str) -> None:
        self.rng = rng
        self.tokens_sort = tokens_sort
        self.made: dict[str, list[SOp]] = {NUMBER: [], BOOL: [], TEXT: []}
        self.selectors: list[Selector] = []

    def sop(self, sort: str, depth: int) -> SOp:
        """An s-op whose atoms are probably of a sort."""
        rng = self.rng
        if rng.random() < 0.008:
            sort = rng.choice([NUMBER, BOOL, TEXT])
        if self.made[sort] and rng.random() < 0.25:
            return rng.choice(self.made[sort])
        if depth <= 0 or rng.random() < 0.15:
            return self.leaf(sort)
        if rng.random() < 0.35:
            made: SOp = self.aggregate(sort, depth)
        else:
            made = getattr(self, sort)(depth - 1)
        self.made[sort].append(made)
        return made

    def leaf(self, sort: str) -> SOp:
        rng = self.rng
        readable = sort != NUMBER or self.tokens_sort != TEXT or rng.random() < 0.1
        if readable and rng.random() < 0.04:
            return TokensAs({NUMBER: "float", BOOL: "bool", TEXT: "string"}[sort])
        if sort == self.tokens_sort and rng.random() < 0.6:
            return Tokens()
        if sort == NUMBER and rng.random() < 0.5:
            return Indices()
        return Const(self.atom(sort))

    def atom(self, sort: str) -> Atom:
        rng = self.rng
        if sort == BOOL:
            return rng.random() < 0.5
        if sort == TEXT:
            return rng.choice(["", "a", "b", "c", "ab", "3", "-2", "1.5", "x y", "é"])
        if rng.random() < 0.03:
            return rng.choice([2**61, -(2**62), 2**63, 10**30, Fraction(1, 2**40), 3**39])
        if rng.random() < 0.25:
            return Fraction(rng.randint(-9, 9), rng.randint(1, 7))
        return rng.randint(-3, 6)

    def number(self, depth: int) -> SOp:
        rng = self.rng
        match rng.randrange(12):
            case 0 | 1 | 2 | 3:
                op = rng.choice(["+", "+", "-", "-", "*", "*", "/", "//", "%", "^"])
                right = self.sop(NUMBER, depth)
                if op in ("/", "//", "%", "^") and rng.random() < 0.8:  # mostly a safe operand
                    right = Const(rng.choice([1, 2, 3, Fraction(1, 2), Fraction(5, 3)]))
                return Elementwise(op, (self.sop(NUMBER, depth), right))
            case 4 | 5:
                op = rng.choice(["negate", "plus", "round", "int", "float", "floor", "abs"])
                return Elementwise(op, (self.sop(NUMBER, depth),))
            case 6 | 7:
                sort = rng.choice([NUMBER, BOOL, TEXT])
                return Elementwise("indicator", (self.sop(sort, depth),))
            case 8:
                return self.choice(NUMBER, depth)
            case 9:
                return self.look_up(NUMBER, depth)
            case 10:
                parts = (self.sop(NUMBER, depth), self.sop(BOOL, depth))
                return Elementwise(rng.choice("+-*"), parts)
        digits = Elementwise("string", (Elementwise("round", (self.sop(NUMBER, depth),)),))
        text = digits if rng.random() < 0.9 else self.sop(TEXT, depth)
        return Elementwise(rng.choice(["int", "float"]), (text,))

    def bool(self, depth: int) -> SOp:
        rng = self.rng
        match rng.randrange(8):
            case 0 | 1 | 2:
                sort = rng.choice([NUMBER, NUMBER, TEXT])
                parts = (self.sop(sort, depth), self.sop(sort, depth))
                return Elementwise(rng.choice(COMPARISONS), parts)
            case 3:
                sorts = rng.choices([BOOL, BOOL, NUMBER, TEXT], k=2)
                parts = (self.sop(sorts[0], depth), self.sop(sorts[1], depth))
                return Elementwise(rng.choice(["and", "or", "==", "!="]), parts)
            case 4:
                sort = rng.choice([BOOL, NUMBER, TEXT])
                return Elementwise(rng.choice(["not", "bool"]), (self.sop(sort, depth),))
            case 5:
                sort = rng.choice([NUMBER, TEXT])
                members = [self.leaf(sort) for _ in range(rng.choice([0, 1, 2, 4, 20]))]
                return Elementwise("in", (self.sop(sort, depth), *members))
            case 6:
                return self.choice(BOOL, depth)
        return self.look_up(BOOL, depth)

    def text(self, depth: int) -> SOp:
        rng = self.rng
        match rng.randrange(6):
            case 0 | 1:
                return Elementwise("+", (self.sop(TEXT, depth), self.sop(TEXT, depth)))
            case 2:
                times = Elementwise("%", (Indices(), Const(rng.randint(1, 4))))
                times = times if rng.random() < 0.9 else self.leaf(NUMBER)
                parts = (self.sop(TEXT, depth), times)
                return Elementwise("*", parts if rng.random() < 0.5 else parts[::-1])
            case 3:
                return Elementwise("string", (self.sop(rng.choice([NUMBER, BOOL, TEXT]), depth),))
            case 4:
                return self.look_up(TEXT, depth)
        return self.choice(TEXT, depth)

    def choice(self, sort: str, depth: int) -> SOp:
        condition = self.sop(BOOL, depth)
        other = self.rng.choice([NUMBER, BOOL]) if sort != TEXT else TEXT
        return Elementwise("if", (condition, self.sop(sort, depth), self.sop(other, depth)))

    def look_up(self, sort: str, depth: int) -> SOp:
        rng = self.rng
        count = rng.choice([1, 2, 3, 5])
        leaf = self.leaf if rng.random() < 0.3 else lambda kind: Const(self.atom(kind))
        if rng.random() < 0.5:
            index = Elementwise("%", (self.sop(NUMBER, depth), Const(count)))
            if rng.random() < 0.9:
                index = Elementwise("%", (Elementwise("round", (index,)), Const(count)))
            return Elementwise("at", (index, *(leaf(sort) for _ in range(count))))
        keys = Elementwise("%", (Indices(), Const(count)))
        pairs = [part for at in range(count) for part in (Const(at), leaf(sort))]
        keys = keys if rng.random() < 0.95 else self.sop(NUMBER, depth)
        return Elementwise("lookup", (keys, *pairs))

    def aggregate(self, sort: str, depth: int) -> SOp:
        rng = self.rng
        default: Atom = self.atom(sort) if sort == TEXT or rng.random() < 0.5 else 0
        if rng.random() < 0.03:
            default = self.atom(rng.choice([NUMBER, BOOL, TEXT]))
        selector = self.selector(depth - 1, rng.randint(1, MOST_COMPARISONS))
        if sort != NUMBER and rng.random() < 0.97:  # a lone pick, mostly
            offset = Elementwise("-", (Indices(), Const(rng.randint(-2, 2))))
            selector = SelectorAnd(selector, Select(Indices(), offset, "=="))
        return Aggregate(selector, self.sop(sort, depth - 1), default)

    def selector(self, depth: int, comparisons: int) -> Selector:
        """A selector of a number of comparisons, and sometimes a select_best."""
        rng = self.rng
        if self.selectors and rng.random() < 0.15:
            return rng.choice(self.selectors)
        made = self.selector_tree(depth, comparisons)
        self.selectors.append(made)
        return made

    def selector_tree(self, depth: int, comparisons: int) -> Selector:
        rng = self.rng
        if rng.random() < 0.12:
            return SelectorNot(self.selector_tree(depth, comparisons))
        if rng.random() < 0.12:
            inner = self.selector_tree(depth, comparisons)
            return SelectBest(inner, self.scorer(depth))
        if comparisons == 1:
            return self.comparison(depth)
        left = rng.randint(1, comparisons - 1)
        join = rng.choice([SelectorAnd, SelectorAnd, SelectorOr])
        parts = self.selector_tree(depth, left), self.selector_tree(depth, comparisons - left)
        return join(*parts)

    def scorer(self, depth: int) -> Scorer:
        rng = self.rng
        if rng.random() < 0.3:
            return ScoreSum(self.scorer(depth), self.scorer(depth))
        queries = Const(rng.choice([1, -1, 2, 0])) if rng.random() < 0.5 else None
        return Score(self.sop(NUMBER, depth - 1), queries or self.sop(NUMBER, depth - 1))

    def comparison(self, depth: int) -> Select:
        rng = self.rng
        op = rng.choice([*COMPARISONS, "==", "=="])
        sort = rng.choice([NUMBER, NUMBER, BOOL, TEXT])
        if rng.random() < 0.3:
            if sort == self.tokens_sort or rng.random() < 0.5:
                return Select(Tokens(), Tokens(), op)
            return Select(Indices(), Indices(), op)
        keys, queries = self.sop(sort, depth - 1), self.sop(sort, depth - 1)
        if rng.random() < 0.2:
            queries = keys
        return Select(keys, queries, op)


def random_input(rng: random.Random, sort: str) -> tuple[Atom, ...]:
    length = rng.choice([1, 2, 3, 5, 8, 13, rng.randint(1, 60)])
    if sort == TEXT:
        letters = rng.choice(["ab", "abc", "()", "hello", "0123"])
        return tuple(rng.choice(letters) for _ in range(length))
    if sort == BOOL:
        return tuple(rng.random() < 0.5 for _ in range(length))
    kinds = rng.choice([(int,), (int, bool), (int, Fraction), (Fraction,), (int, bool, Fraction)])
    makers = {
        int: lambda: rng.choice([rng.randint(-4, 9), rng.randint(-4, 9), rng.randint(0, 10**6)]),
        bool: lambda: rng.random() < 0.5,
        Fraction: lambda: Fraction(rng.randint(-9, 9), rng.randint(1, 9)),
    }
    return tuple(makers[rng.choice(kinds)]() for _ in range(length))


GraphsAndInputs = tuple[list[Node], list[tuple[Atom, ...]]]


def random_case(rng: random.Random) -> GraphsAndInputs:
    """One to three outputs that share parts, and a batch of inputs of different lengths."""
    sort = rng.choice([TEXT, TEXT, NUMBER, NUMBER, BOOL])
    inputs = [random_input(rng, sort) for _ in range(rng.choice([1, 1, 2, 3, 6]))]
    if rng.random() < 0.06:  # another kind in one input, or inside one
        other = random_input(rng, rng.choice([TEXT, NUMBER]))
        inputs.insert(rng.randrange(len(inputs) + 1), other + (inputs[0] * (rng.random() < 0.3)))
    graphs = Graphs(rng, sort)
    depth = rng.choice([2, 3, 4, 5])
    outputs: list[Node] = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.12:
            outputs.append(graphs.selector(depth, rng.randint(1, MOST_COMPARISONS)))
        elif rng.random() < 0.05:
            outputs.append(Score(graphs.sop(NUMBER, depth), graphs.sop(NUMBER, depth)))
        else:
            outputs.append(graphs.sop(rng.choice([NUMBER, NUMBER, BOOL, TEXT]), depth + 1))
    return outputs, inputs


def graphs_and_inputs() -> st.SearchStrategy[GraphsAndInputs]:
    """Outputs of all kinds with inputs for them: most have values, some fail."""
    return st.randoms(use_true_random=False).map(random_case)


def random_outputs(
    seed: int, size: int, aggregates: float = 0.35, operators: str = "+-*"
) -> list[Node]:
    """Return the outputs of a random graph of about `size` nodes; they are s-ops and selectors."""
    rng = random.Random(seed)
    s_ops: list[SOp] = [Tokens(), Indices(), Const(1)]
    selectors: list[Selector] = [Select(Tokens(), Tokens(), "==")]
    while len(s_ops) + len(selectors) < size:
        # near the end of the list is later in the graph: deep and wide shapes both come up
        def some(pool: list, rng: random.Random = rng):
            return pool[-rng.randint(1, min(len(pool), rng.choice((3, 8, 1000))))]

        chance = rng.random()
        if chance < aggregates:
            s_ops.append(Aggregate(some(selectors), some(s_ops), rng.choice((0, 1))))
        elif chance < aggregates + 0.25:
            s_ops.append(Elementwise(rng.choice(operators), (some(s_ops), some(s_ops))))
        elif chance < aggregates + 0.45:
            selectors.append(Select(some(s_ops), some(s_ops), rng.choice(COMPARISONS)))
        else:
            selectors.append(_combined(rng, some, selectors, s_ops))
    chosen: list[Node] = [s_ops[-1], *rng.sample(s_ops, min(2, len(s_ops)))]
    if rng.random() < 0.2:
        chosen.append(rng.choice(selectors))
    return list(dict.fromkeys(chosen))


def _combined(rng: random.Random, some, selectors: list[Selector], s_ops: list[SOp]) -> Selector:
    match rng.randint(0, 3):
        case 0:
            return SelectorAnd(some(selectors), some(selectors))
        case 1:
            return SelectorOr(some(selectors), some(selectors))
        case 2:
            return SelectorNot(some(selectors))
    return SelectBest(some(selectors), Score(some(s_ops), Const(rng.choice((1, 2, -1)))))


def named_program(seed: int) -> tuple[list[SOp], Program, list[int]]:
    """Return outputs of numbers, a program that names some nodes, and an input."""
    rng = random.Random(seed)
    # no products: numbers that double their digits again and again do not fit a picture
    made = random_outputs(seed, rng.randint(8, 24), operators="+-")
    outputs = [node for node in made if isinstance(node, SOp) and not isinstance(node, Const)][:2]
    nodes = [node for node in in_order(outputs) if node.needs]
    names = {node: f"name{at}" for at, node in enumerate(nodes) if rng.random() < 0.4}
    given = [rng.randint(-3, 3) for _ in range(rng.randint(1, 8))]
    return outputs, Program.named(names), given
