"""The paper's tasks as compiled models, and the packages that a test may lack."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "compiler"))

from paper_programs import TASKS

import rasp
from rasp.models.compiler import Transformer

WHOLE = ("reverse", "double hist", "most freq, split", "dyck-2, pure", "shuffle-dyck-2")
CAUSAL = ("dyck-1, causal", "frac_prevs, causal")


def needs(*packages: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


@cache
def compiled(name: str, length: int, style: str = "compact") -> Transformer:
    task = TASKS[name]
    return rasp.compile(
        rasp.run(task.text)["out"], vocabulary=task.vocabulary, max_length=length,
        causal=task.causal, heads=task.heads, sink=task.sink,
        style=style,
    )  # fmt: skip
