"""Handles carry the names people gave and the places they were made, through everything."""

from __future__ import annotations

import pytest

import rasp
from rasp import aggregate, indices, length, select, tokens
from rasp.language.embedding.handles import Handle


def test_a_name_is_used_in_printing_and_known_to_the_program() -> None:
    flip = select(indices, length - 1 - indices, "==").named("flip")
    reverse = aggregate(flip, tokens)
    assert repr(flip) == "<selector flip = select(indices, length - 1 - indices, ==)>"
    assert repr(reverse) == "<s-op aggregate(flip, tokens)>"
    assert reverse.name is None
    assert reverse.named("reverse").name == "reverse"
    assert reverse.named("reverse").program.outputs == {"reverse": reverse.node}
    assert flip.program.names[flip.node] == "flip"


def test_a_name_belongs_to_the_handle_not_to_the_node() -> None:
    first, second = (indices + 1).named("one"), (indices + 1).named("another")
    assert first.node is second.node
    assert (first.name, second.name, (indices + 1).name) == ("one", "another", None)
    assert repr(indices.named("mine") + 1) == "<s-op indices + 1>"


def test_the_latest_name_wins() -> None:
    renamed = (indices + 1).named("one").named("next")
    assert repr(renamed * 2) == "<s-op next * 2>"


def test_names_of_texts_and_of_python_meet() -> None:
    hist = rasp.run("same = select(tokens, tokens, ==); hist = selector_width(same);")["hist"]
    shifted = rasp.run("def late(s) { moved = s + 1; return moved * 2; }")["late"](hist)
    both = shifted + (indices % 2).named("parity")
    assert repr(both) == "<s-op moved * 2 + parity>"
    names = set(both.program.names.values())
    assert {"same", "hist", "moved", "parity"} <= names


def test_a_function_of_a_text_takes_handles_atoms_lists_and_python_functions() -> None:
    names = rasp.run(
        "def pick(table, index) { return table[index % len(table)]; }"
        "def twice(f, s) { return f(f(s)); }"
    )
    assert names["pick"](["x", tokens, "z"], indices)("abcd") == ["x", "b", "z", "x"]
    assert names["twice"](lambda s: s + "!", tokens)("ab") == ["a!!", "b!!"]
    assert names["twice"](f=rasp.lib.has_prev, s=tokens)("aba") == [False, True, False]


def test_an_error_points_at_the_python_expression_that_made_the_node() -> None:
    doubled = (tokens + 1) * 2
    with pytest.raises(rasp.RaspTypeError) as caught:
        doubled("abc")
    span = caught.value.span
    assert span is not None
    assert span.text == "tokens + 1"
    assert span.source.name.endswith("test_names_and_places.py")
    assert "^^^^^^^^^^" in str(caught.value)


def test_an_error_in_library_code_points_at_the_call() -> None:
    mean = rasp.lib.average(tokens) + 1
    with pytest.raises(rasp.RaspTypeError) as caught:
        mean("abc")
    assert caught.value.span is not None
    assert caught.value.span.text == "rasp.lib.average(tokens)"


def test_an_error_in_a_text_still_points_into_the_text() -> None:
    held = rasp.run("bad = 1 / indices;", "demo.rasp")["bad"] + 1
    with pytest.raises(rasp.RaspValueError) as caught:
        held("abc")
    assert str(caught.value.span) == "demo.rasp:1:7"


def test_places_count_characters_not_bytes() -> None:
    é = tokens
    with pytest.raises(rasp.RaspTypeError) as caught:
        ("ü" + é - 1)("abc")
    assert caught.value.span is not None
    assert caught.value.span.text == '"ü" + é - 1'


def test_without_a_source_the_expression_is_named() -> None:
    scope = {"tokens": tokens}
    made = eval("tokens + 1", scope)
    with pytest.raises(rasp.RaspTypeError) as caught:
        made("abc")
    assert caught.value.span is None
    assert "`tokens + 1`" in caught.value.message


def test_a_base_handle_of_another_part_still_works() -> None:
    held = Handle((indices + 1).node, rasp.run("up = indices + 1;")["up"].program)
    assert held("abc") == [1, 2, 3]
    assert held.name == "up"
