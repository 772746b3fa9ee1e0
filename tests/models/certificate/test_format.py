"""The page about the format is enough to run a model: its code does, in a process without rasp."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from models import KINDS, expected, model_of
from rasp.base.atoms import to_python

PAGE = Path(__file__).parents[3] / "docs" / "model-format.md"
RUN = """
import sys
assert "rasp" not in sys.modules
folder, inputs = sys.argv[1], json.loads(sys.argv[2])
print(json.dumps([run(folder, given) for given in inputs]))
"""


def code_of_the_page() -> str:
    first, *_ = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return first


def test_the_code_of_the_page_is_short() -> None:
    assert len([line for line in code_of_the_page().splitlines() if line.strip()]) <= 65


@pytest.mark.parametrize(
    "name", ["lone pick", "bos", "causal", "two outputs", "no sink", "numbers"]
)
def test_the_page_is_enough_to_run_a_model(name: str, tmp_path: Path) -> None:
    model, outputs = model_of(name)
    model.save(tmp_path)
    inputs = list(expected(name))[-12:]
    script = tmp_path / "run.py"
    script.write_text(code_of_the_page() + RUN)
    given = json.dumps([[to_python(token) for token in tokens] for tokens in inputs])
    done = subprocess.run([sys.executable, "-I", str(script), str(tmp_path), given],
                          capture_output=True, text=True, check=True)  # fmt: skip
    for tokens, answers in zip(inputs, json.loads(done.stdout), strict=True):
        wanted = [[to_python(atom) for atom in row] for row in expected(name)[tokens]]
        assert [answers[output] for output in outputs] == wanted
        assert set(answers) == set(outputs)
    assert name in KINDS
