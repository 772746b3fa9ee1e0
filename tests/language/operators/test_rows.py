"""Every row of the operator table is reached by text, Python, random programs and the compiler.

That array kernels agree with it is tested in `tests/language/evaluator/test_fast_elementwise.py`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from itertools import product
from pkgutil import resolve_name
from typing import get_args

import pytest
from embedding.nodes_by_python import built_elementwise

import rasp
from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.language.embedding.constructors import Comparison
from rasp.language.evaluator import apply
from rasp.language.evaluator.fast import arithmetic
from rasp.language.graph import Const, Elementwise, Indices, Select, SOp, expression, in_order
from rasp.language.operators import (
    COMPARE,
    COMPARISONS,
    OPERATORS,
    OPPOSITE,
    ORDERINGS,
    TURNED,
    Operator,
    apply_operator,
)
from rasp.language.words import BINDING, BUILT_IN_DOCS, SYMBOLS
from strategies.programs import seeded_cases

ROWS = list(OPERATORS.values())
WRITTEN = [row for row in ROWS if row.written != "reading"]
PROGRAMS = 150
KINDS = {"int": (int,), "float": (Fraction,), "bool": (bool,), "string": (str,),
         "number": (int, Fraction), "int or float": (int, Fraction),
         "any": (bool, int, Fraction, str)}  # fmt: skip
SOME: tuple[Atom, ...] = (
    -2, 0, 1, 3, True, Fraction(5, 2), Fraction(-1, 2), Fraction(2), Fraction(10**400, 3), "a", "7",
)  # fmt: skip
by_name = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
by_written = pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row.name)


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


@by_written
def test_text_reaches_each_row(row: Operator) -> None:
    node = application(row)
    assert rasp.run(f"x = {expression(node)};")["x"].node is node


@pytest.mark.parametrize("row", [row for row in ROWS if row.written == "reading"],
                         ids=lambda row: row.name)  # fmt: skip
def test_a_base_s_op_reads_tokens_by_each_other_row(row: Operator) -> None:
    read = rasp.run("")[f"tokens_{row.name.replace('string', 'str')}"]
    assert read(["1"]) == [apply_operator(row.name, ("1",))]


@by_written
def test_python_reaches_each_row(row: Operator) -> None:
    assert row.python, "say by which function of Python it is written, such as `rasp.gcd`"
    node = application(row)
    parts = [part.value if isinstance(part, Const) else rasp.SOpHandle(part)
             for part in node.operands]  # fmt: skip
    assert built_elementwise(row.name, parts).node is node
    if not row.python.startswith("."):
        assert callable(resolve_name(row.python))
    home, _, name = row.python.rpartition(".")
    assert home != "rasp" or name in dir(rasp)


@cache
def operators_of_random_programs() -> set[str]:
    nodes = (node for case in seeded_cases(PROGRAMS) for node in in_order(case.outputs.values()))
    return {node.op for node in nodes if isinstance(node, (Elementwise, Select))}


@by_written
def test_random_programs_reach_each_row(row: Operator) -> None:
    assert row.name in operators_of_random_programs(), f"{PROGRAMS} random programs never use it"


@pytest.mark.parametrize("style", ["compact", "robust"])
@by_written
def test_the_compiler_reaches_each_row(row: Operator, style: str) -> None:
    model = rasp.compile(application(row), vocabulary="ab", max_length=4, style=style)
    assert model("abba") == apply(application(row), "abba")
    assert model.certificate is not None and model.certificate.exact


@cache
def outcomes(row: Operator) -> dict[tuple[Atom, ...], Atom | RaspError]:
    """What a row makes of all combinations of some atoms: an atom, or a refusal."""
    rest: list[tuple[Atom, ...]] = list(product(SOME, repeat=(row.arity or 1) - 1))
    if row.arity is None:
        rest = [(0, 3, 1, 4)]
    answers: dict[tuple[Atom, ...], Atom | RaspError] = {}
    for operands in ((first, *others) for first in SOME for others in rest):
        try:
            answers[operands] = apply_operator(row.name, operands)
        except RaspError as error:
            answers[operands] = error
        except Exception as error:
            pytest.fail(
                f"`{row.name}` of {operands} raises {error!r}: refuse what it cannot take with "
                "a RaspError, as `one_number` and `two_numbers` of operators/meaning.py do, and "
                "give a bool, an int, a Fraction or a string, never a Python float"
            )
    return answers


@by_name
def test_a_row_gives_what_it_says(row: Operator) -> None:
    gives_something = False
    for operands, value in outcomes(row).items():
        if isinstance(value, RaspError):
            continue
        gives_something = True
        is_float = any(isinstance(operand, Fraction) for operand in operands)
        kinds = ((Fraction,) if is_float else (int,)) if row.gives == "number" else KINDS[row.gives]
        assert type(value) in kinds, f"of {operands} it gives {value!r}: is `gives` {row.gives!r}?"
    assert gives_something, f"it applies to none of {SOME}"


@by_name
def test_a_refusal_names_its_own_operator(row: Operator) -> None:
    for error in outcomes(row).values():
        if isinstance(error, RaspError):
            named = set(re.findall(r"`(.*?)`", error.message))
            assert named <= {row.text}, f"{error.message!r} is about another operator"
            assert error.hint, f"{error.message}: say what to do next"


@by_name
def test_a_row_says_where_it_never_fails(row: Operator) -> None:
    refused = [
        operands for operands, value in outcomes(row).items() if isinstance(value, RaspError)
    ]
    of_numbers = [
        operands
        for operands in refused
        if not any(isinstance(operand, str) for operand in operands)
    ]
    never_fails_on = "" if of_numbers else "numbers" if refused else "any"
    assert row.never_fails_on == never_fails_on, f"it refuses {(of_numbers or refused)[:3]}"


@by_name
def test_what_a_row_names_is_there(row: Operator) -> None:
    assert not row.kernel or callable(getattr(arithmetic, row.kernel))
    if row.written == "infix":
        assert BINDING[row.text] == row.binding
        assert row.text.isalpha() or row.text in SYMBOLS
    if row.written == "call":
        assert BUILT_IN_DOCS[row.name] == row.doc
        call = f"{row.name}({', '.join(row.parameters)}): "
        assert row.doc.startswith(call), f"`doc` begins with {call!r}"


def test_a_comparison_and_its_opposite_and_its_turned_form() -> None:
    assert get_args(Comparison) == COMPARISONS
    for op, (left, right) in product(COMPARISONS, product((1, 2), repeat=2)):
        holds = COMPARE[op](left, right)
        assert COMPARE[OPPOSITE[op]](left, right) == (not holds)
        assert COMPARE[TURNED[op]](right, left) == holds
    assert ORDERINGS == ("<", "<=", ">", ">=")
