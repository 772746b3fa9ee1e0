"""Every row of the operator table can be reached from text, Python, the fuzzer and the compiler."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import product
from pkgutil import resolve_name
from typing import get_args

import pytest

import rasp
from fuzzing.judge_embedding import built_elementwise
from rasp.atoms import Atom
from rasp.errors import RaspError
from rasp.evaluator import apply
from rasp.evaluator.fast import arithmetic
from rasp.frontend.embedding import Comparison
from rasp.fuzzing.cases import random_case
from rasp.graph import Const, Elementwise, Indices, Select, SOp, expression, in_order
from rasp.operators import (
    COMPARE,
    COMPARISONS,
    OPERATORS,
    OPPOSITE,
    ORDERINGS,
    TURNED,
    Operator,
    apply_operator,
)
from rasp.words import BINDING, BUILT_IN_DOCS, SYMBOLS

ROWS = list(OPERATORS.values())
WRITTEN = [row for row in ROWS if row.written != "reading"]
PROGRAMS = 400
KINDS = {"int": int, "float": Fraction, "bool": bool, "string": str, "number": (int, Fraction)}


def application(row: Operator) -> Elementwise:
    """An s-op that applies the operator, on whole numbers from 0 on."""
    here: SOp = Indices()
    match row.name:
        case "if":
            operands: tuple[SOp, ...] = (Elementwise("<", (here, Const(1))), here, Const(7))
        case "at":
            operands = (here, *map(Const, (5, 6, 7, 8, 9, 10)))
        case "lookup":
            operands = (here, *map(Const, (0, 5, 1, 6, 2, 7, 3, 8)))
        case "in":
            operands = (here, Const(1), Const(3))
        case _:
            operands = (here, Const(2))[: row.arity]
    return Elementwise(row.name, operands)


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row.name)
def test_text_reaches_each_row(row: Operator) -> None:
    node = application(row)
    assert rasp.run(f"x = {expression(node)};")["x"].node is node


@pytest.mark.parametrize("row", [row for row in ROWS if row.written == "reading"],
                         ids=lambda row: row.name)  # fmt: skip
def test_a_base_s_op_reads_tokens_by_each_other_row(row: Operator) -> None:
    read = rasp.run("")[f"tokens_{row.name.replace('string', 'str')}"]
    assert read(["1"]) == [apply_operator(row.name, ("1",))]


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row.name)
def test_python_reaches_each_row(row: Operator) -> None:
    node = application(row)
    parts = [part.value if isinstance(part, Const) else rasp.SOpHandle(part)
             for part in node.operands]  # fmt: skip
    assert built_elementwise(row.name, parts).node is node
    assert row.python.startswith(".") or callable(resolve_name(row.python))


@cache
def operators_of_random_programs() -> set[str]:
    nodes = (
        node for seed in range(PROGRAMS) for node in in_order(random_case(seed).outputs.values())
    )
    return {node.op for node in nodes if isinstance(node, (Elementwise, Select))}


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row.name)
def test_the_fuzzer_reaches_each_row(row: Operator) -> None:
    assert row.name in operators_of_random_programs()


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row.name)
def test_the_compiler_reaches_each_row(row: Operator) -> None:
    model = rasp.compile(application(row), vocabulary="ab", max_length=4)
    assert model("abba") == apply(application(row), "abba")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_gives_what_it_says(row: Operator) -> None:
    if row.gives == "any":
        kinds = {type(apply_operator(row.name, (0, *rest))) for rest in _operands(row)}
        assert kinds <= {int, str, bool, Fraction}
        return
    values = [value for rest in _operands(row) for value in _applied(row, (1, *rest))]
    assert values, "it applies to none of these operands"
    for value in values:
        assert isinstance(value, KINDS[row.gives])
        assert isinstance(value, bool) == (row.gives == "bool")


def _applied(row: Operator, operands: tuple[Atom, ...]) -> list[Atom]:
    """What a row makes of operands; nothing where it refuses them."""
    with suppress(RaspError):
        return [apply_operator(row.name, operands)]
    return []


def _operands(row: Operator) -> list[tuple[int | Fraction, ...]]:
    some = (1, 2, Fraction(5, 2))
    if row.name in ("at", "lookup", "in"):
        return [(0, 3, 1, 4)]
    return list(product(some, repeat=(row.arity or 1) - 1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_a_row_names_is_there(row: Operator) -> None:
    assert not row.kernel or callable(getattr(arithmetic, row.kernel))
    if row.written == "infix":
        assert BINDING[row.text] == row.binding
        assert row.text.isalpha() or row.text in SYMBOLS
    if row.written == "call":
        assert BUILT_IN_DOCS[row.name] == row.doc
        assert row.doc.startswith(f"{row.name}(")


def test_a_comparison_and_its_opposite_and_its_turned_form() -> None:
    assert get_args(Comparison) == COMPARISONS
    for op, (left, right) in product(COMPARISONS, product((1, 2), repeat=2)):
        holds = COMPARE[op](left, right)
        assert COMPARE[OPPOSITE[op]](left, right) == (not holds)
        assert COMPARE[TURNED[op]](right, left) == holds
    assert ORDERINGS == ("<", "<=", ">", ">=")
