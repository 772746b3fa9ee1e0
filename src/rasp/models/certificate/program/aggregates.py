"""Why an aggregate is what `Meaning` says: each rule with its proof, checked case by case.

A head's outputs are sums over the keys that its own selector picks. A rule compares, for one key
at a time, what the aggregate takes from it with what the outputs take: [picked] · value on both
sides. If these agree for every key in every case, the sums agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    SelectBest,
    Selector,
    SOp,
)
from rasp.models.certificate.claims import INDEX, Meaning, Refused
from rasp.models.certificate.program.cases import Cases, as_selector, weighed
from rasp.models.certificate.program.outputs import numbers_of_shares
from rasp.models.certificate.program.tables import Array, typed

if TYPE_CHECKING:
    from rasp.models.certificate.program.tables import ExactSum
    from rasp.models.certificate.program.values import ProvedValues


def check_aggregate(values: ProvedValues, node: Aggregate, meaning: Meaning) -> None:
    """Check the rule by which an aggregate follows from outputs of heads."""
    if len({*meaning.outputs}) < len(meaning.outputs):
        raise Refused("an output of a head is counted twice")
    match meaning.rule:
        case "mean":
            _check_mean(values, node, meaning)
            _check_moved(values, node, meaning)
        case "positive":
            _check_mean(values, node, meaning)
            _check_positive(values, node, meaning)
        case "count" | "pick":
            _check_light(values, node, meaning)
        case "product" | "ratio":
            _check_sum(values, node, meaning)
        case "never":
            selector, _ = split_best(node)
            if meaning.outputs:
                raise Refused("an output of a head stands for an aggregate that picks nothing")
            if any(cases.holds(selector).any() for cases in values.picks.cases([selector])):
                raise Refused("a selector that picks nothing may pick something")
        case "shares":
            _check_shares(values, node, meaning)
        case _:
            raise Refused("an unknown rule")


def _check_mean(values: ProvedValues, node: Aggregate, meaning: Meaning) -> None:
    """The head has the aggregate's selector, values and default."""
    if len(meaning.outputs) != 1:
        raise Refused("a mean is one output")
    (variable,) = meaning.outputs
    head, output = values.head(variable), values.output(variable)
    selector, best = split_best(node)
    if head.mode != "mean" or output.values is not node.values or head.best is not best:
        raise Refused("a head's values are not those of the aggregate")
    if not head.never_empty and typed(output.default) != typed(node.default):
        raise Refused("a head's default is not that of the aggregate")
    if not values.picks.are_equal([selector], head.selectors):
        raise Refused("a head's selector is not that of the aggregate")


def _check_moved(values: ProvedValues, node: Aggregate, meaning: Meaning) -> None:
    """A count that is moved says what the values are: lone ones, or bools, which have no mean."""
    output, head = values.output(meaning.outputs[0]), values.head(meaning.outputs[0])
    if output.carrier is None:
        return
    atoms = values.column(node.values, values.space((output.carrier,))).listed()
    if not all(isinstance(atom, bool) for atom in atoms) and not values.picks.picks_one(head):
        raise Refused("a count is moved that several keys may hold at once")


def _check_positive(values: ProvedValues, node: Aggregate, meaning: Meaning) -> None:
    """Values are 0 where the count is, and above 0 elsewhere: so is their mean."""
    output = values.output(meaning.outputs[0])
    if output.carrier is None:
        raise Refused("a mean of counts without counts")
    first, *others = values.by_state(node.values, output.carrier)
    numbers = [atom for atom in (first, *others) if not isinstance(atom, (bool, str, type(None)))]
    if len(numbers) <= len(others) or first != 0 or not all(atom > 0 for atom in numbers[1:]):
        raise Refused("values are not 0 where a count is, and above 0 elsewhere")


def split_best(node: Aggregate) -> tuple[Selector, object]:
    """The selector, and what its best picks are scored by."""
    if isinstance(node.selector, SelectBest):
        return node.selector.selector, node.selector.scorer
    return node.selector, None


