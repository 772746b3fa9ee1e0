"""Aggregates in, head outputs out: which head computes each, as a mean or as a sum.

A mean is what softmax attention gives. A sum is had by a heavy sink (COMPILER, section 5), and
three shapes of program are sums in disguise, whatever they are called in the source:

- `aggregate(s, light)` where `light` is non-zero at index 0 only and `s` always picks index 0:
  that is c/m for the number m of picks (the paper's selector_width);
- the same where `s` picks nothing but index 0: c or 0;
- `width * aggregate(s, x)` where `width` is known to be the number of picks.

Sums are linear in the values, so a comparison that only looks at keys moves into the values,
and sums over the same selector share one head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from rasp.atoms import Atom
from rasp.compiler.formulas import (
    All,
    Any,
    Formula,
    Literal,
    at_the_key,
    conjuncts,
    every,
    formula_of,
    in_stable_order,
    literals,
    rewritten,
)
from rasp.compiler.linear import Linear
from rasp.compiler.refusals import Refusal, Refusals
from rasp.compiler.sets import TooMany, means, subset_sums, sums
from rasp.compiler.settings import Settings
from rasp.compiler.sum_shapes import Sum, disjoint
from rasp.compiler.values import ValueAnalysis, Values
from rasp.compiler.variables import Head, HeadOutput, IndexVariable, codes_of, distinct, typed
from rasp.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Score,
    SelectBest,
    Selector,
    SOp,
    apply_operator,
    expression,
    in_order,
)

ONE = Fraction(1)
NUMBERS = frozenset({int, Fraction})
REFLEXIVE = ("==", "<=", ">=")


class HeadAnalysis(ValueAnalysis):
    """Value analysis with attention: fills `heads` as it meets aggregates."""

    def __init__(
        self,
        outputs: Sequence[Node],
        settings: Settings,
        refusals: Refusals,
        layer_of: Mapping[Node, int],
        siblings: Mapping[Aggregate, Sequence[Aggregate]],
        users: Mapping[Node, Sequence[Node]],
    ) -> None:
        super().__init__(settings, refusals)
        self.heads: list[Head] = []
        self._outputs = set(outputs)
        self._layer_of = layer_of
        self._siblings = siblings
        self._users = users
        self._sum_shapes: dict[Aggregate, Sum | None] = {}
        self._products: dict[Node, Linear] = {}
        self._busy: set[Node] = set()
        """Aggregates whose values are being found: nothing may ask for them again."""
        self.assumes_no_failure = False
        """Whether some aggregate is taken to pick what it can use, or else the program fails."""

    # -- values of aggregates ---------------------------------------------------------------

    def _attention(self, node: SOp) -> Values:
        assert isinstance(node, Aggregate)
        self._busy.add(node)
        try:
            return self._aggregate(node)
        finally:
            self._busy.discard(node)

    def _aggregate(self, node: Aggregate) -> Values:
        values = self.of(node.values)
        formula, best = self.selector(node.selector)
        if formula is False:
            return self._finished(0, (), [node.default])
        compared = [part for each in literals(formula) for part in (each.keys, each.queries)]
        compared += [best.keys, best.queries] if best else []
        if not values.atoms or not all(self.of(each).atoms for each in compared):
            return Values(0, (), [None], frozenset())
        self._check_causal(formula, node)
        shapes = [self.sum_shape(sibling) for sibling in self._siblings[node]]
        shape = self.sum_shape(node)
        if shape is not None and None not in shapes:
            return self._sum(node, shape)
        return self._mean(node)

    def selector(self, selector: Selector) -> tuple[Formula, Score | None]:
        """Split a selector into a formula and what its best picks are scored by."""
        best = None
        if isinstance(selector, SelectBest):
            assert isinstance(selector.scorer, Score)
            selector, best = selector.selector, selector.scorer
        for part in in_order([selector]):
            if isinstance(part, SelectBest):
                raise Refusal(
                    "select_best stands inside another selector",
                    "let `aggregate` use the result of select_best directly",
                )
        return formula_of(selector, self._simplified), best

    def _simplified(self, literal: Literal) -> Formula:
        """Evaluate a comparison that is the same for all pairs; one that always fails is refused."""
        keys, queries = self.of(literal.keys).atoms, self.of(literal.queries).atoms
        sorts = [{isinstance(atom, str) for atom in atoms} for atoms in (keys, queries)]
        if literal.op not in ("==", "!=") and sorts[0] != sorts[1]:
            raise Refusal(
                "it compares strings with numbers, which the program itself cannot",
                "compare numbers with numbers or strings with strings",
            )
        if not keys or not queries or len(keys) * len(queries) > 10_000:
            return literal
        if literal.keys is literal.queries and len(keys) > 1:
            return literal
        if max(map(len, sorts)) > 1:
            return literal
        found = {
            bool(apply_operator(literal.op, (key, query))) for key in keys for query in queries
        }
        return found.pop() if len(found) == 1 else literal

    def _mean(self, node: Aggregate) -> Values:
        formula, best = self.selector(node.selector)
        values = self.of(node.values)
        atoms = values.atoms
        strings = any(isinstance(atom, str) for atom in atoms)
        is_whole = strings or any(isinstance(atom, bool) for atom in atoms)
        may_be_empty = not self.is_never_empty(formula)
        unique = self.picks_at_most_one(formula, best)
        if is_whole and not unique:
            unique = self.assumes_no_failure = True
        if may_be_empty and isinstance(node.default, str) != strings:
            self.assumes_no_failure = True
        if may_be_empty and not self.settings.sink:
            raise Refusal(
                "its selector may pick nothing, and without a sink softmax cannot tell that "
                "from picking everything",
                "compile with `sink=True`, or let the selector always pick something",
            )
        known: list[Atom] = list(atoms)
        if not unique:
            known += self._means([Fraction(atom) for atom in atoms])  # type: ignore[arg-type]
        known = distinct([*known, node.default] if may_be_empty else known)
        codes = codes_of(known)
        head = self._head(node, "mean", formula, best)
        head.may_be_empty |= may_be_empty
        averaged = not unique and len(set(codes_of(atoms).values())) > 1
        head.needs_uniform |= averaged
        output = HeadOutput(
            head.layer,
            tuple((atom, codes[atom]) for atom in known),
            averaged or self._is_noisy(formula, best, values),
            head,
            node.values,
            node.default if may_be_empty else None,
            codes if strings or isinstance(node.default, str) else None,
            known_by=node,
        )
        head.outputs.append(output)
        if len(known) == 1:
            return self._finished(0, (), known)
        return self._finished(head.layer, (output,), known)

    def _is_noisy(self, formula: Formula, best: Score | None, values: Values) -> bool:
        """Whether anything that a head reads is noisy."""
        nodes = {node for each in literals(formula) for node in (each.keys, each.queries)}
        nodes |= {best.keys, best.queries} if best else set()
        return values.is_noisy or any(self.of(node).is_noisy for node in nodes)

    def _means(self, atoms: list[Fraction]) -> list[Fraction]:
        try:
            return means(atoms, self.settings.max_length)
        except TooMany as error:
            raise Refusal(
                f"the mean of its values can be one of {error.size} or more numbers",
                "average smaller whole numbers, use a smaller `max_length`, or let the "
                "selector pick one key",
            ) from None

    def _sum(self, node: Aggregate, shape: Sum) -> Values:
        linear = Linear(shape.constant)
        for formula, values in shape.parts:
            linear = linear + self._sum_output(node, formula, values, shape)
        if shape.kind == "product":
            for user in self._users[node]:
                self._products[user] = linear
            return self.from_linear(linear, NUMBERS)
        table = self.from_linear(linear, frozenset({Fraction}))
        light = shape.light
        assert light is not None
        if shape.kind == "pick":
            atoms = [light if atom else node.default for atom in table.outcomes]
            return self._finished(table.layer, table.inputs, atoms)
        picked = [None if atom is None or atom < 1 else Fraction(atom)  # type: ignore[arg-type,operator]
                  for atom in table.outcomes]  # fmt: skip
        shares: list[Atom | None] = [
            None if count is None else light if count == 1 else Fraction(light) / count  # type: ignore[arg-type]
            for count in picked
        ]
        found = self._finished(table.layer, table.inputs, shares)
        reciprocal = linear.times(1 / Fraction(light))  # type: ignore[arg-type]
        return Values(found.layer, found.inputs, found.outcomes, found.kinds, found.linear,
                      reciprocal)  # fmt: skip

    def _sum_output(self, node: Aggregate, formula: Formula, values: SOp, shape: Sum) -> Linear:
        if formula is False:
            return Linear()
        found = self.of(values)
        head = self._head(node, "sum", formula, None)
        head.family = shape.whole if len(shape.parts) > 1 else None
        for output in head.outputs:
            if output.values is values:
                return Linear(Fraction(0), {("out", output): ONE})
        if shape.kind == "pick":
            sums = sorted({Fraction(0), *(Fraction(atom) for atom in found.atoms)})  # type: ignore[arg-type]
        else:
            sums = self._sums_of([found], formula)
        states = tuple((code, code) for code in sums)
        is_length = formula is True and found.atoms == [1]
        noisy = self._is_noisy(formula, None, found)
        output = HeadOutput(
            head.layer, states, noisy, head, values, None, None, is_length, known_by=node
        )
        head.outputs.append(output)
        return Linear(Fraction(0), {("out", output): ONE})

    def _sums_of(self, values: list[Values], formula: Formula) -> list[Fraction]:
        """Every sum over the picked keys, of which each adds one of the values given."""
        least = 1 if self.is_never_empty(formula) else 0
        try:
            tables = {tuple(each.outcomes) for each in values if each.inputs == (self.index,)}
            alike = len(tables) == 1 and all(each.inputs == (self.index,) for each in values)
            if alike and None not in next(iter(tables)):
                return subset_sums([Fraction(atom) for atom in next(iter(tables))])  # type: ignore[arg-type]
            codes = [Fraction(atom) for each in values for atom in each.atoms]  # type: ignore[arg-type]
            return sums(codes, self.settings.max_length, least)
        except TooMany as error:
            raise Refusal(
                f"the sum of its values can be one of {error.size} or more numbers",
                "add up smaller whole numbers, or use a smaller `max_length`",
            ) from None

    def _head(self, node: Aggregate, mode: str, formula: Formula, best: Score | None) -> Head:
        layer = self._layer_of[node]
        for head in self.heads:
            if (head.layer, head.mode, head.formula, head.best) == (layer, mode, formula, best):
                return head
        text = expression(node.selector, self.refusals.program.names, depth=3)
        head = Head(layer, mode, formula, best, False, mode == "sum", text)
        self.heads.append(head)
        return head

    def _linear(self, node: Elementwise, operands: list[Values]) -> Linear | None:
        return self._products.get(node) or super()._linear(node, operands)

    def _ranges_of_heads(self, linear: Linear, skip: list[HeadOutput]) -> list[list[Fraction]]:
        """Outputs of one head move together: look at the weighted sum of their values."""
        weights: dict[object, dict[Head, dict[HeadOutput, Fraction]]] = {}
        for (_, output), weight in linear.of("out").items():  # type: ignore[misc]
            if output not in skip:
                head = output.head
                family = (head.layer, head.family) if head.family is not None else head
                weights.setdefault(family, {}).setdefault(head, {})[output] = weight
        return [self._range_of_heads(each) for each in weights.values()]

    def _range_of_heads(self, weights: dict[Head, dict[HeadOutput, Fraction]]) -> list[Fraction]:
        """The range of a weighted sum of outputs; heads that split a selector share its keys."""
        every = [output for each in weights.values() for output in each]
        if len(every) == 1:
            (each,) = weights.values()
            return sorted({each[every[0]] * code for _, code in every[0].states})
        if any(output.codes is not None for output in every):
            reach = [Fraction(0)]
            for output, weight in next(iter(weights.values())).items():
                values = {weight * code for _, code in output.states}
                reach = sorted({one + other for one in reach for other in values})
            return reach
        mixed = [self.of(mixture(each)) for each in weights.values()]
        head = next(iter(weights))
        if head.mode == "sum":
            whole = head.formula if head.family is None else head.family
            return self._sums_of(mixed, whole)
        found = set(self._means([Fraction(atom) for atom in mixed[0].atoms]))  # type: ignore[arg-type]
        if all(output.default is not None for output in every):
            found.add(sum((weight * Fraction(output.default)  # type: ignore[arg-type]
                           for output, weight in weights[head].items()), Fraction(0)))  # fmt: skip
        return sorted(found)

    # -- sums in disguise ---------------------------------------------------------------------

    def sum_shape(self, node: Aggregate) -> Sum | None:
        """Recognise an aggregate that is a sum in disguise."""
        if node not in self._sum_shapes:
            self._sum_shapes[node] = None  # until it is known: shapes may ask for each other
            self._sum_shapes[node] = self._find_sum_shape(node)
        return self._sum_shapes[node]

    def _find_sum_shape(self, node: Aggregate) -> Sum | None:
        if not self.settings.sink or isinstance(node.selector, SelectBest):
            return None
        formula, _ = self.selector(node.selector)
        values = self.of(node.values)
        if not values.kinds <= {int, Fraction} or formula is False:
            return None
        light = self._light(values)
        first = rewritten(formula, lambda literal: self._at_index(literal, True))
        others = rewritten(formula, lambda literal: self._at_index(literal, False))
        if light is not None and first is True:
            if others is True:
                return self._shape("count", light, 0, formula, Const(1))
            not_first = Elementwise("indicator", (Elementwise("!=", (Indices(), Const(0))),))
            return self._shape("count", light, 1, others, not_first)
        if light is not None and others is False and node.default == 0 and light == 1:
            is_first = Elementwise("indicator", (Elementwise("==", (Indices(), Const(0))),))
            return self._shape("pick", light, 0, first, is_first)
        if self._is_always_multiplied(node, formula):
            return self._shape("product", None, 0, formula, node.values)
        return None

    def _shape(
        self, kind: str, light: Atom | None, constant: int, formula: Formula, values: SOp
    ) -> Sum:
        """Split off what only looks at keys, and disjoint parts if heads may be split."""
        parts: list[tuple[Formula, SOp]] = []
        for part in self._split(formula):
            kept, moved = [], []
            for each in conjuncts(part):
                (moved if self._looks_at_keys_only(each) else kept).append(each)
            within = values
            for each in in_stable_order(moved):
                condition = at_the_key(each, self._query_value)
                within = Elementwise("if", (condition, within, Const(0)))
            parts.append((every(kept), within))
        return Sum(kind, light, Fraction(constant), tuple(parts), formula)

    def _split(self, formula: Formula) -> list[Formula]:
        if self.settings.heads != "split" or not isinstance(formula, Any):
            return [formula]
        parts = in_stable_order(list(formula.parts))
        return parts if disjoint(parts) else [formula]

    def _light(self, values: Values) -> Atom | None:
        """The value at index 0 of an s-op that is 0 everywhere else and depends on nothing else."""
        if values.inputs != (self.index,) or values.outcomes[0] is None:
            if not values.inputs and self.settings.max_length == 1:
                return values.outcomes[0] or None
            return None
        if values.outcomes[0] == 0 or any(values.outcomes[1:]):
            return None
        return values.outcomes[0]

    def _at_index(self, literal: Literal, first: bool) -> Formula:
        """Decide a comparison of the key's index with a constant, at key 0 or at all others."""
        keys, queries = self.of(literal.keys), self.of(literal.queries)
        if keys.inputs != (self.index,) or len(queries.atoms) != 1:
            return literal
        atoms = keys.outcomes[:1] if first else keys.outcomes[1:]
        found = {atom is not None and bool(apply_operator(literal.op, (atom, queries.atoms[0])))
                 for atom in atoms}  # fmt: skip
        return found.pop() if len(found) == 1 else literal

    def _looks_at_keys_only(self, formula: Formula) -> bool:
        return all(len(self.of(literal.queries).atoms) == 1 for literal in literals(formula))

    def _query_value(self, literal: Literal) -> Const:
        return Const(self.of(literal.queries).atoms[0])

    def _is_always_multiplied(self, node: Aggregate, formula: Formula) -> bool:
        """Whether the program only ever uses the aggregate times its number of picks."""
        if node in self._outputs or not self._users[node]:
            return False
        return all(self._is_width_product(user, node, formula) for user in self._users[node])

    def _is_width_product(self, user: Node, node: Aggregate, formula: Formula) -> bool:
        if (
            not isinstance(user, Elementwise)
            or user.op != "*"
            or user.operands[0] is user.operands[1]
        ):
            return False
        other = user.operands[1] if user.operands[0] is node else user.operands[0]
        if formula is True:
            return self._is_length(other)
        picks = self.picks_by_index(formula)
        if picks is None or not self._busy.isdisjoint(in_order([other])):
            return False
        factor = self.of(other)
        if factor.inputs != (self.index,):
            return False
        later = np.triu(np.ones_like(picks), 1)
        return not (picks & later).any() and all(
            int(picks[place].sum()) == atom for place, atom in enumerate(factor.outcomes)
        )

    def _is_length(self, node: SOp) -> bool:
        """Whether an s-op is `c / aggregate(everything, light)`, perhaps rounded: the length."""
        while isinstance(node, Elementwise) and node.op in ("round", "int", "float", "plus"):
            node = node.operands[0]
        if not isinstance(node, Elementwise) or node.op != "/":
            return False
        above, below = node.operands
        if not isinstance(above, Const) or not isinstance(below, Aggregate):
            return False
        shape = self.sum_shape(below)
        return shape is not None and shape.kind == "count" and shape.whole is True and (
            above.value == shape.light
        )

    # -- what is known of a selector ------------------------------------------------------------

    def picks_by_index(self, formula: Formula) -> np.ndarray | None:
        """The selection, query by key, where it depends on the two indices alone."""
        size = self.settings.max_length
        if isinstance(formula, bool):
            return np.full((size, size), formula)
        if isinstance(formula, Literal):
            keys, queries = self.of(formula.keys), self.of(formula.queries)
            if any(set(each.inputs) - {self.index} for each in (keys, queries)):
                return None
            columns = list(keys.outcomes) * (size if not keys.inputs else 1)
            rows = list(queries.outcomes) * (size if not queries.inputs else 1)
            return np.array([
                [key is not None and query is not None
                 and bool(apply_operator(formula.op, (key, query))) for key in columns]
                for query in rows
            ])  # fmt: skip
        parts = [self.picks_by_index(part) for part in formula.parts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return np.all(known, axis=0) if isinstance(formula, All) else np.any(known, axis=0)

    def is_never_empty(self, formula: Formula) -> bool:
        """Whether every query provably picks some key."""
        if formula is True or self._is_reflexive(formula):
            return True
        if rewritten(formula, lambda literal: self._at_index(literal, True)) is True:
            return True
        picks = self.picks_by_index(formula)
        if picks is not None:
            return all(picks[place, : place + 1].any() for place in range(len(picks)))
        return isinstance(formula, Literal) and self._points_inside(formula)

    def _is_reflexive(self, formula: Formula) -> bool:
        if isinstance(formula, Literal):
            return formula.keys is formula.queries and formula.op in REFLEXIVE
        if isinstance(formula, All):
            return all(map(self._is_reflexive, formula.parts))
        return isinstance(formula, Any) and any(map(self._is_reflexive, formula.parts))

    def _points_inside(self, literal: Literal) -> bool:
        """`select(indices, q, ==)` where q is a whole number in [0, length), at every length."""
        linear = self.of(literal.queries).linear
        if not isinstance(literal.keys, Indices) or literal.op != "==" or linear is None:
            return False
        outs = linear.of("out")
        if linear.of("tok") or len(outs) > 1 or not all(out.is_length for _, out in outs):
            return False
        weight = next(iter(outs.values()), Fraction(0))
        size = self.settings.max_length
        for place in range(size):
            base = linear.constant + linear.parts.get(("idx", place), 0)
            for length in range(place + 1, size + 1):
                query = base + weight * length
                if query.denominator != 1 or not 0 <= query < length:
                    return False
        return True

    def picks_at_most_one(self, formula: Formula, best: Score | None) -> bool:
        """Whether no query can pick two keys."""
        if best is not None:
            queries = self.of(best.queries)
            if self._is_injective(best.keys) and all(queries.outcomes):
                return True
        return any(
            isinstance(part, Literal) and part.op == "==" and self._is_injective(part.keys)
            for part in conjuncts(formula)
        )

    def _is_injective(self, keys: SOp) -> bool:
        values = self.of(keys)
        if len(values.inputs) != 1 or not isinstance(values.inputs[0], IndexVariable):
            return False
        return len({typed(atom)[1] for atom in values.outcomes if atom is not None}) == len(
            values.outcomes
        )

    def _check_causal(self, formula: Formula, node: Aggregate) -> None:
        if not self.settings.causal:
            return
        for part in conjuncts(formula):
            picks = self.picks_by_index(part)
            if picks is not None and not np.triu(picks, 1).any():
                return
        raise Refusal(
            f"its selector `{expression(node.selector, self.refusals.program.names, 3)}` may pick "
            "keys after the query, which a causal model cannot see",
            "add `and select(indices, indices, <=)`, or compile with `causal=False`",
        )


def mixture(weights: Mapping[HeadOutput, Fraction]) -> SOp:
    """The weighted sum of the values of several outputs of one head, as an s-op."""
    mixed: SOp | None = None
    for output, weight in weights.items():
        scaled = output.values
        if weight != 1:
            scaled = Elementwise("*", (scaled, Const(weight)))
        mixed = scaled if mixed is None else Elementwise("+", (mixed, scaled))
    return mixed or Const(0)
