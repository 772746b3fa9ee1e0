"""A promise about inputs: used by the analysis, proved by the checker, checked at run time."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

import rasp
from rasp.base.errors import RaspTypeError, RaspUnsupportedError, RaspValueError
from rasp.language.graph import Node, SOp
from rasp.models.certificate import Inputs, check
from rasp.models.compiler import compile, load, verify
from rasp.models.compiler.model.transformer import Transformer

ADDITION = """
digit = {"0123456789+"[n]: n % 10 for n in range(11)}[tokens];
plus_at = aggregate(select(tokens, "+", ==), indices);
second_digit = digit if indices > plus_at else 0;
first_digit = load_from_location(digit, indices - (length - plus_at));
column = first_digit + second_digit;
decides = select(indices, indices, >) and select(column, 9, !=);
carry = aggregate(select_best(decides, score(indices, -1)), indicator(column > 9));
addition = "0123456789"[(column + carry) % 10];
pluses = selector_width(select(tokens, "+", ==));
one_plus = pluses == 1;
"""


def node_of(handle: object) -> SOp:
    node = getattr(handle, "node", None)
    assert isinstance(node, SOp)
    return node


def holds(model: Transformer, where: Node | None) -> bool:
    """Whether the checker accepts a model for the inputs on which something else is true."""
    settings = model.settings
    assert where is None or isinstance(where, SOp)
    inputs = Inputs(settings.vocabulary, settings.max_length, where=where)
    return check(model.weights.arrays(), model.outputs, inputs, model.readouts, model.claims).holds


@pytest.fixture(scope="module")
def addition() -> Transformer:
    program = rasp.run(ADDITION)
    return compile(
        program["addition"], alphabet="0123456789+", max_length=15, where=program["one_plus"]
    )


@pytest.fixture(scope="module")
def place_of_plus() -> Transformer:
    """A small model with the same promise."""
    program = rasp.run(ADDITION)
    return compile(program["plus_at"], alphabet="12+", max_length=5, where=program["one_plus"])


@pytest.mark.slow
def test_a_mean_over_several_that_are_never_several(addition: Transformer) -> None:
    with pytest.raises(RaspUnsupportedError):
        compile(rasp.run(ADDITION)["addition"], alphabet="0123456789+", max_length=15)
    assert addition.certificate is not None
    assert addition.certificate.exact
    assert "on which `one_plus` holds at every position" in addition.certificate.statement
    for one, other in ((57, 68), (999, 1), (1234567, 7654321), (0, 0)):
        text = f"{one}+{other}"
        assert "".join(addition(text)) == str(one + other).zfill(len(text))


@pytest.mark.parametrize("text", ["12", "1+2+1"])
def test_an_input_that_breaks_the_promise_is_refused(place_of_plus: Transformer, text: str) -> None:
    assert place_of_plus("12+1") == [2, 2, 2, 2]
    with pytest.raises(RaspValueError, match="on which `one_plus` is true, and here it is False"):
        place_of_plus(text)


def test_an_input_on_which_the_promise_has_no_value_is_refused() -> None:
    program = rasp.run("valid = 1 / indices > 0;")
    with pytest.raises(RaspUnsupportedError, match="no input keeps the promise `valid`"):
        compile(rasp.tokens, alphabet="ab", max_length=4, where=program["valid"])


def test_the_promise_is_stored_and_verified(place_of_plus: Transformer, tmp_path: Path) -> None:
    place_of_plus.save(tmp_path)
    assert place_of_plus.certificate is not None
    assert verify(tmp_path).statement == place_of_plus.certificate.statement
    with pytest.raises(RaspValueError, match="one_plus"):
        load(tmp_path)("12")


@pytest.mark.slow
@pytest.mark.parametrize("other", ["True", "pluses <= 2", "pluses < 1 or pluses > 0", "pluses > 0"])
def test_the_weights_are_proved_for_no_weaker_promise(addition: Transformer, other: str) -> None:
    program = rasp.run(ADDITION + f"other = {other};")
    assert holds(addition, addition.settings.where)
    weaker = program["other"]
    assert not holds(addition, None if weaker is True else node_of(weaker))


SMALL = {
    "a lone pick": ("aggregate(select(tokens, \"a\", ==), indices)",
                    "selector_width(select(tokens, \"a\", ==)) <= 1"),
    "one in each prefix": ("aggregate(select(tokens, \"a\", ==) and select(indices, indices, <=), "
                           "tokens, \"-\")",
                           "selector_width(select(tokens, \"a\", ==) and "
                           "select(indices, indices, <=)) < 2"),
    "together": ("count(tokens, \"a\") * count(tokens, \"b\")",
                 "count(tokens, \"a\") == count(tokens, \"b\")"),
    "no first token": ("aggregate(select(indices, length - 1 - indices, ==), tokens)",
                       "tokens != \"a\""),
    "a few indices": ("aggregate(select(indices, indices - 1, ==), tokens, \"?\")", "indices < 3"),
    "one token first": ("aggregate(select(tokens, \"a\", ==), indices, -1)",
                        "tokens != \"a\" or indices == 0"),
    "two promises": ("aggregate(select(tokens, \"a\", ==), indices) + indices",
                     "selector_width(select(tokens, \"a\", ==)) == 1 and tokens != \"c\""),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("out", "valid"), SMALL.values(), ids=SMALL)
def test_all_inputs_that_keep_a_promise(out: str, valid: str) -> None:
    program = rasp.run(f"out = {out}; valid = {valid};")
    model = compile(program["out"], alphabet="abc", max_length=5, where=program["valid"])
    kept = 0
    for length in range(1, 6):
        for tokens in product("abc", repeat=length):
            if all(program["valid"](list(tokens))):
                assert model(list(tokens)) == program["out"](list(tokens)), tokens
                kept += 1
    assert kept > 10


def test_a_promise_is_one_bool_s_op() -> None:
    with pytest.raises(RaspTypeError, match="`where` is one bool s-op"):
        compile(rasp.tokens, alphabet="ab", max_length=4, where=[rasp.tokens, rasp.indices])
    with pytest.raises(RaspUnsupportedError, match="a promise about inputs is a bool s-op"):
        compile(rasp.tokens, alphabet="ab", max_length=4, where=rasp.indices)


def test_a_promise_is_a_setting_like_others(place_of_plus: Transformer) -> None:
    settings = place_of_plus.settings
    assert replace(settings, where=None, where_name="") != settings


def test_a_promise_has_no_name_that_is_another_s_op_s() -> None:
    mine = rasp.run('promise = tokens != "c";')["promise"]
    other = rasp.run('promise = tokens == "a";')["promise"]
    model = compile({"promise": mine}, alphabet="abc", max_length=3, where=other)
    assert model.certificate is not None
    assert 'on which `tokens == "a"` holds' in model.certificate.statement
    also_named = rasp.run('promise = tokens != "c"; out = "x" if promise else tokens;')["out"]
    model = compile(also_named, alphabet="abc", max_length=3, where=other)
    assert model.settings.where_name == 'tokens == "a"'
