"""What a compiler says about the weights it wrote: plain data that `check` believes nothing of.

Claims name things; they never say what a weight is. A *variable* is something that a position
of an input has: its token, its index, what a head puts out there, a weighted sum of these, the
value of an s-op, or how many of several conditions hold. A claim says of which variables a head's
scores, a feed-forward's hidden units or a read-out are functions. What functions they are, the
checker reads off the arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from rasp.base.atoms import Atom
from rasp.language.graph import Aggregate, Node, Scorer, Selector, SOp

TOKEN, INDEX = 0, 1
"""The first two variables of every model."""


class Refused(Exception):
    """A claim that does not hold, or that the checker cannot follow: where, and why."""

    def __init__(self, why: str, where: str = "") -> None:
        super().__init__(why)
        self.why, self.where = why, where


@dataclass(frozen=True)
class ClaimedOutput:
    """What a head puts out: the sum or mean of some values over what its selector picks."""

    layer: int
    head: int
    output: int


class SumPart(NamedTuple):
    """What is weighted in a sum: 1 where the token or the index is in a state, or an output."""

    variable: int
    state: int | None = None
    """None for an output, which adds the number that it is."""

    @property
    def is_output(self) -> bool:
        return self.state is None


@dataclass(frozen=True)
class ClaimedSum:
    """A constant plus weighted parts."""

    constant: Fraction
    parts: Mapping[SumPart, Fraction]


@dataclass(frozen=True)
class ClaimedNode:
    """The value of an s-op."""

    node: SOp


@dataclass(frozen=True)
class ClaimedCount:
    """How many of several bool s-ops hold."""

    conditions: tuple[SOp, ...]


ClaimedVariable = ClaimedOutput | ClaimedSum | ClaimedNode | ClaimedCount | None
"""None stands for the token and for the index, which need no definition."""


@dataclass(frozen=True)
class HeadOutputClaim:
    """Values that a head adds up or averages, and the numbers that stand for them."""

    values: SOp
    codes: Mapping[Atom, Fraction] | None = None
    """Numbers for atoms, where these are not numbers themselves."""
    default: Atom | None = None
    """What a query that picks nothing gets."""
    carrier: int | None = None
    """A count that is moved in place of the values."""
    is_block: bool = False
    """Whether it is moved as numbers that the arrays give it, not as its code: one value alone is
    picked, so that what comes out is what the keys that hold it send."""

    @property
    def is_plain(self) -> bool:
        """Whether its atoms are the numbers that stand for them."""
        return self.codes is None and self.carrier is None

    @property
    def base(self) -> Fraction:
        """What values are counted from, so that a query that picks nothing gets 0 more."""
        return Fraction(0) if self.default is None else self.code(self.default)

    def code(self, atom: Atom) -> Fraction:
        """The number that stands for an atom."""
        if self.codes is not None:
            if atom not in self.codes:
                raise Refused("an atom has no number that stands for it")
            return self.codes[atom]
        if isinstance(atom, str):
            raise Refused("a string has no number that stands for it")
        return Fraction(atom)


@dataclass(frozen=True)
class ConjunctClaim:
    """One condition of a head's selector, and what its scores are functions of."""

    selector: Selector
    queries: tuple[int, ...]
    keys: tuple[int, ...]


@dataclass(frozen=True)
class HeadClaim:
    """Whom a head attends to, what it moves, and how that comes out of the softmax."""

    mode: str
    """"mean", "sum" or "share"."""
    conjuncts: tuple[ConjunctClaim, ...]
    outputs: tuple[HeadOutputClaim, ...]
    channels: tuple[Mapping[int, Fraction], ...]
    """Each value that is moved is this weighted sum of the outputs."""
    values: tuple[tuple[int, ...], ...]
    """What each of them is a function of, at the key."""
    best: Scorer | None = None
    best_queries: tuple[int, ...] = ()
    best_keys: tuple[int, ...] = ()
    never_empty: bool = False
    """Whether every query picks some key."""
    family: tuple[tuple[int, int], ...] = ()
    """Heads (layer, number) that share out the keys of one selector with this one."""
    weight: Fraction = Fraction(0)
    """In a head that gives shares: how many matches position 0 weighs. In a sum: how many the sink
    weighs, where it is beside them in the balance, and not far above them."""
    outweighs: bool = False
    """Whether it weighs that where it is not picked, and takes everything where it is."""

    @property
    def selectors(self) -> list[Selector]:
        return [conjunct.selector for conjunct in self.conjuncts]


