"""Whatever relations and columns a check has found are true of every input: found by looking."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from robust_models import robust_kinds, robust_model
from swaps import Case, change, honest_case

from models import all_inputs
from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import Select, SelectorAnd, SelectorNot, SelectorOr, SOp, score_terms
from rasp.models.certificate.claims import INDEX, TOKEN, Refused
from rasp.models.checker.aggregated import Given
from rasp.models.checker.program_facts import ProgramFacts
from rasp.models.checker.relations import LENGTH, kinds, typed
from rasp.models.checker.theorem import NONSENSE, ModelCheck
from rasp.models.compiler.model.vocabulary_inputs import keeps_promise

pytestmark = pytest.mark.slow
UNKNOWN = object()


class Looked:
    """One input, and what every variable is there."""

    def __init__(self, facts: ProgramFacts, tokens: tuple[Atom, ...]) -> None:
        self.facts, self.tokens, self.memo = facts, tokens, dict[Any, Any]()

    def node(self, node: Any) -> list[Any]:
        if node not in self.memo:
            try:
                self.memo[node] = evaluate([node], self.tokens)[node]
            except (EvaluationError, RaspError):
                self.memo[node] = [UNKNOWN] * len(self.tokens)
        return self.memo[node]

    def holds(self, selector: Any, key: int, query: int) -> bool:
        match selector:
            case Select(keys, queries, _):
                if UNKNOWN in (*self.node(keys), *self.node(queries)):
                    raise LookupError
                return bool(evaluate([selector], self.tokens)[selector][query][key])
            case SelectorAnd(left, right):
                return self.holds(left, key, query) and self.holds(right, key, query)
            case SelectorOr(left, right):
                return self.holds(left, key, query) or self.holds(right, key, query)
            case SelectorNot(inner):
                return not self.holds(inner, key, query)
        raise LookupError

    def given(self, given: Given, query: int) -> list[Any]:
        """The atoms that something aggregated may be."""
        pick, size = given.pick, len(self.tokens)
        keys = [key for key in range(size) if not (pick.is_causal and key > query)
                and all(self.holds(node, key, query) for node in pick.selectors)]  # fmt: skip
        if pick.best is not None and keys:
            terms = score_terms(pick.best)
            worth = {key: sum(self.node(term.keys)[key] * self.node(term.queries)[query]
                              for term in terms) for key in keys}  # fmt: skip
            keys = [key for key in keys if worth[key] == max(worth.values())]
        values = [self.node(given.values)[key] for key in keys]
        if UNKNOWN in values:
            raise LookupError
        if given.is_sum:
            return [Fraction(sum(map(Fraction, values)))]
        if not values:
            return [given.default]
        if len(values) == 1:
            return values
        if any(isinstance(value, (str, bool)) for value in values):
            raise LookupError
        return [Fraction(sum(values)) / len(values)]

    def atoms(self, name: int, at: int) -> list[Any]:
        facts = self.facts
        if name in (TOKEN, INDEX, LENGTH):
            return [{TOKEN: self.tokens[at], INDEX: at, LENGTH: len(self.tokens) - 1}[name]]
        if name < LENGTH:
            found = {number: given for given, number in facts.numbers.items()}
            return self.given(found[name], at)
        node = facts.node_of(name)
        atoms = (
            self.node(node)[at : at + 1] if node is not None else self.given(facts.given(name), at)
        )
        if UNKNOWN in atoms:
            raise LookupError
        return atoms


def untrue(facts: ProgramFacts, tokens: tuple[Atom, ...]) -> Iterator[str]:
    """Relations and columns that are not so on an input."""
    looked = Looked(facts, tokens)
    relations = [*facts.space_of.known.values(), *facts.output_rows.known.values(),
                 *facts.fact.known.values()]  # fmt: skip
    tables = [(node, *found) for (node, _), found in facts.table.known.items() if found is not None]
    for at in range(len(tokens)):
        for relation in relations:
            states = states_of(looked, relation.names, at)
            if states is not None and not any(row in states for row in relation.rows.tolist()):
                yield f"{relation.names} at {at}"
        for node, relation, column in tables:
            states, value = states_of(looked, relation.names, at), looked.node(node)[at]
            if states is None or value is UNKNOWN:
                continue
            rows = [place for place, row in enumerate(relation.rows.tolist()) if row in states]
            held = [column.atoms[column.places[place]] for place in rows]
            known = [typed(one) for atom in held for one in
                     (kinds(atom) if column.loose else [atom])]  # fmt: skip
            if typed(value) not in known:
                yield f"{node} over {relation.names} at {at}: {held}, not {value}"


def states_of(looked: Looked, names: tuple[int, ...], at: int) -> list[list[int]] | None:
    """The rows that variables may be at a position; None where that is not known."""
    rows: list[list[int]] = [[]]
    try:
        for name in names:
            domain = [typed(atom) for atom in looked.facts.domain(name)] if name >= LENGTH else [
                typed(atom) for atom in looked.facts.atoms[name]]  # fmt: skip
            found = [domain.index(typed(one)) for atom in looked.atoms(name, at)
                     for one in (kinds(atom) if name in looked.facts.loose else [atom])
                     if typed(one) in domain]  # fmt: skip
            if not found:
                return [[-9] * len(names)]
            rows = [[*row, state] for row in rows for state in found]
    except LookupError:
        return None
    return rows


def look_further(facts: ProgramFacts, case: Case) -> None:
    """Look at more variables together than the weights ask for."""
    for name in range(len(case.claims.variables)):
        try:
            facts.space([name, TOKEN, INDEX])
        except (Refused, *NONSENSE):
            continue
    for node in case.outputs.values():
        try:
            assert isinstance(node, SOp)
            facts.column(node, facts.space(facts.over(node)))
        except (Refused, *NONSENSE):
            continue


@pytest.mark.parametrize("name", robust_kinds())
def test_what_is_believed_of_a_model_is_so_on_every_input(name: str) -> None:
    model, outputs = robust_model(name)
    chooser, case = random.Random(name), honest_case(model, outputs)
    for number in range(6):
        settings = case.settings
        check = ModelCheck(model.weights.arrays(), case.outputs, settings, model.readouts,
                           case.claims)  # fmt: skip
        assert check.verdict().holds or number
        if "facts" in vars(check):
            facts = check.facts
            look_further(facts, case)
            for tokens in inputs_of(model, case):
                assert [*untrue(facts, tokens)] == [], (case.what, tokens)
        case = change(honest_case(model, outputs), chooser)


def inputs_of(model: Any, case: Case) -> list[tuple[Atom, ...]]:
    """The inputs in question, on which the program has a value."""
    found = []
    for tokens in random.Random(0).sample(all_inputs(model), min(40, len(all_inputs(model)))):
        try:
            evaluate([*case.outputs.values()], tokens)
        except (EvaluationError, RaspError):
            continue
        if keeps_promise(case.settings, tokens):
            found.append(tokens)
    return found
