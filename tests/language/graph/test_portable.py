"""Graphs and atoms as plain data: they come back as they were, and anything else is refused."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import pytest

from rasp.base.errors import RaspValueError
from rasp.language.graph.portable import atom_from_json, atom_to_json, graph_from_json


@pytest.mark.parametrize("atom", [True, False, 1, -(10**40), Fraction(-1, 3), "", "é"])
def test_an_atom_survives_json_with_its_kind(atom: Any) -> None:
    found = atom_from_json(json.loads(json.dumps(atom_to_json(atom))))
    assert (type(found), found) == (type(atom), atom)


@pytest.mark.parametrize(
    "data", [None, [], ["int", 1], ["bool", 1], ["float", "1e999999999"], ["atom", "1"], "int"]
)
def test_what_is_no_atom_is_refused(data: object) -> None:
    with pytest.raises(RaspValueError, match="an atom in it is damaged"):
        atom_from_json(data)


BASE = [
    {"kind": "Tokens", "needs": []},
    {"kind": "Select", "needs": [0, 0], "op": "=="},
    {"kind": "Score", "needs": [0, 0]},
]


@pytest.mark.parametrize(
    "node",
    [
        {"kind": "Tokens", "needs": [0]},
        {"kind": "Elementwise", "needs": [0], "op": "+"},
        {"kind": "Elementwise", "needs": [0, 1], "op": "+"},
        {"kind": "Elementwise", "needs": [0, 0], "op": "system"},
        {"kind": "Elementwise", "needs": [0, 3], "op": "+"},
        {"kind": "Elementwise", "needs": [0, -1], "op": "+"},
        {"kind": "Elementwise", "needs": [0, 0], "op": []},
        {"kind": "Select", "needs": [0, 0], "op": "+"},
        {"kind": "Select", "needs": [0, 1], "op": "=="},
        {"kind": "Score", "needs": [0, 1]},
        {"kind": "SelectBest", "needs": [1, 1]},
        {"kind": "SelectorNot", "needs": [0]},
        {"kind": "SelectorAnd", "needs": [1, 0]},
        {"kind": "SelectorOr", "needs": [1, 2]},
        {"kind": "Aggregate", "needs": [0, 0], "default": ["int", "0"]},
        {"kind": "Aggregate", "needs": [1, 0], "default": ["int", "0x10"]},
        {"kind": "TokensAs", "needs": [], "read_as": "code"},
        {"kind": "Const", "needs": []},
        {"kind": "Const", "needs": [], "value": ["float", "1/0"]},
        {"kind": "eval", "needs": []},
        {"needs": []},
        [],
    ],
)
def test_a_node_that_no_program_has_is_refused(node: object) -> None:
    data = {"nodes": [*copy.deepcopy(BASE), node], "outputs": {"out": 0}}
    with pytest.raises(RaspValueError, match=r"(a node|an atom|its program) in it is damaged"):
        graph_from_json(data)
