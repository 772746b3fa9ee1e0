"""Compiled programs trained further: exact before the first step, and measured after the last."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")

from rasp.models.compiler import compile  # noqa: E402
from rasp.models.training.paper_tasks import TASKS  # noqa: E402
from rasp.models.training.tasks import TrainingTask  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))
from compiled_start import (  # noqa: E402
    FineTuning,
    describe_fine_tuning,
    fine_tune,
    run_compiled,
)

pytestmark = pytest.mark.slow


def short(name: str) -> TrainingTask:
    task = TASKS[name]
    return replace(task, lengths=(1, 6), alphabet=task.alphabet[:3], clip=None)


@pytest.mark.parametrize("name", ["reverse", "hist_bos", "dyck_1"])
def test_a_compiled_model_answers_the_same_in_pytorch(name: str) -> None:
    task = short(name)
    model = compile(
        task.handle, vocabulary=list(task.vocabulary), max_length=task.longest, bos=task.bos
    )
    arrays = {key: torch.from_numpy(np.array(each, np.float32))
              for key, each in model.weights.arrays().items()}  # fmt: skip
    random = np.random.default_rng(0)
    for _ in range(10):
        body = random.integers(0, len(task.alphabet), random.integers(1, 7)).tolist()
        numbers = [len(task.alphabet), *body] if task.bos else body
        scores, _ = run_compiled(model, arrays, torch.tensor([numbers]))
        got = [model.readouts[0].atoms[each] for each in scores[0].argmax(dim=1).tolist()]
        assert got == model([task.vocabulary[number] for number in numbers])


def test_training_on_says_whether_the_program_was_kept() -> None:
    found = fine_tune(short("reverse"), FineTuning(rate=1e-4, steps=60, examples=300))
    assert found["before"]["tokens"] == 1 and found["after"]["moved"] > 0
    is_kept = "the program was kept" in describe_fine_tuning(found)
    assert is_kept == (found["after"]["tokens"] == 1)


def test_no_step_changes_nothing() -> None:
    found = fine_tune(short("hist_bos"), FineTuning(rate=0.0, steps=1, examples=100))
    assert found["before"] == found["after"] == {"tokens": 1, "attention_kept": 1, "moved": 0}
