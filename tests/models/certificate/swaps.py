"""A model in; changes of its program, claims, arrays and settings out, and whether the checker
accepts them: what it accepts, the model must answer right.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from changes import disturbed, rescaled, stories, swaps, weaker
from mutants import with_arrays

from models import Arrays, all_inputs, verdict
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import Node, SOp, expression
from rasp.models.certificate import Verdict
from rasp.models.certificate.claims import Claims
from rasp.models.compiler import Transformer
from rasp.models.compiler.model.vocabulary_inputs import keeps_promise
from rasp.models.compiler.settings import Settings


@dataclass(frozen=True)
class Trial:
    """What was changed, whether the checker accepts it, and what is wrong with that."""

    what: str
    accepted: bool
    why: str = ""


@dataclass(frozen=True)
class Case:
    """A model, a program and claims, of which some belong to another."""

    what: str
    settings: Settings
    outputs: dict[str, Node]
    claims: Claims
    arrays: Arrays


def judge(
    model: Transformer, outputs: dict[str, Node], count: int, chooser: random.Random
) -> Iterator[Trial]:
    """Try so many changes of a model."""
    honest = honest_case(model, outputs)
    believed = [honest]
    kinds = [_of_program, _of_program, _of_settings, _of_claims, _of_claims, _of_arrays]
    for _ in range(count):
        case = chooser.choice(kinds)(chooser.choice(believed), chooser)
        if case is None:
            continue
        trial = tried(model, case)
        if trial.accepted and not trial.why and case.claims is not honest.claims:
            believed = [*believed[-6:], case]  # who believes this may believe more
        yield trial


def honest_case(model: Transformer, outputs: dict[str, Node]) -> Case:
    """A model as it is."""
    return Case("", model.settings, outputs, model.claims, model.weights.arrays())


def change(case: Case, chooser: random.Random) -> Case:
    """Another program or other claims."""
    return chooser.choice([_of_program, _of_claims])(case, chooser) or case


def _of_program(case: Case, chooser: random.Random) -> Case | None:
    every = list(swaps(case.outputs, case.settings.vocabulary))
    if not every:
        return None
    swap = chooser.choice(every)
    carry = swap.carry()
    outputs = {name: carry(node) for name, node in case.outputs.items()}
    if not all(isinstance(node, SOp) for node in outputs.values()):
        return None
    claims = chooser.choice(list(stories(case.claims, swap)))
    what = f"{case.what}; {expression(swap.old)} -> {expression(swap.new)}"
    return replace(case, what=what, outputs=outputs, claims=claims)


def _of_settings(case: Case, chooser: random.Random) -> Case | None:
    old = case.settings
    changes: list[dict[str, Any]] = [
        {"vocabulary": old.vocabulary[::-1]}, {"vocabulary": (*old.vocabulary[:-1], "~")},
        {"bos": None if old.bos is not None else old.vocabulary[-1]}, {"causal": not old.causal},
        {"max_length": old.max_length - 1}, {"max_length": old.max_length + 1},
    ]  # fmt: skip
    if old.where is not None:
        others = list(swaps({"where": old.where}, old.vocabulary))
        swap = chooser.choice(others)
        changes += [{"where": None}, {"where": swap.carry()(old.where)}]
    change = chooser.choice(changes)
    if change.get("max_length") == 0:
        return None
    what = f"{case.what}; { ({key: str(value) for key, value in change.items()}) }"
    return replace(case, what=what, settings=replace(old, **change))


def _of_claims(case: Case, chooser: random.Random) -> Case:
    claims = case.claims
    parts = {"variables": claims.variables, "over": claims.over, "heads": claims.heads,
             "aggregates": claims.aggregates, "groups": claims.groups, "outputs": claims.outputs,
             "spare": claims.spare, "choices": claims.choices}  # fmt: skip
    found = weaker(parts, len(claims.variables), chooser)
    changed = [key for key in parts if found[key] != parts[key]]
    return replace(case, what=f"{case.what}; other {changed}", claims=Claims(**found))


def _of_arrays(case: Case, chooser: random.Random) -> Case | None:
    found = chooser.choice([disturbed, disturbed, rescaled])(case.arrays, chooser)
    return found and replace(case, what=f"{case.what}; {found[0]}", arrays=found[1])


def tried(model: Transformer, case: Case) -> Trial:
    """Ask the checker, and compare with the program on every input if it agrees."""
    other = with_arrays(model, case.arrays)
    other.settings = case.settings
    found = verdict(other, case.outputs, claims=case.claims)
    if not found.holds:
        return Trial(case.what, False)
    return Trial(case.what, True, _difference(other, case.outputs, found))


def _difference(model: Transformer, outputs: dict[str, Node], found: Verdict) -> str:
    """Where a model does not answer as a program does, on an input of the statement."""
    inputs = [tokens for tokens in all_inputs(model) if keeps_promise(model.settings, tokens)]
    for tokens in inputs:
        try:
            values = evaluate(list(outputs.values()), tokens)
        except EvaluationError:
            if found.total:
                return f"no value on {tokens}, and every input is said to have one"
            continue
        ids = model.token_ids(list(tokens))[None]
        with np.errstate(all="ignore"):
            answers = model.answers(ids)
        for name, node in outputs.items():
            wanted, given = values[node], answers[name][0]
            if wanted != given or not (found.wider or [*map(type, wanted)] == [*map(type, given)]):
                return f"on {tokens}: {given} for {wanted}"
    return ""
