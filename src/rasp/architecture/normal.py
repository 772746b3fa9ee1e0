"""A selector in, its normal form out: equal forms pick the same pairs, so they share a head.

Cheap rules only. `not` goes inward until it meets a comparison; `and` and `or` forget their
order, repetition and nesting; comparisons of the same keys and queries join into one (`<` or
`==` is `<=`), and those that are always or never true vanish; sums are compared as sums.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any, TypeAlias

from rasp.architecture.linear import Sum, Terms, linear, scaled
from rasp.atoms import Atom
from rasp.errors import RaspError
from rasp.graph import (
    Const,
    Elementwise,
    Node,
    Scorer,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    apply_operator,
    score_terms,
)
from rasp.operators import giving
from rasp.operators.comparisons import (
    ANY,
    DIFFERENT,
    EQUAL,
    GREATER,
    LESS,
    OUTCOMES,
    turned_outcomes,
)

Form: TypeAlias = tuple[Any, ...]

MOST_JOINED = 64
"""Parts of one `and` or `or` that are looked at together; a larger one counts as a whole."""
ALWAYS: Form = ("always",)
NEVER: Form = ("never",)
TRUTH_OPERATORS = giving("bool")


def normal_form(selector: Selector) -> Form:
    """Return a value that is equal for selectors that provably pick the same pairs.

    >>> from rasp.graph import Indices, Select, SelectorNot
    >>> before = Select(Indices(), Indices(), "<")
    >>> normal_form(SelectorNot(before)) == normal_form(Select(Indices(), Indices(), ">="))
    True
    """
    return normal_forms([selector])[selector]


def normal_forms(selectors: list[Selector]) -> dict[Selector, Form]:
    """Map each selector to its normal form; parts that are shared are looked at once."""
    forms: dict[tuple[Node, bool], Form] = {}
    for selector in selectors:
        stack = [(selector, True)]
        while stack:
            part, wanted = stack[-1]
            missing = [key for key in _parts(part, wanted) if key not in forms]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            forms[part, wanted] = _form(part, wanted, forms)
    return {selector: forms[selector, True] for selector in selectors}


def _parts(selector: Selector, wanted: bool) -> list[tuple[Selector, bool]]:
    """The selectors inside one, each with whether it is meant as it is or negated."""
    match selector:
        case SelectorNot(inner):
            return [(inner, not wanted)]
        case SelectorAnd(left, right) | SelectorOr(left, right):
            return [(left, wanted), (right, wanted)]
        case SelectBest(inner):
            return [(inner, True)]
    return []


def _form(selector: Selector, wanted: bool, forms: dict[tuple[Node, bool], Form]) -> Form:
    inner = [forms[part] for part in _parts(selector, wanted)]
    match selector:
        case Select(keys, queries, op):
            signs = OUTCOMES[op] if wanted else ANY ^ OUTCOMES[op]
            return _comparison(keys, queries, signs)
        case SelectorNot():
            return inner[0]
        case SelectorAnd() | SelectorOr():
            return _joined("and" if isinstance(selector, SelectorAnd) == wanted else "or", inner)
        case SelectBest(scorer=scorer):
            best: Form = ("best", inner[0], *_scored(scorer))
            return best if wanted else ("not", best)
    raise AssertionError(f"no normal form for {type(selector).__name__}")


def _scored(scorer: Scorer) -> tuple[object, ...]:
    """What a scorer ranks by: the order of the terms of a sum is forgotten."""
    terms = score_terms(scorer)
    if len(terms) == 1:
        return (terms[0].keys, _scale(terms[0].queries))
    return ("sum", frozenset(Counter(terms).items()))


def _scale(queries: SOp) -> object:
    """A constant factor changes no order but by its sign."""
    if isinstance(queries, Const) and not isinstance(queries.value, str) and queries.value > 0:
        return 1
    return queries


def _comparison(keys: SOp, queries: SOp, signs: int) -> Form:
    if isinstance(keys, Const) and isinstance(queries, Const):
        order = _order(keys.value, queries.value)
        if order is not None:
            return ALWAYS if order & signs else NEVER
    keys, queries, signs = _plain_truths(keys, queries, signs)
    return _comparison_of_sums(linear(keys), linear(queries), signs)


def _comparison_of_sums(ours: Sum, theirs: Sum, signs: int) -> Form:
    """Compare sums with the constant on the queries' side, and some factor made 1."""
    keys, queries, apart = ours[0], theirs[0], theirs[1] - ours[1]
    if not keys and not queries:
        return ALWAYS if (LESS if apart > 0 else GREATER if apart < 0 else EQUAL) & signs else NEVER
    _, factor = min(keys or queries, key=lambda term: id(term[0]))  # any one, always the same
    if factor != 1:
        keys, _ = scaled((keys, apart), 1 / factor)
        queries, apart = scaled((queries, apart), 1 / factor)
        signs = turned_outcomes(signs) if factor < 0 else signs
    return _joinable(keys, queries, apart, signs)


def _joinable(keys: Terms, queries: Terms, apart: Fraction, signs: int) -> Form:
    if not signs:
        return NEVER
    return ALWAYS if signs == ANY else ("compare", keys, queries, apart, signs)


def _order(left: Atom, right: Atom) -> int | None:
    """How two atoms compare; None where they have no order."""
    try:
        return EQUAL if left == right else LESS if apply_operator("<", (left, right)) else GREATER
    except RaspError:
        return None


def _plain_truths(keys: SOp, queries: SOp, signs: int) -> tuple[SOp, SOp, int]:
    """Write every way to say "this truth holds" as `== True` on the truth without its `not`."""
    truth, constant = (keys, queries) if isinstance(queries, Const) else (queries, keys)
    is_equality = signs in (EQUAL, DIFFERENT)
    if not (is_equality and isinstance(constant, Const) and isinstance(constant.value, bool)):
        return keys, queries, signs
    if not _is_truth(truth):
        return keys, queries, signs
    holds = constant.value == (signs == EQUAL)
    while isinstance(truth, Elementwise) and truth.op in ("not", "bool"):
        holds = holds != (truth.op == "not")
        if not _is_truth(truth.operands[0]):
            truth = Elementwise("bool", truth.operands)
            break
        truth = truth.operands[0]
    if isinstance(queries, Const):
        return truth, Const(holds), EQUAL
    return Const(holds), truth, EQUAL


def _is_truth(node: SOp) -> bool:
    return isinstance(node, Elementwise) and node.op in TRUTH_OPERATORS


def _joined(word: str, parts: list[Form]) -> Form:
    """Join forms with `and` or `or`: order, repetition and nesting are forgotten."""
    neutral, final = (ALWAYS, NEVER) if word == "and" else (NEVER, ALWAYS)
    compared: dict[tuple[Any, ...], int] = {}
    others: set[Form] = set()
    for part in parts:
        is_flat = part[0] == word and len(part[1]) <= MOST_JOINED
        for member in part[1] if is_flat else (part,):
            if member[0] == "compare":
                *sides, signs = member[1:]
                known = compared.get(tuple(sides), signs)
                compared[tuple(sides)] = known & signs if word == "and" else known | signs
            else:
                others.add(member)
    for (keys, queries, apart), signs in compared.items():
        others.add(_joinable(keys, queries, apart, signs))
    others.discard(neutral)
    if final in others or any(("not", member) in others for member in others):
        return final
    if len(others) > 1:
        return (word, frozenset(others))
    return next(iter(others), neutral)
