"""A row that is added to the table works in text, Python, arrays, random programs and weights.

The row is added in a process of its own, before anything has read the table.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from repository import ROOT

SCRIPT = """
import math
from rasp.language.operators.table import OPERATORS, Operator

OPERATORS["gcd"] = Operator(
    "gcd", 2, lambda x, y: math.gcd(int(x), int(y)), "int", "rasp.gcd",
    doc="gcd(x, y): the greatest int that divides both",
)

OPERATORS["upper"] = Operator(
    "upper", 1, lambda x: str(x).upper(), "string", "rasp.upper",
    never_fails_on="any", doc="upper(x): in capitals",
)

import rasp
from strategies.programs import seeded_cases
from rasp.language.evaluator.fast.evaluate import evaluate
from rasp.language.graph import Elementwise, in_order

assert rasp.compile(rasp.upper(rasp.tokens), vocabulary="ab", max_length=4)("abba") == list("ABBA")
WANTED = [6, 1, 2, 3]
by_text = rasp.run("gcd_of_six = gcd(indices, y=6); atom = gcd(4, 6);")["gcd_of_six"]
assert by_text.node is rasp.gcd(rasp.indices, 6).node
assert by_text("abba") == WANTED and "divides both" in rasp.gcd.__doc__
assert evaluate([by_text.node], [tuple("abba")])[by_text.node] == [WANTED]
assert rasp.run(rasp.to_rasp(by_text, "again"))["again"].node is by_text.node
nodes = (node for case in seeded_cases(400) for node in in_order(case.outputs.values()))
assert {"gcd", "upper"} <= {node.op for node in nodes if isinstance(node, Elementwise)}
assert {"gcd", "upper"} <= {*dir(rasp)}
for style in ("compact", "robust"):
    model = rasp.compile(by_text, vocabulary="ab", max_length=4, style=style)
    assert model("abba") == WANTED
    assert "exact for all inputs" in model.certificate.statement, style
"""


@pytest.mark.slow
def test_a_row_is_all_that_an_operator_needs() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path])},
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
