"""The name of an attention pattern in, the pairs it allows out.

A pattern says which (query, key) pairs a head may look at, whatever the input: the restricted
attention of "efficient" transformers. A program under a pattern is the same program with every
selection cut down to the allowed pairs. Row i below is the query's position, j the key's.

- `causal`: j <= i.
- `window:W`: |i - j| <= W, so 2W + 1 keys at most.
- `strided:S`: |i - j| < S, or i and j leave the same remainder when divided by S.
- `block:B`: i and j lie in the same block of B positions, counted from 0.
- `bigbird:W,G,R`: |i - j| <= W; or i < G or j < G (global positions see all and are seen by
  all); or j is one of R keys drawn at random for i, the same in every run (they depend on
  the length, as they do when a model draws them from all its keys).

Where every selection provably stays inside a pattern (`stays_within`), it changes nothing, and no
input needs to be tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from rasp.base.errors import RaspLimitError, RaspValueError
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorOr,
    in_order,
    rebuild,
)
from rasp.language.graph.normal import normal_forms
from rasp.language.graph.reach import Reach, reach

SHAPES = {
    "causal": (),
    "window": ("W",),
    "strided": ("S",),
    "block": ("B",),
    "bigbird": ("W", "G", "R"),
}
LARGEST_NUMBER = 300


@dataclass(frozen=True)
class Pattern:
    """Which pairs a head may look at."""

    shape: str
    numbers: tuple[int, ...] = ()

    @classmethod
    def read(cls, text: str) -> Pattern:
        """Read a pattern such as `window:2`.

        >>> Pattern.read("bigbird:1,2,3")
        Pattern(shape='bigbird', numbers=(1, 2, 3))
        """
        shape, _, rest = text.strip().partition(":")
        if shape not in SHAPES:
            raise RaspValueError(
                f"there is no attention pattern `{text}`", hint=f"there are {known_patterns()}"
            )
        parts = [part.strip() for part in rest.split(",")] if rest else []
        wanted = SHAPES[shape]
        if len(parts) != len(wanted) or not all(part.isdecimal() for part in parts):
            raise RaspValueError(
                f"`{text}` is not a `{shape}` pattern", hint=f"write `{written(shape)}`"
            )
        numbers = tuple(int(part[:9]) for part in parts)
        if max(numbers, default=0) > LARGEST_NUMBER:
            raise RaspLimitError(
                f"`{text}` has a number over {LARGEST_NUMBER}",
                hint="programs are tried on short inputs: take a smaller pattern of the same kind",
            )
        if shape in ("strided", "block") and numbers[0] == 0:
            raise RaspValueError(
                f"`{text}` has a step of 0", hint=f"`{written(shape)}` needs 1 or more"
            )
        return cls(shape, numbers)

    def __str__(self) -> str:
        return self.shape + (":" if self.numbers else "") + ",".join(map(str, self.numbers))

    def unrestricted_length(self) -> int | None:
        """Return up to which length every pair is allowed; None where that is always so.

        >>> Pattern("window", (2,)).unrestricted_length()
        3
        """
        match self.shape, self.numbers:
            case "window", (width,):
                return width + 1
            case "strided", (step,):
                return step + 1 if step > 1 else None
            case "block", (size,):
                return size
            case "bigbird", (width, globals_, links):
                length = width + globals_ + 1
                while links and not self._forbids(length + 1):
                    length += 1
                return length
        return 1

    def _forbids(self, length: int) -> bool:
        drawn = random_links(length, self.numbers[2])
        low = self.numbers[1]
        return any(
            abs(query - key) > self.numbers[0] and key not in drawn[query]
            for query in range(low, length)
            for key in range(low, length)
        )

    def selector(self, length: int) -> Selector:
        """Return the pattern as a selector, for inputs of this length."""
        here = Indices()
        match self.shape, self.numbers:
            case "window", (width,):
                return near(width)
            case "strided", (step,):
                remainder = Elementwise("%", (here, Const(step)))
                return SelectorOr(near(step - 1), Select(remainder, remainder, "=="))
            case "block", (size,):
                start = Elementwise("-", (here, Elementwise("%", (here, Const(size)))))
                return Select(start, start, "==")
            case "bigbird", (width, globals_, links):
                return self._bigbird(width, globals_, random_links(length, links))
        return Select(here, here, "<=")

    def _bigbird(self, width: int, globals_: int, links: Sequence[Sequence[int]]) -> Selector:
        first = Const(globals_)
        allowed: Selector = SelectorOr(
            near(width), SelectorOr(Select(Indices(), first, "<"), Select(first, Indices(), ">"))
        )
        for one in zip(*links, strict=True):  # one key for every query
            table = Elementwise("at", (Indices(), *(Const(key) for key in one)))
            allowed = SelectorOr(allowed, Select(Indices(), table, "=="))
        return allowed


def written(shape: str) -> str:
    """Write how a shape is asked for, as `window:W`."""
    return shape + (":" + ",".join(SHAPES[shape]) if SHAPES[shape] else "")


def known_patterns() -> str:
    """List the patterns that there are."""
    return ", ".join(f"`{written(shape)}`" for shape in SHAPES)


def near(width: int) -> Selector:
    """Return the selector of all keys at most `width` positions away."""
    here = Indices()
    if width == 0:
        return Select(here, here, "==")
    return SelectorAnd(
        Select(here, Elementwise("-", (here, Const(width))), ">="),
        Select(here, Elementwise("+", (here, Const(width))), "<="),
    )


@lru_cache(maxsize=64)
def random_links(length: int, links: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each query, the keys drawn for it; the same for the same numbers."""
    random = Random(f"bigbird {length} {links}")
    count = min(links, length)
    return tuple(tuple(random.sample(range(length), count)) for _ in range(length))


def under(pattern: Pattern, outputs: Sequence[Node], length: int) -> tuple[Node, ...]:
    """Return the outputs with every selection cut down to the pairs a pattern allows.

    What an aggregate mixes, what `select_best` chooses from and a selector asked for itself
    are cut; the parts of a selector need not be, since `and` and `or` come before the cut.
    """
    allowed = pattern.selector(length)

    def cut(_: Node, new: Node) -> Node | None:
        match new:
            case Aggregate(selector, values, default):
                return Aggregate(SelectorAnd(selector, allowed), values, default)
            case SelectBest(selector, scorer):
                return SelectBest(SelectorAnd(selector, allowed), scorer)
        return None

    return tuple(
        SelectorAnd(node, allowed) if isinstance(node, Selector) else node
        for node in rebuild(outputs, cut)
    )


def stays_within(pattern: Pattern, outputs: Sequence[Node]) -> bool:
    """Tell whether every selection provably keeps to the pairs that a pattern allows.

    False means that this simple argument does not decide it.
    """
    inside = (node for node in in_order(outputs) if isinstance(node, (Aggregate, SelectBest)))
    selectors = [node.selector for node in inside]
    selectors += [output for output in outputs if isinstance(output, Selector)]
    forms = normal_forms(selectors)
    return all(_is_allowed(pattern, reach(forms[selector])) for selector in selectors)


def _is_allowed(pattern: Pattern, reach: Reach) -> bool:
    low, high = reach
    if low > high:
        return True
    match pattern.shape, pattern.numbers:
        case "window" | "bigbird", (width, *_):
            return -width <= low and high <= width
        case "strided", (step,):
            return (-step < low and high < step) or (low == high and low % step == 0)
        case "block", _:
            return low == high == 0
    return high <= 0
