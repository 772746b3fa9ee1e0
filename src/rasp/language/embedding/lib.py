"""The library for Python: `rasp.lib.sort(tokens, tokens)` is RASP's `sort(tokens, tokens)`.

Each function here calls the one of its name in `library.rasp`, which is where the library is
written; a test keeps names, parameters, defaults and documentation the same.
"""

from __future__ import annotations

from rasp.base.atoms import PythonAtom
from rasp.base.errors import RaspError
from rasp.base.tracebacks import door
from rasp.language.embedding.constructors import length, select_all
from rasp.language.embedding.function_handles import FunctionHandle
from rasp.language.embedding.handle_operators import (
    AnyHandle,
    Operand,
    ScorerHandle,
    SelectorHandle,
    SOpHandle,
    built,
)
from rasp.language.embedding.handle_refusals import in_python_words
from rasp.language.embedding.handles import Handle
from rasp.language.meaning.session import Session

__all__ = [
    "average",
    "closest",
    "contains",
    "count",
    "frac_prevs",
    "full_s",
    "has_focus",
    "has_prev",
    "histf",
    "length",
    "load_from_location",
    "mark_first_instance",
    "mark_last_instance",
    "max",
    "min",
    "num_prevs",
    "pair_balance",
    "pairwise_mul",
    "pow",
    "select_all",
    "select_eq",
    "select_from_first",
    "select_from_last",
    "select_next_identical",
    "selected_sum",
    "selector_width",
    "shift",
    "sort",
]

full_s = select_all
"""Select every key from every query, the same as select_all."""


def library_call(kind: type[AnyHandle], name: str, *arguments: object) -> AnyHandle:
    """Call a function of the library; errors and origins point at the caller's line."""
    session = Session()
    try:
        result = FunctionHandle(session.library.find(name), session)(*arguments)
    except RaspError as error:
        raise in_python_words(error) from None
    return result if isinstance(result, kind) else built(kind, lambda: result)


def select_eq(seq: Operand, atom_or_seq: Operand) -> SelectorHandle:
    """Select the keys where seq equals the query's value of atom_or_seq

    >>> from rasp import tokens
    >>> select_eq(tokens, "a")("ab")
    [[True, False], [True, False]]
    """
    return library_call(SelectorHandle, "select_eq", seq, atom_or_seq)


def selector_width(sel: SelectorHandle, assume_bos: bool = False) -> SOpHandle:
    """How many keys each query picks: one head if position 0 is a BOS (never counted), else two

    >>> from rasp import tokens
    >>> selector_width(select_eq(tokens, tokens))("hello")
    [1, 1, 2, 2, 1]
    """
    return library_call(SOpHandle, "selector_width", sel, assume_bos)


def selected_sum(sel: SelectorHandle, values: Operand, assume_bos: bool = False) -> SOpHandle:
    """The sum of the values a query picks: one head if position 0 is a BOS (left aside), else two

    >>> from rasp import indices, select, tokens
    >>> selected_sum(select(indices, indices, "<="), tokens)([3, 1, 4])
    [3.0, 4.0, 8.0]
    """
    return library_call(SOpHandle, "selected_sum", sel, values, assume_bos)


def closest(keys: Operand, queries: Operand) -> ScorerHandle:
    """A scorer for select_best: the keys nearest to each query's number score highest

    >>> from rasp import aggregate, select_all, select_best, tokens
    >>> nearest = select_best(select_all, closest(tokens, 7))
    >>> aggregate(nearest, tokens)([1, 9, 6])
    [6, 6, 6]
    """
    return library_call(ScorerHandle, "closest", keys, queries)


def has_focus(sel: SelectorHandle) -> SOpHandle:
    """Does the query pick anything?

    >>> from rasp import indices, select
    >>> has_focus(select(indices, indices, "<"))("abc")
    [False, True, True]
    """
    return library_call(SOpHandle, "has_focus", sel)


def count(seq: Operand, atom: Operand) -> SOpHandle:
    """In how many positions seq equals atom, the same at every position

    >>> from rasp import tokens
    >>> count(tokens, "a")("banana")
    [3, 3, 3, 3, 3, 3]
    """
    return library_call(SOpHandle, "count", seq, atom)


def contains(seq: Operand, atom: Operand) -> SOpHandle:
    """Does seq equal atom anywhere?

    >>> from rasp import tokens
    >>> contains(tokens, "z")("abc")
    [False, False, False]
    """
    return library_call(SOpHandle, "contains", seq, atom)


def max(a: Operand, b: Operand) -> SOpHandle:
    """The larger of two values, position by position

    >>> from rasp import indices
    >>> max(indices, 2)("abcd")
    [2, 2, 2, 3]
    """
    return library_call(SOpHandle, "max", a, b)


def min(a: Operand, b: Operand) -> SOpHandle:
    """The smaller of two values, position by position

    >>> from rasp import indices
    >>> min(indices, 2)("abcd")
    [0, 1, 2, 2]
    """
    return library_call(SOpHandle, "min", a, b)


def pow(base: Operand, exponent: Operand) -> SOpHandle:
    """Base to the power of exponent, position by position

    >>> from rasp import indices
    >>> pow(2, indices)("abcd")
    [1, 2, 4, 8]
    """
    return library_call(SOpHandle, "pow", base, exponent)


