"""The paper's tasks as weights: the predicted shape, small, certified, and never wrong."""

from __future__ import annotations

import random

import numpy as np
import pytest
from paper_programs import TASKS, Task

import rasp
from rasp.compiler import Transformer, compile
from rasp.compiler.certificate import random_input
from rasp.errors import RaspError

JOINT = ("hist, no sink", "sort, one head")
"""Tasks whose first layer compares the token and the index jointly: they need `+FF0`."""


def compiled(task: Task, length: int) -> Transformer:
    return compile(
        rasp.run(task.text)["out"],
        vocabulary=task.vocabulary,
        max_length=length,
        causal=task.causal,
        heads=task.heads,
        sink=task.sink,
    )


@pytest.mark.parametrize("name", TASKS)
def test_a_task_has_the_predicted_layers_and_no_more_heads(name: str) -> None:
    model = compiled(TASKS[name], 9)
    predicted = TASKS[name].heads_per_layer
    assert model.layers == len(predicted)
    assert all(found <= most for found, most in zip(model.heads_per_layer, predicted, strict=True))
    assert (model.input_feed_forward > 0) == (name in JOINT)


@pytest.mark.parametrize("name", [name for name in TASKS if name not in JOINT])
def test_a_task_is_certified_small_and_right_at_length_40(name: str) -> None:
    task = TASKS[name]
    model = compiled(task, 40)
    assert model.certificate is not None
    assert model.certificate.exact, model.certificate
    assert model.parameter_count <= task.parameters
    program = rasp.run(task.text)["out"]
    chooser = random.Random(name)
    for _ in range(25):
        tokens = list(random_input(model.settings, chooser))
        try:
            expected = program(tokens)
        except RaspError:
            continue
        assert model(tokens) == expected


def test_a_sort_with_ties_in_one_head_says_that_it_needs_a_feed_forward_before_it() -> None:
    model = compile(rasp.run("out = sort(tokens, tokens);")["out"], vocabulary="abc", max_length=8)
    assert model.heads_per_layer == (1, 1)
    assert model.input_feed_forward > 0
    assert "+FF0" in repr(model)
    assert model("cabba") == ["a", "a", "b", "b", "c"]


def test_counts_are_exact_to_the_bit() -> None:
    model = compiled(TASKS["hist"], 40)
    ids = np.random.default_rng(0).integers(0, 10, (200, 40))
    single, double = model.run(ids, np.float32), model.run(ids, np.float64)
    rounded = np.round(double[:, 1:])
    assert (single[:, 1:] == rounded).all()


def test_a_program_with_a_bos_is_compiled_as_it_is_written() -> None:
    text = "out = selector_width(select(tokens, tokens, ==), assume_bos=True);"
    program = rasp.run(text)["out"]
    model = compile(program, vocabulary="abc", max_length=7, bos="§")
    for given in ("§", "§abca", "§aaaaaa"):
        assert model(given) == program(given)


def test_several_outputs_share_one_model() -> None:
    names = rasp.run("hist = histf(tokens); back = sort(tokens, tokens); n = length;")
    model = compile([names["hist"], names["back"], names["n"]], vocabulary="abc", max_length=5)
    assert model("caab") == {
        "hist": names["hist"]("caab"),
        "back": names["back"]("caab"),
        "n": names["n"]("caab"),
    }
