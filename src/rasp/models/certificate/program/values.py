"""Claims and the program in; what every variable can be, and every s-op as a function of them, out.

Nothing here looks at weights. A table may list combinations that no input has: whatever holds for
all of them holds for those that some input has. `ProvedValues` keeps what was found; the rules by
which it is found are in `outputs`, `reach`, `together`, `columns`, `linear` and `picks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import prod

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import Aggregate, Const, Indices, Node, SOp, Tokens, TokensAs, in_order
from rasp.models.certificate.claims import (
    INDEX,
    TOKEN,
    ClaimedNode,
    ClaimedOutput,
    ClaimedSum,
    Claims,
    HeadClaim,
    HeadOutputClaim,
    Inputs,
    Meaning,
    Refused,
)
from rasp.models.certificate.program.aggregates import check_aggregate
from rasp.models.certificate.program.choices import choice_table
from rasp.models.certificate.program.columns import find_column
from rasp.models.certificate.program.domains import Domain, domain_of, find_domain, states_of_atoms
from rasp.models.certificate.program.kinds import find_kinds
from rasp.models.certificate.program.linear import find_linear, linear_column
from rasp.models.certificate.program.picks import Picks
from rasp.models.certificate.program.promise import Promise
from rasp.models.certificate.program.tables import Array, AtomColumn, ExactSum, Space, occurring
from rasp.models.certificate.program.together import find_together, restricted

MOST_STATES = 4_000_000
MOST_IN_ALL = 100_000_000
"""How many numbers all tables of combinations are made of, together."""
MOST_CELLS = 8_000_000
"""How many states of single variables there are in a table that grows by one of them."""
MOST_READINGS = 8
"""How often a promise is read again, each time without what did not hold."""


class ProvedValues:
    """What s-ops hold, as far as claims say of which variables they are functions."""

    def __init__(
        self, claims: Claims, inputs: Inputs, outputs: Sequence[Node], believes: bool = True
    ) -> None:
        """`believes` that heads never pick nothing where that is claimed; else finds out."""
        self.claims, self.inputs, self.believes = claims, inputs, believes
        if claims.variables[:2] != (None, None) or None in claims.variables[2:]:
            raise Refused("the first two variables, and no others, are the token and the index")
        where = inputs.where
        self.plain = self if where is None else _without_promise(claims, inputs, where)
        """The same without the promise, for the promise itself."""
        self.program = set(in_order(outputs if where is None else [*outputs, where]))
        self.picks = Picks(self)
        self.promise = Promise(self, where)
        self.node_variables = {
            variable.node: place
            for place, variable in enumerate(claims.variables)
            if isinstance(variable, ClaimedNode)
        }
        self._proved: dict[tuple[int, int], HeadClaim] = {}
        self._cells = 0
        self._spaces: dict[tuple[int, ...], Space | Refused] = {}
        self._columns: dict[tuple[Node, tuple[int, ...]], AtomColumn | Refused] = {}
        self._linear: dict[Node, ExactSum | None] = {}
        self._choice = cache(self._find_choice)
        self.domain: Callable[[int], Domain] = cache(partial(find_domain, self))
        """Everything a variable can be."""
        self.kinds: Callable[[SOp], frozenset[type]] = cache(partial(find_kinds, self))
        """The kinds of number that an s-op can be: these, or fewer."""
        self.together: Callable[[tuple[int, ...]], Array | None]
        self.together = cache(partial(find_together, self))
        """(row, output): the states that outputs of one head can be in at once, if known."""

    # -- what claims say --------------------------------------------------------------------------

    def head(self, variable: int) -> HeadClaim:
        head, claimed = self.claims.head_of(variable), self.claims.variables[variable]
        if self.believes or not head.never_empty:
            return head
        assert isinstance(claimed, ClaimedOutput)
        place = claimed.layer, claimed.head
        if place not in self._proved:
            never_empty = self.picks.never_empty(head.selectors)
            self._proved[place] = replace(head, never_empty=never_empty)
        return self._proved[place]

    def output(self, variable: int) -> HeadOutputClaim:
        claimed = self.claims.variables[variable]
        assert isinstance(claimed, ClaimedOutput)
        return self.head(variable).outputs[claimed.output]

    def over(self, node: Node) -> tuple[int, ...]:
        """What an s-op is claimed to be a function of."""
        match node:
            case Tokens() | TokensAs():
                return (TOKEN,)
            case Indices():
                return (INDEX,)
            case Const():
                return ()
        if node not in self.claims.over:
            raise Refused("nothing is said of what an s-op depends on")
        return self.claims.over[node]

    def whole(self, meaning: Meaning) -> ExactSum:
        """own + Σ outputs."""
        total = ExactSum(meaning.constant if meaning.rule != "shares" else Fraction(0))
        if meaning.own is not None:
            total = total.plus(self.linear_or_refuse(meaning.own), meaning.factor)
        for variable in meaning.outputs:
            total = total.plus(self.linear_of(variable))
        return total

    def stand_in(self, node: SOp) -> ExactSum | None:
        """The sum that stands for an aggregate of which only that is known."""
        meaning = self.claims.aggregates.get(node) if isinstance(node, Aggregate) else None
        return self.whole(meaning) if meaning and meaning.rule in ("product", "ratio") else None

    # -- variables --------------------------------------------------------------------------------

    def sizes(self, variables: Iterable[int]) -> list[int]:
        """How many states each variable has."""
        return [self.domain(variable).size for variable in variables]

    def is_number(self, variable: int) -> bool:
        return isinstance(self.claims.variables[variable], (ClaimedOutput, ClaimedSum))

    def numbers(self, variable: int) -> list[Fraction]:
        """The numbers that stand for the states of an output, a sum or a count."""
        return self.domain(variable).exact

    def linear_of(self, variable: int) -> ExactSum:
        match self.claims.variables[variable]:
            case ClaimedSum(constant, parts):
                return ExactSum(constant, parts)
            case ClaimedOutput():
                return ExactSum.of(variable)
        raise Refused("a variable is not a number")

    def grounds(self, variables: Iterable[int]) -> set[int]:
        """Variables, with what sums are made of in their place."""
        grounds: set[int] = set()
        for variable in variables:
            match self.claims.variables[variable]:
                case ClaimedSum(_, parts):
                    grounds |= {part.variable for part in parts}
                case _:
                    grounds.add(variable)
        return grounds

    # -- combinations of states -------------------------------------------------------------------

    def space(self, variables: Sequence[int]) -> Space:
        """Every combination of states, less those that are certain not to occur."""
        key = tuple(dict.fromkeys(variables))
        if key not in self._spaces:
            try:
                self._spaces[key] = self._find_space(key)
            except Refused as refused:
                self._spaces[key] = refused
        space = self._spaces[key]
        if isinstance(space, Refused):
            raise space
        return space

    def _find_space(self, key: tuple[int, ...]) -> Space:
        sizes = self.sizes(key)
        self._cells += len(key) * min(prod(sizes), MOST_STATES)
        if self._cells > MOST_IN_ALL:
            raise Refused("tables are too large to check, all together")
        is_small = prod(sizes) <= MOST_STATES
        grid = np.indices(sizes).reshape(len(sizes), prod(sizes)) if is_small else self._grown(key)
        space = Space(key, restricted(self, key, grid))
        self._check_ground(space)
        return Space(key, self.promise.kept(space)) if self.promise.conditions else space

    def _grown(self, key: tuple[int, ...]) -> Array:
        """(variable, combination): what the first variables can be together, with all that the last
        one can be.
        """
        sizes = self.sizes(key)
        if len(key) > 2:
            before = self.space(key[:-1])
            if before.size * sizes[-1] * len(key) <= MOST_CELLS:
                last = np.tile(np.arange(sizes[-1]), before.size)
                return np.vstack([np.repeat(before.grid, sizes[-1], axis=1), last])
        raise Refused(f"a table would have {' × '.join(map(str, sizes))} entries")

    def _check_ground(self, space: Space) -> None:
        """Every token and every index is somewhere in some input, whatever else is the case there:
        claims by which one of them never is contradict each other. Only an s-op that fails may
        leave it out; then it is there without that s-op.
        """
        sure = [variable for variable in space.variables if not self._may_fail(variable)]
        ground = {TOKEN, INDEX} & set(sure)
        if ground and len(sure) < len(space.variables):
            self.space(sure)
            return
        for variable in ground:
            if len(occurring(space.row(variable))) < self.domain(variable).size:
                raise Refused("claims contradict each other")

    def _may_fail(self, variable: int) -> bool:
        claimed = self.claims.variables[variable]
        return isinstance(claimed, ClaimedNode) and None in self.table(claimed.node)[1].listed()

    def has(self, variable: int, space: Space) -> bool:
        """Whether a variable is certain to be a function of a space."""
        try:
            self.states_on(variable, space)
        except Refused:
            return False
        return True

    def states_on(self, variable: int, space: Space) -> Array:
        """(combination,): which state a variable is in; -1 where no input has the combination."""
        if variable in space.variables:
            return space.row(variable)
        claimed, domain = self.claims.variables[variable], self.domain(variable)
        if isinstance(claimed, ClaimedNode):
            try:
                column = self.column(claimed.node, space)
            except Refused:
                if domain.size == 1:  # it is what it always is
                    return np.zeros(space.size, int)
                raise
            states = states_of_atoms(column, domain)
        elif domain.size == 1:
            return np.zeros(space.size, int)
        else:
            column = linear_column(self, self.linear_of(variable), space)
            places = {number: at for at, number in enumerate(self.numbers(variable))}
            if len(places) < domain.size:  # a number would stand for several states
                raise Refused("two atoms have one code")
            states = [places.get(Fraction(atom), -1) for atom in column.atoms]  # type: ignore[arg-type]
        return np.asarray(np.array(states, int)[column.places])

    # -- s-ops ------------------------------------------------------------------------------------

    def table(self, node: SOp) -> tuple[Space, AtomColumn]:
        """An s-op over the variables that it is claimed to be a function of."""
        if node in self.node_variables and node in self.claims.choices:
            return self._choice(node)
        space = self.space(self.over(node))
        return space, self.column(node, space)

    def _find_choice(self, node: SOp) -> tuple[Space, AtomColumn]:
        """A choice by cases, over a space that no other has the variables of: it is there twice."""
        (space, column), place = choice_table(self, node), self.node_variables[node]
        own = np.array(states_of_atoms(column, domain_of(column)), int)[column.places]
        return Space((*space.variables, place, place), np.vstack([space.grid, own, own])), column

    def by_state(self, node: SOp, variable: int) -> list[Atom | None]:
        """An s-op's atom for each state of one variable; None where that does not occur."""
        space = self.space((variable,))
        column = self.column(node, space)
        atoms: list[Atom | None] = [None] * self.domain(variable).size
        for state, atom in zip(space.grid[0].tolist(), column.in_order(), strict=True):
            atoms[state] = atom
        return atoms

    def column(self, node: SOp, space: Space) -> AtomColumn:
        """An s-op over some variables; refused where it is not certain to be a function of them."""
        key = (node, space.variables)
        if key not in self._columns:
            try:
                self._columns[key] = find_column(self, node, space)
            except Refused as refused:
                self._columns[key] = refused
        column = self._columns[key]
        if isinstance(column, Refused):
            raise column
        return column

    def linear(self, node: SOp) -> ExactSum | None:
        """An s-op as a weighted sum of tokens, indices and outputs, if it is one."""
        if node not in self._linear:
            self._linear[node] = None
            self._linear[node] = find_linear(self, node)
        return self._linear[node]

    def linear_or_refuse(self, node: SOp) -> ExactSum:
        linear = self.linear(node)
        if linear is None:
            raise Refused("an s-op is not a weighted sum")
        return linear


def _without_promise(claims: Claims, inputs: Inputs, where: SOp) -> ProvedValues:
    """Values for reading a promise: of aggregates, only those are known that are what claims say
    whether the promise is kept or not. Selectors of heads may speak of any aggregate, not only of
    those of the promise; and what such a one is, is checked elsewhere with the promise alone.
    """
    for _ in range(MOST_READINGS):
        plain = ProvedValues(claims, replace(inputs, where=None), [where], believes=False)
        sure = {node: meaning for node, meaning in claims.aggregates.items()
                if _is_sure(plain, node, meaning)}  # fmt: skip
        if len(sure) == len(claims.aggregates):
            return plain
        claims = replace(claims, aggregates=sure)  # others may have been sure by these alone
    raise Refused("too much of a promise is only known with it")


def _is_sure(plain: ProvedValues, node: Aggregate, meaning: Meaning) -> bool:
    try:
        check_aggregate(plain, node, meaning)
    except (Refused, LookupError, ValueError, ArithmeticError, AssertionError):
        return False  # it may make sense with the promise
    return True
