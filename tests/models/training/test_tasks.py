"""Tasks: targets are what the tasks mean, and data is the same whenever it is made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rasp.base.errors import RaspError, RaspTypeError, RaspValueError
from rasp.insight.schedule import schedule
from rasp.models.training.data import IGNORED, Examples, as_inputs, make_data
from rasp.models.training.paper_tasks import ROWS, TASKS
from rasp.models.training.tasks import TrainingTask

from .specifications import SPECIFICATIONS, dyck

pytestmark = pytest.mark.slow

SIZES = {"train": 300, "test": 100, "longer": 20}


@pytest.mark.parametrize("name", TASKS)
def test_the_program_gives_what_the_task_means(name: str) -> None:
    task = TASKS[name]
    data = make_data(task, 3, SIZES)
    skip = int(task.bos is not None)
    for split, examples in data.splits.items():
        for number, tokens in enumerate(inputs_of(task, examples)):
            got = examples.targets[number]
            wanted = SPECIFICATIONS[name](tokens[skip:])
            classes = [data.classes[each] if each >= 0 else None for each in got[: len(tokens)]]
            if skip:
                assert classes.pop(0) is None
            assert all(mine in (None, right) for mine, right in zip(classes, wanted, strict=True))
            assert split != "train" or None not in classes
            assert (got[len(tokens) :] == IGNORED).all()


@pytest.mark.parametrize("name", TASKS)
def test_the_schedule_gives_the_papers_size(name: str) -> None:
    found = schedule(TASKS[name].handle.node)
    assert (found.layers, found.width) == (ROWS[name].layers, ROWS[name].heads)


def test_inputs_are_drawn_as_the_paper_says() -> None:
    task = TASKS["sort"]
    examples = make_data(task, 0, {"train": 3000}).splits["train"]
    assert set(examples.lengths - 1) == set(range(1, 101))
    assert (examples.tokens[:, 0] == task.vocabulary.index("§")).all()
    body = examples.tokens[np.arange(101) < examples.lengths[:, None]]
    counts = np.bincount(body, minlength=101)[:100]
    assert counts.min() > 0.8 * counts.mean()


def test_longer_inputs_begin_where_training_ends() -> None:
    lengths = make_data(TASKS["hist"], 0, SIZES).splits["longer"].lengths
    assert lengths.min() > 100 and lengths.max() <= 200


@pytest.mark.parametrize("name", ["dyck_1", "dyck_2"])
def test_dyck_inputs_are_balanced_prefixes_and_random(name: str) -> None:
    task = TASKS[name]
    ends = [
        dyck(tokens)[-1] for tokens in inputs_of(task, make_data(task, 1, SIZES).splits["train"])
    ]
    shares = {end: ends.count(end) / len(ends) for end in "TPF"}
    assert shares["T"] > 0.25 and shares["P"] > 0.2 and shares["F"] > 0.2


def test_data_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    first, same, other = (make_data(TASKS["dyck_2"], seed, SIZES) for seed in (5, 5, 6))
    for split in SIZES:
        assert (first.splits[split].tokens == same.splits[split].tokens).all()
        assert (first.splits[split].targets == same.splits[split].targets).all()
    assert (first.splits["train"].tokens != other.splits["train"].tokens).any()
    assert (first.splits["train"].tokens[:100] != first.splits["test"].tokens[:100]).any()


def test_a_program_that_fails_on_its_inputs_says_where() -> None:
    task = TrainingTask("odd", "odd = 1 / (indices - 2);", "odd", ("a", "b"), lengths=(1, 5))
    with pytest.raises(
        RaspValueError, match="fails on an input of its own task: division by zero"
    ) as caught:
        make_data(task, 0, SIZES)
    assert caught.value.span is not None and "alphabet" in (caught.value.hint or "")


def test_too_many_classes_are_refused() -> None:
    task = TrainingTask(
        "many", "many = indices * 1000 + tokens_int;", "many", tuple(range(900)), (1, 9)
    )
    with pytest.raises(RaspValueError, match="too many for classes"):
        make_data(task, 0, SIZES)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alphabet": ()}, "needs tokens"),
        ({"alphabet": ("a", "a")}, "needs tokens"),
        ({"lengths": (4, 2)}, "cannot be drawn"),
        ({"way": "by magic"}, "not a way to draw"),
        ({"bos": "a", "alphabet": ("a",)}, "is in the alphabet"),
    ],
)
def test_tasks_that_cannot_be_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(RaspValueError, match=message):
        replace(TASKS["hist"], **change)


def test_only_an_s_op_can_be_learnt() -> None:
    task = TrainingTask("selects", "same = select(tokens, tokens, ==);", "same", ("a", "b"))
    with pytest.raises(RaspTypeError, match="not an s-op"):
        make_data(task, 0, SIZES)
    with pytest.raises(RaspError, match="has no `other`"):
        make_data(replace(task, output="other"), 0, SIZES)


def inputs_of(task: TrainingTask, examples: Examples) -> list[tuple[str, ...]]:
    return as_inputs(task, examples.tokens, examples.lengths)  # type: ignore[return-value]
