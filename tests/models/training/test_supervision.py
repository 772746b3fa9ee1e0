"""Attention's targets: the plain evaluator's selections, normalised, in the schedule's heads."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")

from rasp.base.errors import RaspUnsupportedError  # noqa: E402
from rasp.language.evaluator import evaluate_plain  # noqa: E402
from rasp.models.training.data import as_inputs, make_data  # noqa: E402
from rasp.models.training.matching import hold_out  # noqa: E402
from rasp.models.training.paper_tasks import TASKS  # noqa: E402
from rasp.models.training.parameters import Shape  # noqa: E402
from rasp.models.training.supervision import plan_supervision  # noqa: E402
from rasp.models.training.tasks import TrainingTask  # noqa: E402

pytestmark = pytest.mark.slow

NOT_AND_BEST = """
far = select_best(not select(tokens, "a", ==) and select(indices, indices, !=), score(indices, -1));
far_token = aggregate(far, indices);
"""
NEAREST = """
nearest = aggregate(select_best(select(indices, indices, <=), closest(tokens, indices)), tokens);
"""


def tasks() -> list[TrainingTask]:
    own = TrainingTask("far", NOT_AND_BEST, "far_token", ("a", "b"), (1, 9))
    near = TrainingTask("near", NEAREST, "nearest", (0, 1, 2, 3), (1, 9))
    return [
        near,
        *(TrainingTask(**{**vars(task), "lengths": (1, 12)}) for task in TASKS.values()),
        own,
    ]


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.name)
def test_targets_are_the_plain_evaluators_selections_normalised(task: TrainingTask) -> None:
    data = make_data(task, 0, {"train": 50, "test": 20})
    held = hold_out(data, Shape(4, 4, 16, 16, 8, 8), 20, "cpu")
    test, plan = data.splits["test"], held.plan
    for each, (target, counts) in zip(held.selectors, held.targets, strict=True):
        for slot, tokens in enumerate(as_inputs(task, test.tokens, test.lengths)):
            length, start = len(tokens), plan.layout.cell_starts[slot]
            cells = slice(start, start + length**2)
            selection = np.array(evaluate_plain([each.selector], tokens)[each.selector], float)
            got = target[0, cells].reshape(length, length).numpy()
            counted = counts[0, cells].reshape(length, length).numpy()
            for query, row in enumerate(selection):
                if task.bos is not None and query == 0:
                    assert not counted[query].any()
                elif row.any():
                    assert counted[query].all()
                    assert got[query] == pytest.approx(row / row.sum())
                elif task.bos is None:
                    assert not counted[query].any()
                else:
                    assert counted[query].all() and got[query].tolist() == [1] + [0] * (length - 1)


def test_every_selector_of_the_schedule_has_a_head_of_its_layer() -> None:
    found = plan_supervision(TASKS["most_freq"], 3, 2)
    assert [(each.layer, each.head) for each in found.heads] == [(0, 0), (0, 1), (1, 0), (2, 0)]


def test_a_model_too_small_for_the_program_is_refused() -> None:
    with pytest.raises(RaspUnsupportedError, match="3 layers of 2 heads"):
        plan_supervision(TASKS["most_freq"], 2, 4)