def pairwise_mul(a: Operand, b: Operand) -> SOpHandle:
    """The product of two sequences, position by position

    >>> from rasp import indices
    >>> pairwise_mul(indices, indices)("abcd")
    [0, 1, 4, 9]
    """
    return library_call(SOpHandle, "pairwise_mul", a, b)


def average(seq: Operand) -> SOpHandle:
    """The mean of seq, the same at every position

    >>> from rasp import indices
    >>> average(indices)("abcd")
    [1.5, 1.5, 1.5, 1.5]
    """
    return library_call(SOpHandle, "average", seq)


def load_from_location(seq: Operand, positions: Operand) -> SOpHandle:
    """At each position, the value of seq at the index that positions holds there
    (0 where there is none)

    >>> from rasp import tokens, tokens_int
    >>> load_from_location(tokens, tokens_int)("2301")
    ['0', '1', '2', '3']
    """
    return library_call(SOpHandle, "load_from_location", seq, positions)


def shift(seq: Operand, steps: Operand, default: PythonAtom = 0) -> SOpHandle:
    """Seq moved right by steps (left if negative), with default where nothing moves in

    >>> from rasp import tokens
    >>> shift(tokens, 1, "-")("abc")
    ['-', 'a', 'b']
    """
    return library_call(SOpHandle, "shift", seq, steps, default)


def mark_first_instance(seq: Operand, atom: Operand) -> SOpHandle:
    """Is this the first position where seq equals atom?

    >>> from rasp import tokens
    >>> mark_first_instance(tokens, "a")("baab")
    [False, True, False, False]
    """
    return library_call(SOpHandle, "mark_first_instance", seq, atom)


def mark_last_instance(seq: Operand, atom: Operand) -> SOpHandle:
    """Is this the last position where seq equals atom?

    >>> from rasp import tokens
    >>> mark_last_instance(tokens, "a")("baab")
    [False, False, True, False]
    """
    return library_call(SOpHandle, "mark_last_instance", seq, atom)


def select_from_first(seq: Operand, atom: Operand) -> SelectorHandle:
    """Select the first position where seq equals atom

    >>> from rasp import aggregate, indices, tokens
    >>> aggregate(select_from_first(tokens, "a"), indices)("baab")
    [1, 1, 1, 1]
    """
    return library_call(SelectorHandle, "select_from_first", seq, atom)


def select_from_last(seq: Operand, atom: Operand) -> SelectorHandle:
    """Select the last position where seq equals atom

    >>> from rasp import aggregate, indices, tokens
    >>> aggregate(select_from_last(tokens, "a"), indices)("baab")
    [2, 2, 2, 2]
    """
    return library_call(SelectorHandle, "select_from_last", seq, atom)


def select_next_identical(seq: Operand) -> SelectorHandle:
    """Select the next position that holds the same value of seq

    >>> from rasp import aggregate, indices, tokens
    >>> aggregate(select_next_identical(tokens), indices, -1)("abab")
    [2, 3, -1, -1]
    """
    return library_call(SelectorHandle, "select_next_identical", seq)


def sort(vals: Operand, keys: Operand, assume_bos: bool = False) -> SOpHandle:
    """Vals in the order of keys, ties by position; with a BOS, position 0 stays where it is

    >>> from rasp import tokens
    >>> sort(tokens, tokens)("sorting")
    ['g', 'i', 'n', 'o', 'r', 's', 't']
    """
    return library_call(SOpHandle, "sort", vals, keys, assume_bos)


def has_prev(seq: Operand) -> SOpHandle:
    """Did the value of seq occur at an earlier position?

    >>> from rasp import tokens
    >>> has_prev(tokens)("abab")
    [False, False, True, True]
    """
    return library_call(SOpHandle, "has_prev", seq)


def num_prevs(bools: Operand) -> SOpHandle:
    """How many of the positions up to this one are true

    >>> from rasp import tokens
    >>> num_prevs(tokens == "a")("abba")
    [1, 1, 1, 2]
    """
    return library_call(SOpHandle, "num_prevs", bools)


def frac_prevs(seq: Operand, val: Operand) -> SOpHandle:
    """The fraction of the positions up to this one where seq equals val

    >>> from rasp import tokens
    >>> frac_prevs(tokens, "a")("abba")
    [1, 0.5, 0.3333333333333333, 0.5]
    """
    return library_call(SOpHandle, "frac_prevs", seq, val)


def pair_balance(open: Operand, close: Operand) -> SOpHandle:
    """How far opened pairs outnumber closed ones up to here, as a fraction of the positions

    >>> pair_balance("(", ")")("(())")
    [1, 1.0, 0.3333333333333333, 0.0]
    """
    return library_call(SOpHandle, "pair_balance", open, close)


def histf(seq: Operand, assume_bos: bool = False) -> SOpHandle:
    """How often each position's value of seq occurs; one head if position 0 is a BOS, else two

    >>> from rasp import tokens
    >>> histf(tokens)("hello")
    [1, 1, 2, 2, 1]
    """
    return library_call(SOpHandle, "histf", seq, assume_bos)


for _name in __all__:
    if callable(globals()[_name]) and not isinstance(globals()[_name], Handle):
        globals()[_name] = door(globals()[_name])
