"""Small models of the robust style, of every kind, and what the checker says of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from models import KINDS, Arrays, Kind, compiled, outputs_of
from rasp.base.errors import RaspError
from rasp.language.graph import Node
from rasp.models.certificate import Verdict
from rasp.models.certificate.claims import Claims
from rasp.models.checker.theorem import check_model
from rasp.models.compiler import Transformer

MORE = {
    "three letters": Kind('out = "x" if tokens == "a" and indices > 1 else tokens;', "abc", 3),
    "sorted": Kind("out = sort(tokens, tokens);", "abc", 4),
    "most of them": Kind('out = count(tokens, "a") > count(tokens, "b");', "ab", 4),
    "nested brackets": Kind(
        'd = num_prevs(tokens == "(") - num_prevs(tokens == ")"); out = d < 0;', "()", 4
    ),
    "a mean of numbers": Kind("out = round(mean(tokens));", [0, 1, 5], 3),
    "best of all": Kind(
        "out = aggregate(select_best(select(tokens, tokens, ==), score(indices, -1)), indices);"
    ),
    "large numbers": Kind(
        "out = aggregate(select(indices, 0, ==), 2 ** 53 if tokens == \"a\" else 2 ** 53 + 1);"
    ),
}  # fmt: skip
PLAIN = {"style": "robust"}
OPEN = {"default", "robust default", "an extra block"}
"""What the checker does not follow: claimed outputs that no channel moves; and heads that pick by
bits and may pick nothing, since it takes the highest score of any query for that of the query that
picks nothing, and so does not see that the sink wins."""


@cache
def robust_kinds() -> dict[str, Kind]:
    """The kinds of model that the robust style has."""
    found = {}
    for name, kind in {**KINDS, **MORE}.items():
        options = {key: value for key, value in kind.options.items() if key != "heads"} | PLAIN
        if name in OPEN:
            continue
        robust = replace(kind, options=options, way="")
        try:
            compiled(robust)
        except RaspError:
            continue
        found[name] = robust
    return found


@cache
def robust_model(name: str) -> tuple[Transformer, dict[str, Node]]:
    model = compiled(robust_kinds()[name])
    return model, outputs_of(model)


def verdict(
    model: Transformer, outputs: dict[str, Node], arrays: Arrays | None = None,
    claims: Claims | None = None,
) -> Verdict:  # fmt: skip
    """What the checker says of a model, perhaps with other arrays or claims."""
    found = model.weights.arrays() if arrays is None else arrays
    claims = model.claims if claims is None else claims
    return check_model(found, outputs, model.settings, model.readouts, claims)
