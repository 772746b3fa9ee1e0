"""The authors' REPL's answers: values and kinds agree, and what failed there fails here.

The files are read from `../shared/golden`; where that folder is not beside the checkout, the run
says at its end that they were not tried. Where a case contradicts the language as decided, the
language wins: those cases are listed below, with the reason.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.base.atoms import kind_of, kind_of_sequence
from rasp.language.evaluator import apply
from rasp.language.graph import Node

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"

pytestmark = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="the reference's answers are not beside this checkout"
)

PRECEDENCE = "`in` binds tighter than `and` and `or`, as in Python: this is a good program"
LOGIC = (
    "a = select(tokens, tokens, ==);\nb = select(indices, indices, <=);\n"
    "c = select(indices, 1, ==);\nsel = {};\nres = aggregate(sel, indices, -1);\n"
    "wid = selector_width(sel);\n"
)
DIFFERENT = {
    # values there, errors here
    "res = 1 in [indices];\n": "the reference compared the s-op object itself; we look for atoms",
    # values there, other values here
    LOGIC.format("a or b and c"): "`and` binds tighter than `or`",
    'res = not "a" in tokens;\n': "`not` binds looser than `in`",
    # errors there, values here
    'res = "a" in tokens and "b" in tokens;\n': PRECEDENCE,
    'res = tokens in ["a"] or indices==0;\n': PRECEDENCE,
    'res = load_from_location(tokens, 77) + 1;\nq = load_from_location(tokens, 77) + "a";\n': (
        "definitions are lazy: `q` is never applied, and `res` is 0 + 1"
    ),
    "res = sort(tokens, tokens, 1);\n": "`sort` has a third parameter, `assume_bos`",
    'res = tokens("hi")[0];\n': "applying gives an ordinary list, usable in later expressions",
}


def cases(name: str) -> list[dict[str, Any]]:
    if not GOLDEN.is_dir():
        return []
    found: list[dict[str, Any]] = json.loads((GOLDEN / name).read_text())["cases"]
    return found


def is_different_on_purpose(case: dict[str, Any]) -> bool:
    """Tell what is listed; and the reference took lists of lists, here inputs are of atoms."""
    given = case["input"]
    nested = isinstance(given, list) and any(isinstance(token, list) for token in given)
    return nested or case["program"] in DIFFERENT


def run_case(case: dict[str, Any]) -> Any:
    names = rasp.run(case["program"])
    value = names.session.find(case["expr"])
    if isinstance(value, Node):
        return apply(value, case["input"])
    return value


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, dict):
        return same([list(pair) for pair in ours.items()], theirs["__dict__"])
    if isinstance(theirs, float):
        return isinstance(ours, Fraction) and math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)
    return type(ours) is type(theirs) and bool(ours == theirs)


def in_hundreds(name: str) -> list[Any]:
    """The cases of a file, a hundred to a test: starting a test takes longer than one of them."""
    every = cases(name)
    return [
        pytest.param(every[start : start + 100], id=f"from {every[start]['id']}")
        for start in range(0, len(every), 100)
    ]


@pytest.mark.parametrize("some", in_hundreds("eval_values.json"))
def test_values_and_kinds_are_the_references(some: list[dict[str, Any]]) -> None:
    letters = {"bool": "b", "int": "i", "float": "f", "string": "s"}
    for case in some:
        if is_different_on_purpose(case):
            continue
        ours = run_case(case)
        assert same(ours, case["output"]), case
        if case["kind"] == "s-op":
            assert "".join(letters[kind_of(atom)] for atom in ours) == case["elem_types"], case
            assert kind_of_sequence(ours) == case["type"], case


FITTING = {
    "python:TypeError": ("type", "value"),
    "python:ZeroDivisionError": ("value",),
    "python:Exception": ("type",),
    "type": ("type", "value"),
    "value": ("value", "type"),
    "undefined_variable": ("name",),
    "args": ("type",),
}


@pytest.mark.parametrize("some", in_hundreds("eval_errors.json"))
def test_what_failed_there_is_a_fitting_error_here(some: list[dict[str, Any]]) -> None:
    for case in some:
        if is_different_on_purpose(case):
            continue
        with pytest.raises(rasp.RaspError) as caught:
            run_case(case)
        assert caught.value.kind in FITTING[case["error_kind"]], case
        assert caught.value.hint, case


@pytest.mark.parametrize("program", DIFFERENT)
def test_every_difference_listed_is_one(program: str) -> None:
    def differs(case: dict[str, Any]) -> bool:
        try:
            return "error_kind" in case or not same(run_case(case), case["output"])
        except rasp.RaspError:
            return "error_kind" not in case

    both = cases("eval_values.json") + cases("eval_errors.json")
    assert any(differs(case) for case in both if case["program"] == program)