@dataclass(frozen=True)
class GroupClaim:
    """The next so many hidden units of a feed-forward, and what they are functions of."""

    units: int
    inputs: tuple[int, ...]
    over: tuple[int, ...] | None = None
    """What they write is a function of these alone, but for a small error; None: of the inputs."""


@dataclass(frozen=True)
class Meaning:
    """How an aggregate follows from what heads put out.

    rule "mean": it is the one output. "positive": it is 0 where the one output, a mean of counts,
    is 0, and above 0 elsewhere, and the program asks for no more. "count": it is
    light / (own + Σ outputs), a share of 1 of everything picked. "pick": light where
    own + Σ outputs is not 0. "product", "ratio": own + Σ outputs is the aggregate times how
    many keys are picked, and the program asks for no more than that tells. "shares": two heads
    tell together. "never": nothing is ever picked.
    """

    rule: str
    outputs: tuple[int, ...]
    constant: Fraction = Fraction(0)
    own: SOp | None = None
    """What the query adds by itself."""
    factor: Fraction = Fraction(0)
    """`own` in the rules above is constant + factor · own, at the query."""


@dataclass(frozen=True)
class ReaderClaim:
    """A number that the stream holds after some block: weights by dimension, and a constant."""

    node: SOp
    after: str
    weights: Mapping[int, float]
    constant: float


@dataclass(frozen=True)
class Claims:
    """All that a compiler says."""

    variables: tuple[ClaimedVariable, ...]
    over: Mapping[Node, tuple[int, ...]]
    """What s-ops are functions of."""
    aggregates: Mapping[Aggregate, Meaning]
    heads: tuple[tuple[HeadClaim, ...], ...]
    """For each layer from 1."""
    groups: tuple[tuple[GroupClaim, ...], ...]
    """For each feed-forward, from the one before layer 1."""
    outputs: tuple[tuple[int, ...], ...]
    """What each output of the model is a function of."""
    spare: tuple[HeadClaim, ...] = ()
    """Heads ("layer 0") left out because nothing reads them, though some s-op depends on them."""
    choices: Mapping[SOp, tuple[SOp, tuple[SOp, ...]]] = field(default_factory=dict)
    """S-ops that are one of several others: an s-op that says which, and these."""
    readers: tuple[ReaderClaim, ...] = ()
    """How to read s-ops from the stream; a model answers without them."""

    def head_of(self, variable: int) -> HeadClaim:
        """The head that puts an output out, as it is claimed."""
        claimed = self.variables[variable]
        assert isinstance(claimed, ClaimedOutput)
        return (self.heads[claimed.layer - 1] if claimed.layer else self.spare)[claimed.head]


@dataclass(frozen=True)
class Inputs:
    """The inputs that a statement is about."""

    vocabulary: tuple[Atom, ...]
    """Every token an input may hold; a BOS comes last."""
    max_length: int
    bos: Atom | None = None
    """The token that every input begins with, and that is nowhere else."""
    causal: bool = False
    where: SOp | None = None
    """A promise: a bool s-op that is true at every position of the inputs in question."""


@dataclass
class Findings:
    """What a check found on its way, for people to read."""

    blocks: list[tuple[str, str, float]] = field(default_factory=list)
    """Of each block: its name, what was checked, and the margin that is left."""
    wider: bool = False
    """Whether some number is of several kinds, and its answer of the widest."""
    readers: set[int] = field(default_factory=set)
    """The readers that read what they say."""
    gradient: float = 0.0
    """The largest gradient of a score by the embedded input."""
    lengths: list[float] = field(default_factory=list)
    """How long the stream is, at most, wherever there was noise; and the sink's row of it."""
    unsure: list[str] = field(default_factory=list)
    """Heads that may attend to something else than is claimed: wrong, even if nothing needs them,
    since labels tell what is claimed."""
