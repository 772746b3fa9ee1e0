"""Atoms cross the border to Python and back unharmed, and print so that they can be read again."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rasp
from rasp.base.atoms import Atom, from_python, kind_of, read_input, show, show_literal, to_python

atoms = st.one_of(
    st.booleans(), st.integers(), st.fractions(), st.text(max_size=8),
)  # fmt: skip


@given(atoms)
def test_a_literal_reads_back_as_the_same_atom(atom: Atom) -> None:
    value = rasp.run(f"x = {show_literal(atom)};").session.find("x")
    assert value == atom
    assert kind_of(value) == kind_of(atom)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_come_in_and_go_out_the_same(number: float) -> None:
    assert to_python(from_python(number)) == number


def test_a_decimal_is_the_number_it_says() -> None:
    assert from_python(0.1) == Fraction(1, 10)
    assert rasp.run("x = tokens == 0.1;")["x"]([0.1, 0.2]) == [True, False]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), None, object(), [1], {}])
def test_what_is_no_atom_is_refused(wrong: object) -> None:
    with pytest.raises(rasp.RaspError) as caught:
        read_input([wrong])
    assert caught.value.hint


@pytest.mark.parametrize("wrong", [3, 2.5, None, {}, set()])
def test_what_is_no_input_is_refused(wrong: object) -> None:
    with pytest.raises(rasp.RaspTypeError):
        read_input(wrong)


def test_numpy_inputs_are_inputs() -> None:
    import numpy as np

    assert rasp.run("x = tokens + 1;")["x"](np.array([1, 2])) == [2, 3]
    assert read_input([np.int64(3), np.float64(0.5), np.bool_(True)]) == (3, Fraction(1, 2), True)


def test_a_float_too_large_for_python_says_so() -> None:
    huge = rasp.run("x = tokens ^ 1.0;")["x"]
    with pytest.raises(rasp.RaspValueError, match="too large"):
        huge([10**400])
    assert "digit float" in show(Fraction(10) ** 400)
