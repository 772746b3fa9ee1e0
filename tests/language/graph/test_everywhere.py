"""What is said to be the same at all positions is, in random programs, whatever the input."""

from __future__ import annotations

from rasp.language.evaluator import plain
from rasp.language.graph import SOp, in_order, is_everywhere
from strategies.programs import seeded_cases


def test_what_is_everywhere_has_one_value() -> None:
    found = 0
    for case in seeded_cases(60):
        every = [node for node in in_order(case.outputs.values()) if isinstance(node, SOp)]
        same = [node for node in every if node.needs and is_everywhere(node, lambda _: False)]
        for tokens in case.inputs if same else ():
            try:
                values = plain.evaluate(same, tokens)
            except plain.EvaluationError:
                continue
            assert all(len(set(map(repr, values[node]))) == 1 for node in same), (case, tokens)
            found += len(same)
    assert found > 100
