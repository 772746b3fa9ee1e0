"""`rasp.lib` is the library: the same names, parameters, defaults, words, and the same nodes."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import pytest

import rasp
from rasp import indices, lib, select, tokens
from rasp.language.meaning.session import Session
from rasp.language.meaning.value_kinds import MISSING, Function

SESSION = Session()
LIBRARY = SESSION.library.names
FUNCTIONS = {name: value for name, value in LIBRARY.items() if isinstance(value, Function)}

# For a parameter, the argument in Python and in RASP.
ARGUMENTS: dict[str, tuple[Any, str]] = {
    "sel": (select(tokens, tokens, "=="), "select(tokens, tokens, ==)"),
    "atom": ("a", '"a"'),
    "steps": (2, "2"),
    "open": ("(", '"("'),
    "close": (")", '")"'),
    "val": ("a", '"a"'),
    "assume_bos": (True, "True"),
    "default": ("-", '"-"'),
    "bools": (tokens == "a", 'tokens == "a"'),
    "positions": (indices - 1, "indices - 1"),
}
ANY = (tokens, "tokens")


def test_every_name_of_the_library_is_there_and_no_other() -> None:
    assert sorted(lib.__all__) == sorted(LIBRARY)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_defaults_and_documentation_are_the_librarys(name: str) -> None:
    function, ours = FUNCTIONS[name], getattr(lib, name)
    parameters = inspect.signature(ours).parameters.values()
    assert tuple(parameter.name for parameter in parameters) == function.parameters
    defaults = tuple(
        MISSING if parameter.default is inspect.Parameter.empty else parameter.default
        for parameter in parameters
    )
    assert defaults == function.defaults
    doc = SESSION.docs[name]
    said = ours.__doc__.partition("\n\n")[0]
    assert " ".join(said.split()) == doc[0].upper() + doc[1:]
    assert doc[1:40] in pydoc.render_doc(ours, renderer=pydoc.plaintext)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("all_of_them", [False, True], ids=["defaults", "every argument"])
def test_a_call_builds_the_node_of_the_text(name: str, all_of_them: bool) -> None:
    function = FUNCTIONS[name]
    given = [
        (parameter, *ARGUMENTS.get(parameter, ANY))
        for parameter, default in zip(function.parameters, function.defaults, strict=True)
        if all_of_them or default is MISSING
    ]
    by_text = rasp.run(f"it = {name}({', '.join(text for _, _, text in given)});")["it"]
    assert getattr(lib, name)(*(value for _, value, _ in given)).node is by_text.node
    assert getattr(lib, name)(**{key: value for key, value, _ in given}).node is by_text.node


@pytest.mark.parametrize("name", [name for name in LIBRARY if name not in FUNCTIONS])
def test_values_are_the_librarys(name: str) -> None:
    assert getattr(lib, name).node is LIBRARY[name]


def test_atoms_in_give_a_constant() -> None:
    assert (lib.max(2, 3) + indices)("ab") == [3, 4]
    assert lib.pow(2, 10)("ab") == [1024, 1024]


def test_functions_of_a_text_can_be_asked_for_help() -> None:
    move = rasp.run("# seq moved right\ndef move(seq, steps=1) { return seq; }")["move"]
    assert str(inspect.signature(move)) == "(seq, steps=1)"
    assert move.__name__ == "move"
    assert move.__doc__ == "seq moved right"
    assert "seq moved right" in pydoc.render_doc(move, renderer=pydoc.plaintext)
