"""Small models of every kind, for tests that change them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

import rasp
from rasp.base.atoms import Atom
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import Node
from rasp.models.certificate import Verdict, check
from rasp.models.certificate.claims import Claims
from rasp.models.compiler import Transformer, build, compact
from rasp.models.compiler.model.vocabulary_inputs import keeps_promise
from rasp.models.compiler.settings import read_settings

Arrays = dict[str, np.ndarray]
Answers = dict[tuple[Atom, ...], list[list[Atom]]]


@dataclass(frozen=True)
class Kind:
    """A program whose s-ops `out`, or `out` and `also`, are compiled, for inputs on which `promise`
    holds, if it has one."""

    text: str
    alphabet: Any = "ab"
    length: int = 4
    options: dict[str, Any] = field(default_factory=dict)
    way: str = ""
    """What is to be done, needed or not: a "careful" plan, or "extra" feed-forward blocks."""


AB = ("a", "b")
PREVIOUS = 'out = aggregate(select(indices, indices - 1, ==), tokens, "?");'
KINDS = {
    "embedding": Kind('out = tokens if tokens == "a" else "c";', "abc", 3),
    "mean": Kind('out = aggregate(select(indices, indices, <=), indicator(tokens == "a"));'),
    "sum": Kind("out = selector_width(select(tokens, tokens, ==));", "abc", 4),
    "lone pick": Kind("out = aggregate(select(indices, length - 1 - indices, ==), tokens);"),
    "default": Kind(PREVIOUS),
    "select_best": Kind(
        'out = aggregate(select_best(select(tokens, "a", ==), score(indices, 1)), indices, -1);'
    ),
    "best beside a condition": Kind(
        'out = aggregate(select_best(select(tokens, "a", !=), score(indices, 1)), indices, -1);',
        "abc", 3,
    ),
    "two conditions": Kind(
        "out = aggregate(select(tokens, tokens, ==) and select(indices, indices, <), indices, -1);"
    ),
    "two conditions without a sink": Kind(
        "out = aggregate(select(tokens, tokens, ==) and select(indices, indices, <=), indices);",
        "ab", 4, {"sink": False},
    ),
    "a count is moved": Kind(
        'c = (tokens == "a") and (indices == 0) and (length > 1); '
        "out = aggregate(select(indices, 0, ==), c);", "ab", 3,
    ),
    "causal": Kind(
        'out = num_prevs(tokens == "a") - num_prevs(tokens == "b");', "ab", 4, {"causal": True}
    ),
    "no sink": Kind("out = aggregate(select(indices, 0, ==), tokens);", "ab", 4, {"sink": False}),
    "width without a sink": Kind(
        "out = selector_width(select(tokens, tokens, ==));", "ab", 4, {"sink": False}
    ),
    "two outputs": Kind("also = aggregate(select(indices, 0, ==), tokens); out = length;"),
    "split heads": Kind(
        "s = select(tokens, tokens, <) or select(tokens, tokens, ==) and "
        "select(indices, indices, <); out = selector_width(s);",
        "ab", 4, {"heads": "split"},
    ),
    "one head for an or": Kind(
        "s = select(tokens, tokens, <) or select(tokens, tokens, ==) and "
        "select(indices, indices, <); out = selector_width(s);", "ab", 3,
    ),
    "bos": Kind("out = selector_width(select(tokens, tokens, ==), assume_bos=True);", "ab", 4,
                {"bos": "§"}),
    "counts compared": Kind(
        'out = num_prevs(tokens == "a") > num_prevs(tokens == "b") and indices > 0;'
    ),
    "two layers of counts": Kind("out = histf(histf(tokens));", "abc", 4),
    "rounded counts": Kind("out = histf(histf(tokens));", "abc", 4, way="careful"),
    "rounded picks": Kind(
        'at = (indices + count(tokens, "a")) % length; '
        "out = aggregate(select(indices, at, ==), tokens);", way="careful",
    ),
    "direct read-out": Kind(
        'out = tokens if count(tokens, "a") > indices else "?";', "ab", 3, way="careful",
    ),
    "an extra block": Kind(
        'few = count(tokens, "a") > indices; out = (count(tokens, "b") if indices > 1 else '
        'indices) if few else count(tokens, "a");', "ab", 3, way="extra",
    ),
    "a promise": Kind(
        'promise = tokens != "a" and count(tokens, "b") < 2; '
        'out = aggregate(select(tokens, "b", ==), indices, -1);', "abc", 3,
    ),
    "codes": Kind('out = 1000 * count(tokens, "a") + indicator(tokens == "b");', "ab", 3),
    "next token": Kind(PREVIOUS.replace("?", "a"), "ab", 3, {"next_token": True}),
    "numbers": Kind("out = 2 * tokens + indices;", [0, 1, 3], 3),
    "robust sum": Kind("out = histf(histf(tokens));", "abc", 4, {"style": "robust"}),
    "robust pick": Kind("out = aggregate(select(indices, length - 1 - indices, ==), tokens);",
                        "ab", 4, {"style": "robust"}),
    "robust mean": Kind(
        'out = aggregate(select(indices, indices, <=), indicator(tokens == "a"));', "ab", 4,
        {"style": "robust"},
    ),
    "robust default": Kind(PREVIOUS, "ab", 4, {"style": "robust"}),
}  # fmt: skip
"""Every kind of head, read-out and option."""


@cache
def model_of(name: str) -> tuple[Transformer, dict[str, Node]]:
    model = compiled(KINDS[name])
    return model, outputs_of(model)


def compiled(kind: Kind) -> Transformer:
    names = rasp.run(kind.text)
    wanted = {key: names[key] for key in ("out", "also") if f"{key} =" in kind.text}
    if kind.way:
        return _compiled_so(kind, wanted)
    options = {"style": "compact"} | kind.options
    if "promise" in names:
        options |= {"where": names["promise"]}
    return rasp.compile(wanted, alphabet=kind.alphabet, max_length=kind.length, **options)


def _compiled_so(kind: Kind, wanted: dict[str, Any]) -> Transformer:
    settings = read_settings(kind.alphabet, kind.length, None, False, True, "paper", "compact")
    nodes, program = build.read_outputs(wanted, None)
    settings = replace(settings, extra_feed_forwards=int(kind.way == "extra"))
    return compact.attempt(nodes, settings, program, is_careful=kind.way == "careful")


def outputs_of(model: Transformer) -> dict[str, Node]:
    return dict(model.outputs)


def verdict(
    model: Transformer, outputs: dict[str, Node], arrays: Arrays | None = None,
    claims: Claims | None = None,
) -> Verdict:  # fmt: skip
    """What the checker says of a model, perhaps with other arrays or claims."""
    found = model.weights.arrays() if arrays is None else arrays
    claims = model.claims if claims is None else claims
    return check(found, outputs, model.settings, model.readouts, claims)


def all_inputs(model: Transformer) -> list[tuple[Atom, ...]]:
    settings = model.settings
    tokens = settings.vocabulary[:-1] if settings.bos is not None else settings.vocabulary
    found: list[tuple[Atom, ...]] = []
    for length in range(1, settings.max_length + 1):
        if settings.bos is None:
            found += itertools.product(tokens, repeat=length)
        else:
            found += [
                (settings.bos, *rest) for rest in itertools.product(tokens, repeat=length - 1)
            ]
    return found


@cache
def expected(name: str) -> Answers:
    return expected_of(*model_of(name))


def expected_of(model: Transformer, outputs: dict[str, Node]) -> Answers:
    """What the program answers on every input on which it has a value."""
    found = {}
    for tokens in all_inputs(model):
        if not keeps_promise(model.settings, tokens):
            continue
        try:
            values = evaluate(list(outputs.values()), tokens)
        except EvaluationError:
            continue
        found[tokens] = [values[node] for node in outputs.values()]
    return found


def mistakes(name: str, model: Transformer) -> int:
    """On how many of all inputs a model does not answer as the program does."""
    return mistakes_in(model, expected(name))


def mistakes_in(model: Transformer, wanted: Answers) -> int:
    wrong = 0
    by_length: dict[int, list[tuple[Atom, ...]]] = {}
    for tokens in wanted:
        by_length.setdefault(len(tokens), []).append(tokens)
    for inputs in by_length.values():
        ids = np.stack([model.token_ids(list(tokens)) for tokens in inputs])
        with np.errstate(all="ignore"):
            answers = model.answers(ids)
        for place, tokens in enumerate(inputs):
            wrong += [rows[place] for rows in answers.values()] != wanted[tokens]
    return wrong
