"""Functions of variables in, rows of weights out: one for each value that a function can have.

A block holds a 1 for the state that a variable is in, and 0 for all its others. A function of one
variable that has a block is read from it as it is: its rows add up the states where it has each
value. Any other function is a `Feature`: a feed-forward writes a block for it (`steps`). Cost: 1
dimension for each state, or for each value of a feature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import TypeAlias, TypeGuard

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import SOp
from rasp.models.compiler.analysis.tables import NumberedTable, over_codes
from rasp.models.compiler.analysis.times import feed_forward_time, last_feed_forward_before
from rasp.models.compiler.analysis.value_analysis import ValueAnalysis
from rasp.models.compiler.analysis.values import Choice, Values
from rasp.models.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    NodeVariable,
    PlannedHead,
    SumVariable,
    Variable,
    number,
    typed,
)
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.emitting.rows import Row, sum_rows
from rasp.models.compiler.heads.head_analysis import HeadAnalysis
from rasp.models.compiler.robust.codings import BlockCode
from rasp.models.compiler.robust.plan_parts import Step

Labels: TypeAlias = Sequence[Hashable | None]
"""The value of a function in each joint state of its inputs, the last one fastest; None where it
does not matter."""
Places: TypeAlias = dict[tuple[type, Atom], int]
Rows: TypeAlias = dict[Hashable, Row]
"""A row for each value of a function, which is 1 where it has that value and else 0."""
MOST_LABELS = 1200
"""The most values that one function may have: each takes a dimension."""
MOST_COUNTED = 21
"""The most conditions on one variable that are counted: each doubles a table of the checker."""
EARLIER = 'round and compare values earlier, or use `style="compact"`'
LAST = 1 << 20
"""After every layer."""
NOWHERE = -1
"""In place of a dimension, for a value that is not written."""


@dataclass(eq=False, repr=False)
class Feature:
    """A function that a feed-forward computes: a dimension for each of its values."""

    layer: int
    inputs: tuple[Variable, ...]
    table: np.ndarray
    """(state of each input): the place of the value; -1 where it does not matter."""
    dims: list[int]
    """For each value; one of these may be `NOWHERE`."""
    variables: list[Variable] = field(default_factory=list)
    """What its hidden units are functions of."""
    steps: list[Step] = field(default_factory=list)
    """Its hidden units, two by two."""
    effort: int = 0
    """How many numbers the checker has to look at, about: a million a second."""

    @property
    def own_dims(self) -> list[int]:
        return [dim for dim in self.dims if dim != NOWHERE]


@dataclass(eq=False, repr=False)
class StreamBlocks:
    """The blocks of the residual stream; dimension 0 is the sink's, where heads need one."""

    analysis: HeadAnalysis
    size: int = 1
    block_dims: dict[Variable, dict[Fraction, int]] = field(default_factory=dict)
    """For the token, the index and what a head picks: the dimension of each code."""
    features: dict[Hashable, Feature] = field(default_factory=dict)
    choices: dict[Hashable, list[int]] = field(default_factory=dict)
    """The dimensions of functions of one of several s-ops, to which several features write."""
    number_dims: dict[HeadOutput, int] = field(default_factory=dict)
    """The dimensions of what heads average or add up."""
    share_dims: dict[PlannedHead, int] = field(default_factory=dict)
    """Of a head that adds up, the dimension of what the sink gets."""
    repeated: dict[int, tuple[list[int], float]] = field(default_factory=dict)
    """Dimensions that are read together in place of the first, and what their sum is divided by."""
    codings: dict[tuple[int, ...], BlockCode] = field(default_factory=dict)
    """How a block is held that is not one dimension for each state, by the dimensions of these."""
    dropped: set[int] = field(default_factory=set)
    """Dimensions in place of which there are others."""
    finest: dict[PlannedHead, float] = field(default_factory=dict)
    """Of a head whose numbers are read: their range over the smallest difference that matters."""

    @property
    def values(self) -> ValueAnalysis:
        return self.analysis.values

    def note_fineness(self, head: PlannedHead, finest: float) -> None:
        """Note how fine the numbers of a head have to be, for one of its readers."""
        self.finest[head] = max(self.finest.get(head, 1.0), finest)

    def new(self, count: int) -> list[int]:
        self.size += count
        return list(range(self.size - count, self.size))

    def features_of(self, layer: int) -> list[Feature]:
        """What the feed-forward of a layer has to write, as far as it was asked for."""
        return [feature for feature in self.features.values() if feature.layer == layer]

    @property
    def kept(self) -> list[int]:
        """The dimensions that there are."""
        return [dim for dim in range(self.size) if dim not in self.dropped]

    def all_blocks(self) -> list[list[int]]:
        """The dimensions of each block, one for each state, before it is coded."""
        features = (tuple(feature.own_dims) for feature in self.features.values())
        variables = (tuple(dim_of.values()) for dim_of in self.block_dims.values())
        return [list(dims) for dims in dict.fromkeys((*features, *variables)) if dims]

    def hot_blocks(self) -> Iterator[list[int]]:
        """The dimensions of each block of which one is 1."""
        for dims in self.all_blocks():
            coding = self.codings.get(tuple(dims))
            if coding is None or coding.is_hot:
                yield dims if coding is None else coding.dims

    def recoded(self, row: Row) -> Row:
        """A row that reads blocks as they are held; an empty one where they do not hold that."""
        try:
            for dims, coding in self.codings.items():
                row = coding.recoded(row, dims)
        except LookupError:
            return Row()
        return row

    def copies_of(self, dim: int) -> tuple[list[int], float]:
        """All dimensions to read for one, and what their sum is divided by."""
        return self.repeated.get(dim, ([dim], 1.0))

    def is_picked(self, output: HeadOutput) -> bool:
        """Whether what a head puts out is one of the values as it is, or the default."""
        return output.carrier is None and (output.is_of_one_value or output.head.picks_one)

    def is_number(self, variable: Variable, layer: int) -> TypeGuard[HeadOutput]:
        """Whether the feed-forward of a layer finds a number where a block would be."""
        return (isinstance(variable, HeadOutput) and variable.layer == layer
                and not self.is_picked(variable))  # fmt: skip

    def parts_of(self, inputs: Iterable[Variable]) -> list[Variable]:
        """Variables with each sum as what it is made of, where all of that is in blocks."""
        parts = ([variable] if self.has_number(variable) else self._terms(variable)
                 for variable in inputs)  # fmt: skip
        return list(dict.fromkeys(chain.from_iterable(parts)))

    def has_number(self, variable: Variable) -> bool:
        """Whether something of a variable is a number in the stream of its layer, not a block."""
        return any(self.is_number(term, variable.layer) for term in self._terms(variable))

    def _terms(self, variable: Variable) -> list[Variable]:
        if isinstance(variable, SumVariable):
            return self.values.variables_of(variable.linear)
        return [variable]

    def block(self, variable: Variable) -> dict[Fraction, int]:
        """The dimensions of a variable's codes."""
        if variable not in self.block_dims:
            codes = dict.fromkeys(variable.codes_of_states)
            self.block_dims[variable] = dict(zip(codes, self.new(len(codes)), strict=True))
        return self.block_dims[variable]

    def number(self, output: HeadOutput) -> int:
        """The dimension of what a head averages or adds up."""
        if output not in self.number_dims:
            [self.number_dims[output]] = self.new(1)
            if output.head.mode == "sum" and output.head not in self.share_dims:
                [self.share_dims[output.head]] = self.new(1)
        return self.number_dims[output]

    def rows(self, inputs: tuple[Variable, ...], labels: Labels, time: int, layer: int = 0) -> Rows:
        """A row for each value of a function, to be read at a time (see `analysis.times`).

        The feed-forward of a layer makes it, or an earlier one where its inputs are all there.
        """
        kept, different, table = number_labels(inputs, labels)
        if len(different) < 2:
            return dict.fromkeys(different, Row({}, 1.0))
        if len(different) > MOST_LABELS:
            raise Refusal(
                f"it takes a block of {len(different)} dimensions, and the limit is {MOST_LABELS}",
                self.values.settings.smaller,
            )
        if len(kept) == 1 and isinstance(kept[0], NodeVariable):
            rows = self._of_node(kept[0], table, time)
        elif len(kept) == 1 and self._has_block(kept[0], time):
            rows = self._of_block(kept[0], table)
        else:
            rows = self._feature(kept, table, time, layer)
        return dict(zip(different, rows, strict=True))

    def rows_of(self, values: Values, label: Callable[[Atom], Hashable | None], time: int) -> Rows:
        """A row for each label of what an s-op can be."""
        labels = [None if atom is None else label(atom) for atom in values.outcomes]
        return self.rows(values.inputs, labels, time, values.layer)

    def number_row(self, node: SOp, time: int) -> Row:
        """A row that reads an s-op's number."""
        rows = self.rows_of(self.values.of(node), number, time)
        return sum_rows(row.times(float(code)) for code, row in rows.items())  # type: ignore[arg-type]

    def held_number(self, node: SOp) -> Row:
        """A row that reads an s-op's number, if the stream holds it anyway; else an empty one."""
        trial = replace(self, block_dims=dict(self.block_dims), features=dict(self.features),
                        choices=dict(self.choices))  # fmt: skip
        try:
            row = trial.number_row(node, LAST)
        except Refusal:
            return Row()
        return row if trial.size == self.size else Row()

    def _has_block(self, variable: Variable, time: int) -> bool:
        """Whether a function of a variable is read from its block at a time.

        Others often ask, and closely, whether a head picks anything: where it says no more than
        that, this is worth a step in its feed-forward.
        """
        match variable:
            case CountVariable():
                raise Refusal("it counts conditions that cannot be looked at together", EARLIER)
            case HeadOutput():
                is_flag = len(self.values.of(variable.values).atoms) == 1
                is_late = time > feed_forward_time(variable.layer)
                return self.is_picked(variable) and not (is_flag and is_late)
        return not isinstance(variable, SumVariable)

    def _of_block(self, variable: Variable, table: np.ndarray) -> list[Row]:
        """A function of a variable from its block."""
        dims = np.array(list(self.block(variable).values()))
        places = by_codes([variable], table)
        return [Row(dict.fromkeys(dims[places == place].tolist(), 1.0))
                for place in range(table.max() + 1)]  # fmt: skip

    def _of_node(self, variable: NodeVariable, table: np.ndarray, time: int) -> list[Row]:
        """A function of an s-op, as one of what that depends on."""
        places = zip(variable.states, table.tolist(), strict=True)
        place_of = {typed(atom): place for (atom, _), place in places if place >= 0}
        values, count = self.values.of(variable.node), int(table.max()) + 1
        if values.choice is not None:
            return self._of_choice(values.choice, values.layer, place_of, count)
        rows = self.rows_of(values, lambda atom: place_of.get(typed(atom)), time)
        return [rows.get(place, Row()) for place in range(count)]

    def _of_choice(self, choice: Choice, layer: int, place_of: Places, count: int) -> list[Row]:
        """A function of one of several s-ops: each of them writes it where it is the one."""
        key = choice, tuple(place_of.items())
        if key not in self.choices:
            dims = [*self.new(count), NOWHERE]
            self.choices[key] = dims
            for leaf_place, leaf in enumerate(choice.leaves):
                view = self.values.joints.view(leaf, layer)
                gate = self.values.joints.node_variable(choice.gate(leaf_place))
                places = [-1 if atom is None else place_of.get(typed(atom), -1)
                          for atom in view.outcomes]  # fmt: skip
                table = np.array([places if is_it else [count] * len(places)
                                  for is_it, _ in gate.states])  # fmt: skip
                inputs = (gate, *view.inputs)
                shape = [len(variable.states) for variable in inputs]
                feature = Feature(layer, inputs, table.reshape(shape), dims)
                self.features[key, leaf_place] = feature
        return [Row({dim: 1.0}) for dim in self.choices[key][:-1]]

    def count_row(self, count: CountVariable, time: int) -> Row:
        """A row that is how many of the conditions of a count hold."""
        conditions = [self.values.of(condition) for condition in count.conditions]
        shared = Counter(part for values in conditions for part in self.parts_of(values.inputs))
        if max(shared.values(), default=0) > MOST_COUNTED:
            raise Refusal(
                f"it counts more than {MOST_COUNTED} conditions on the same values", EARLIER
            )
        rows_of_conditions = [self.rows(values.inputs, values.outcomes, time, values.layer)
                              for values in conditions]  # fmt: skip
        return sum_rows(rows.get(True, Row()) for rows in rows_of_conditions)

    def _feature(
        self, inputs: tuple[Variable, ...], table: np.ndarray, time: int, layer: int
    ) -> list[Row]:
        """A function from a feed-forward: the first that has its inputs, or the last in time."""
        key, latest = (inputs, table.tobytes()), last_feed_forward_before(time)
        if key not in self.features:
            self.features[key] = Feature(latest, inputs, table, self.new(int(table.max()) + 1))
        feature = self.features[key]
        known = max(layer, *(variable.layer for variable in inputs))
        feature.layer = min(feature.layer, latest, known or latest)
        return [Row({dim: 1.0}) for dim in feature.dims]


def number_labels(
    inputs: tuple[Variable, ...], labels: Labels
) -> tuple[tuple[Variable, ...], list[Hashable], np.ndarray]:
    """The inputs that make a difference, the different labels, and (state of each input) the place
    of the label among these; -1 where it does not matter.
    """
    numbered = NumberedTable.of(inputs, labels).relevant()  # type: ignore[arg-type]
    return numbered.inputs, list(numbered.values[1:]), numbered.places - 1


def code_places(variable: Variable) -> np.ndarray:
    """(state,): the place of its code among the different ones, in order of appearance."""
    place_of: dict[Fraction, int] = {}
    return np.array([place_of.setdefault(code, len(place_of)) for _, code in variable.states])


def by_codes(inputs: Sequence[Variable], table: np.ndarray) -> np.ndarray:
    """A table over the states of its inputs as one over their codes, in order of appearance."""
    return over_codes(table, list(map(code_places, inputs)), nothing=-1)