def taken(
    values: ProvedValues, terms: Mapping[int, Fraction], base: SOp, more: Sequence[Selector]
) -> Iterator[tuple[Cases, Array]]:
    """For the key at index 0 and for any other: every case, and what heads take from it together.

    `terms` are the outputs of heads that add up, with weights; what they take is counted in
    multiples of the base, or as numbers if that is a constant. `more` are selectors of which the
    cases tell, too.
    """
    parts: list[tuple[list[Selector], Fraction]] = []
    for variable, weight in terms.items():
        head, output = values.head(variable), values.output(variable)
        if head.mode != "sum" or head.best is not None or output.carrier is not None:
            raise Refused("a head does not add up")
        if not any(values.picks.atoms(output.values, None)):
            raise Refused("an output of a head adds nothing")
        conditions, worth = weighed(values.picks, output.values, base)
        parts.append((head.selectors + conditions, weight * worth))
    for cases in values.picks.cases([*more, *(node for nodes, _ in parts for node in nodes)]):
        total = np.full(cases.count, Fraction(0), object)
        for nodes, worth in parts:
            total = total + cases.holds(*nodes) * worth
        yield cases, total


def _light(values: ProvedValues, node: Aggregate) -> Atom:
    """The one number that is the value at index 0, of values that are 0 elsewhere."""
    light = values.picks.atoms(node.values, True)
    if len(light) != 1 or isinstance(light[0], (bool, str)):
        raise Refused("the value at index 0 is not one number")
    if any(isinstance(atom, str) or atom != 0 for atom in values.picks.atoms(node.values, False)):
        raise Refused("a value is not 0 where the index is not")
    return light[0]


def _check_light(values: ProvedValues, node: Aggregate, meaning: Meaning) -> None:
    """Values that are 0 but at index 0.

    "count": index 0 is always picked, so the mean is light / (number of picks), and own + Σ
    outputs is that number: 1 for key 0, and for other keys 1 where they are picked. "pick":
    nothing but index 0 is ever picked, and own + Σ outputs is 1 where it is.
    """
    if not _light(values, node):
        raise Refused("the value at index 0 is 0")
    counted = meaning.rule == "count"
    if not counted and (isinstance(node.default, str) or node.default != 0):
        raise Refused("the default of a pick is not 0")
    conditions = []
    if meaning.own is not None:
        if not isinstance(meaning.own, Elementwise) or meaning.own.op != "indicator":
            raise Refused("what a query knows by itself is not an indicator")
        conditions = [as_selector(values.picks, meaning.own.operands[0], at_key=False)]
    terms = dict.fromkeys(meaning.outputs, Fraction(1))
    for cases, total in taken(values, terms, Const(1), [node.selector, *conditions]):
        picked = cases.holds(node.selector)
        if cases.first:
            total = total + meaning.constant
            total = total + sum(cases.holds(condition) * meaning.factor for condition in conditions)
        if (total != picked).any() or (cases.first and counted and not picked.all()):
            raise Refused("a sum does not count what the aggregate picks")
        if not cases.first and not counted and picked.any():
            raise Refused("more than index 0 is picked")


def _check_sum(values: ProvedValues, node: Aggregate, meaning: Meaning) -> None:
    """Σ outputs is the sum of the values picked: [picked] · value for each key.

    Where the aggregate m is only compared with a constant c, it is the sum of value - c, and
    c + that is on the same side of c as m is.
    """
    base = base_of(node, meaning)
    if isinstance(node.selector, SelectBest) or meaning.own is not None:
        raise Refused("a sum over the best picks")
    if any(isinstance(atom, (bool, str)) for atom in values.picks.atoms(node.values, None)):
        raise Refused("a sum of what is not numbers")
    if isinstance(node.default, str):
        raise Refused("a default that is not a number")
    unit = Fraction(base.value) if isinstance(base, Const) else Fraction(1)
    if not any(values.picks.atoms(base, None)):  # nothing but 0: no output has to add it
        unit = Fraction(0)
    terms = dict.fromkeys(meaning.outputs, Fraction(1))
    for cases, total in taken(values, terms, base, [node.selector]):
        if (total != cases.holds(node.selector) * unit).any():
            raise Refused("a sum does not add up what the aggregate picks")


