"""An answer that depends on too many sums for a table is read from the sums themselves."""

from __future__ import annotations

import pytest
from agreement import assert_agrees

import rasp
import rasp.teaching.gallery
from rasp.base.errors import RaspUnsupportedError
from rasp.models.compiler import compile
from rasp.models.compiler.analysis import joint_states

COUNTS = "".join(f"n{each} = num_prevs(tokens == {each});\n" for each in range(4)) + (
    "less = round((indices + 1) * aggregate(select(indices, indices, <=), 1 - tokens));\n"
)


@pytest.fixture(autouse=True)
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_states, "MOST_STATES", 60)


@pytest.mark.parametrize("text", [
    "out = 2 ^ n0 * 3 ^ n1 * 5 ^ n2;",
    "out = 0 if n3 > 0 else 2 ^ n0 * 3 ^ n1 * 5 ^ n2;",
    "out = n0 * n1 * n2 + n3;",
    'out = "odd" if (n0 * n1 + n2) % 2 == 1 else "even";',
    "out = less * n1 * n2;",
    "out = n0 / (n1 * n2 + n3 + 1);",
])  # fmt: skip
def test_an_answer_is_read_from_sums(text: str) -> None:
    node = rasp.run(COUNTS + text)["out"].node
    model = compile({"out": node}, vocabulary=[0, 1, 2, 3], max_length=5, style="compact")
    assert model.certificate is not None and model.certificate.exact
    assert_agrees(model, node)


@pytest.mark.parametrize("text", [
    "out = aggregate(select(indices, 0, ==), n0 * n1 * n2);",
    "out = n0 * n1 * n2 * indices;",
    "out = n0 * n1 * aggregate(select(indices, indices, <), tokens);",
])  # fmt: skip
def test_what_is_no_answer_from_exact_sums_is_refused(text: str) -> None:
    with pytest.raises(RaspUnsupportedError, match="combinations of values"):
        compile(
            rasp.run(COUNTS + text)["out"], vocabulary=[0, 1, 2, 3], max_length=5, style="compact"
        )
