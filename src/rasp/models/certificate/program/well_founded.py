"""Claims in; whether they tell of nothing by itself, out.

What claims say of a part (a node of the program, or a variable) is checked by what they say of
others: an aggregate by all that its selector compares, and a head that always picks something, too.
That proves nothing where the others are told by the part itself: an aggregate that is said to have
no value on any input leaves no case in which something could contradict that.

So let there be an order in which every part comes after all that it is told by. Then what is said
of the first part rests on no other, and what is said of any other on earlier ones alone: one after
the other, all that is checked is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter

from rasp.language.graph import Aggregate, Elementwise, Node, SOp, in_order
from rasp.models.certificate.claims import (
    ClaimedCount,
    ClaimedNode,
    ClaimedOutput,
    ClaimedSum,
    Claims,
    HeadClaim,
    HeadOutputClaim,
    Refused,
)
from rasp.models.certificate.program.aggregates import base_of
from rasp.models.certificate.program.sums import mixtures_of_sum
from rasp.models.certificate.program.tables import ExactSum
from rasp.models.certificate.program.values import ProvedValues

Part = Node | int
"""A node, or a variable."""


def is_well_founded(values: ProvedValues, nodes: Sequence[Node], first: SOp | None = None) -> bool:
    """Whether there is such an order of all variables and of a program's nodes; in which these come
    after a promise, if they are to be known by it.
    """
    promised = {*in_order([first] if first else [])}
    later = {*in_order(nodes)} - promised
    told_by: dict[Part, list[Part]] = {}
    waiting: list[Part] = [*range(len(values.claims.variables)), *promised, *later]
    while waiting:
        part = waiting.pop()
        if part not in told_by:
            told_by[part] = _told_by(values, part) + ([first] if first and part in later else [])
            waiting += told_by[part]
    try:
        TopologicalSorter(told_by).prepare()
    except CycleError:
        return False
    return True


def _told_by(values: ProvedValues, part: Part) -> list[Part]:
    """The nodes and variables that claims tell of a node, or of a variable, by."""
    claims = values.claims
    if isinstance(part, Node):
        return [*part.needs, *_told_of_node(claims, part)]
    if part >= len(claims.variables):  # refused where it is asked for
        return []
    match claims.variables[part]:
        case ClaimedNode(node):
            return [node]
        case ClaimedCount(conditions):
            return [*conditions]
        case ClaimedSum() as claimed:
            return [*(part.variable for part in claimed.parts), *_mixtures(values, claimed)]
        case ClaimedOutput(output=place):
            head = claims.head_of(part)
            output = head.outputs[place]
            others = [other for other in (head.best, output.carrier) if other is not None]
            failing = _selectors_that_fail(values, head, output)
            return [*head.selectors, output.values, *others, *failing]
    return []


def _told_of_node(claims: Claims, node: Node) -> list[Part]:
    """What claims add to a node's own operands; of tokens, indices and selectors, nothing."""
    if not isinstance(node, (Aggregate, Elementwise)):
        return []
    over = claims.over.get(node, ())
    meaning = claims.aggregates.get(node) if isinstance(node, Aggregate) else None
    if not isinstance(node, Aggregate) or meaning is None:
        return [*over]
    own = [] if meaning.own is None else [meaning.own]
    return [*over, *meaning.outputs, *own, base_of(node, meaning)]


def _mixtures(values: ProvedValues, claimed: ClaimedSum) -> list[SOp]:
    """What a sum is told by beside its parts; nothing, where it is not known what it can be."""
    try:
        return mixtures_of_sum(values, ExactSum(claimed.constant, claimed.parts))
    except Refused:
        return []


def _selectors_that_fail(
    values: ProvedValues, head: HeadClaim, output: HeadOutputClaim
) -> list[Part]:
    """The selectors by which the program fails where a head picks several bools or strings: that
    it does is only asked of values that can be one.
    """
    try:
        atoms = values.picks.atoms(output.values, None)
    except Refused:
        atoms = [False]  # it may be anything
    if {*map(type, atoms)} <= {int, Fraction}:
        return []
    return [node.selector for node in values.picks.averaging(head, output)]