def base_of(node: Aggregate, meaning: Meaning) -> SOp:
    """What a sum in place of a mean adds up: the values, less what the mean is compared with."""
    if meaning.rule not in ("product", "ratio") or not meaning.constant:
        return node.values
    return Elementwise("-", (node.values, Const(_plain(meaning.constant))))


def is_width(values: ProvedValues, node: SOp, mean: Aggregate) -> bool:
    """Whether an s-op is how many keys an aggregate picks: a sum that counts them key by key, or a
    function of the index, where the indices decide it.
    """
    linear = values.linear(node)
    if linear is not None and _counts_picks(values, linear, mean.selector):
        return True
    picks = values.picks.by_index([mean.selector])
    if picks is None or np.triu(picks, 1).any() or values.over(node) != (INDEX,):
        return False
    column = values.column(node, values.space((INDEX,)))
    widths = column.in_order()
    return bool(widths == picks.sum(axis=1).tolist())


def _counts_picks(values: ProvedValues, linear: ExactSum, selector: Selector) -> bool:
    """Whether a weighted sum of outputs is how many keys a selector picks: what they take from
    one key, together, is 1 where the selector picks it and 0 elsewhere, in every case.

    There is always a key at index 0, so that a constant may count as its part.
    """
    terms = linear.output_weights()
    if not terms:
        return False
    try:
        return all((total + linear.constant * bool(cases.first) == cases.holds(selector)).all()
                   for cases, total in taken(values, terms, Const(1), [selector]))  # fmt: skip
    except Refused:
        return False


def _plain(number: Fraction) -> int | Fraction:
    return int(number) if number.denominator == 1 else number


def check_ratio(values: ProvedValues, node: Elementwise) -> None:
    """A quotient or comparison of means over one selector is that of their sums.

    Both are divided by how many keys are picked; where that is 0, both are 0, by their defaults.
    So is a comparison with the constant that the values are counted from.
    """
    if node.op not in ("/", *COMPARISONS):
        raise Refused("a sum is used where the program has a mean")
    means = [operand for operand in node.operands if isinstance(operand, Aggregate)]
    meanings = [values.claims.aggregates.get(mean) for mean in means]
    if not means or any(meaning is None or meaning.rule != "ratio" for meaning in meanings):
        raise Refused("a sum is used where the program has a mean")
    constants = {meaning.constant for meaning in meanings if meaning is not None}
    if len(means) == len(node.operands) and constants == {0}:
        same = len({mean.selector for mean in means}) == 1
        if same and all(mean.default == 0 for mean in means):
            return
    elif len(means) == 1 and node.op in COMPARISONS:
        (other,) = [operand for operand in node.operands if operand is not means[0]]
        (constant,) = constants
        if isinstance(other, Const) and not isinstance(other.value, str):
            never = values.picks.never_empty([means[0].selector])
            if other.value == constant and (never or constant == 0 == means[0].default):
                return
    raise Refused("a sum is used where the program has a mean")


def _check_shares(values: ProvedValues, node: Aggregate, meaning: Meaning) -> None:
    """Values that are 0 but at index 0, and the two heads tell what their selector picks.

    The aggregate either always picks index 0, and beside it what the selector does (constant 1),
    or nothing but index 0, where the selector does (constant 0).
    """
    picks = values.picks
    if len(meaning.outputs) != 2 or meaning.own is not None:
        raise Refused("a width takes two heads, and nothing else")
    numbers_of_shares(values, meaning.outputs)
    _light(values, node)
    selectors = values.head(meaning.outputs[0]).selectors
    always = bool(meaning.constant)
    for cases in picks.cases([node.selector, *selectors]):
        shared = cases.holds(*selectors)
        wanted = (shared | bool(cases.first)) if always else (shared & bool(cases.first))
        if (cases.holds(node.selector) != wanted).any():
            raise Refused("a width's selector is not that of its heads")
