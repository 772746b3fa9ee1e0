"""Claims as plain data, and back; whatever does not fit is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, TypeVar

from rasp.certificate import claims as told
from rasp.certificate.claims import INDEX, TOKEN, ClaimedVariable, Claims, SumPart
from rasp.compiler.model.forms import (
    ATOM,
    FRACTION,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    Form,
    listed,
    optional,
    pairs,
    record,
    row,
    whole,
)
from rasp.graph import Aggregate, Node, Scorer, Selector, SOp, in_order
from rasp.graph.portable import broken, graph_from_json, graph_to_json

AnyNode = TypeVar("AnyNode", bound=Node)


def claims_to_json(claims: Claims) -> dict[str, Any]:
    """Claims as plain data; s-ops and selectors are places in a list of nodes."""
    others = (claims.aggregates, claims.readers, claims.choices, claims.variables, claims.heads,
              claims.spare)  # fmt: skip
    nodes = in_order(dict.fromkeys([*claims.over, *claims.aggregates, *_nodes(others)]))
    graph = graph_to_json({str(place): node for place, node in enumerate(nodes)}, {})
    data: dict[str, Any] = _form(nodes, len(claims.variables)).write(claims)
    return {"nodes": graph["nodes"]} | data


def claims_from_json(data: Any) -> Claims:
    """Read claims back."""
    try:
        places = {str(place): place for place in range(len(data["nodes"]))}
        nodes, _ = graph_from_json({"nodes": data["nodes"], "outputs": places})
        return _form([nodes[place] for place in places], len(data["variables"])).read(
            {"choices": []} | data
        )
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise broken("a claim") from error


def _nodes(part: object) -> Iterator[Node]:
    """Every node that a part of claims speaks of."""
    if isinstance(part, Node):
        yield part
        return
    if isinstance(part, Mapping):
        part = tuple(part.items())
    elif is_dataclass(part):
        part = tuple(vars(part).values())
    if isinstance(part, tuple):
        for inner in part:
            yield from _nodes(inner)


def _node(nodes: Sequence[Node], kind: type[AnyNode]) -> Form[AnyNode]:
    """A node of some kind as its place in a list."""
    places = {node: place for place, node in enumerate(nodes)}

    def read(entry: Any) -> AnyNode:
        node = nodes[WHOLE.read(entry)]
        if not isinstance(node, kind):
            raise broken("a claim")
        return node

    return Form(places.__getitem__, read)


def _form(nodes: Sequence[Node], variables: int) -> Form[Claims]:
    """How claims about these nodes and so many variables are written."""
    s_op, numbers = _node(nodes, SOp), listed(whole(below=variables))
    head = _head(nodes, whole(below=variables))
    meaning = row(told.Meaning, TEXT, numbers, FRACTION, optional(s_op), FRACTION)
    group = row(told.GroupClaim, WHOLE, numbers, numbers.unless(None))
    reader = record(told.ReaderClaim, node=s_op, after=TEXT, weights=WEIGHTS, constant=NUMBER)
    return record(
        Claims,
        variables=listed(_variable(s_op)),
        over=pairs(_node(nodes, Node), numbers),
        aggregates=pairs(_node(nodes, Aggregate), meaning),
        heads=listed(listed(head)),
        groups=listed(listed(group)),
        outputs=listed(numbers),
        spare=listed(head),
        choices=pairs(s_op, row(_tuple, s_op, listed(s_op))),
        readers=listed(reader),
    )


def _head(nodes: Sequence[Node], variable: Form[int]) -> Form[told.HeadClaim]:
    numbers = listed(variable)
    conjunct = row(told.ConjunctClaim, _node(nodes, Selector), numbers, numbers)
    output = record(
        told.HeadOutputClaim, values=_node(nodes, SOp), codes=optional(pairs(ATOM, FRACTION)),
        default=optional(ATOM), carrier=optional(variable), is_block=TRUTH.unless(False),
    )  # fmt: skip
    return record(
        told.HeadClaim, mode=TEXT, conjuncts=listed(conjunct), outputs=listed(output),
        channels=listed(pairs(WHOLE, FRACTION)), values=listed(numbers),
        best=optional(_node(nodes, Scorer)), best_queries=numbers, best_keys=numbers,
        never_empty=TRUTH, family=listed(row(_tuple, WHOLE, WHOLE)), weight=FRACTION,
        outweighs=TRUTH,
    )  # fmt: skip


def _tuple(*parts: Any) -> tuple[Any, ...]:
    return parts


WEIGHTS: Form[Mapping[int, float]] = Form(
    lambda weights: {str(dim): weight for dim, weight in weights.items()},
    lambda entry: {WHOLE.read(int(dim)): NUMBER.read(weight) for dim, weight in entry.items()},
)


def _sum_part(kind: str, place: int) -> SumPart:
    return SumPart(place) if kind == "out" else SumPart(GROUND[kind], place)


GROUND = {"tok": TOKEN, "idx": INDEX}
SUM_PART: Form[SumPart] = Form(
    lambda part: ["out", part.variable] if part.is_output
    else [("tok", "idx")[part.variable], part.state],
    row(_sum_part, TEXT, WHOLE).read, width=2,
)  # fmt: skip


def _variable(s_op: Form[SOp]) -> Form[ClaimedVariable]:
    """A variable as a list that begins with its kind; null for the token and the index."""
    kinds: dict[str, tuple[type, Form[Any]]] = {
        "output": (told.ClaimedOutput, row(told.ClaimedOutput, WHOLE, WHOLE, WHOLE)),
        "sum": (told.ClaimedSum, row(told.ClaimedSum, FRACTION, pairs(SUM_PART, FRACTION))),
        "node": (told.ClaimedNode, row(told.ClaimedNode, s_op)),
        "count": (told.ClaimedCount, row(told.ClaimedCount, listed(s_op))),
    }

    def write(variable: ClaimedVariable) -> list[Any]:
        return next([name, *form.write(variable)] for name, (kind, form) in kinds.items()
                    if isinstance(variable, kind))  # fmt: skip

    def read(entry: Any) -> Any:
        return kinds[entry[0]][1].read(entry[1:])

    return optional(Form(write, read))
