"""The paper's tasks as weights: the predicted shape, small, certified, and never wrong."""

from __future__ import annotations

import random
from itertools import product

import pytest
from paper_programs import TASKS, Task

import rasp
from rasp.base.errors import RaspError
from rasp.models.compiler import Transformer, compile
from rasp.models.compiler.model.certificate import CheckedBlock
from rasp.models.compiler.model.vocabulary_inputs import random_input

JOINT = ("sort, one head",)
"""Tasks whose first layer compares the token and the index jointly: they need `+FF0`."""
WIDTHS = {
    "an equality": "histf(tokens)",
    "an order": "selector_width(select(tokens, tokens, <=))",
    "a conjunction": "selector_width(select(tokens, tokens, ==) and select(indices, indices, <=))",
    "a disjunction": "selector_width(select(tokens, tokens, ==) or select(tokens, 'a', ==))",
    "two of them": "histf(tokens) + 10 * selector_width(select(tokens, tokens, >=))",
    "its two aggregates": """\
        3 * aggregate(select(tokens, tokens, ==) or select(indices, 0, ==), indicator(indices == 0))
        + aggregate(select(tokens, tokens, ==) and select(indices, 0, ==),
                    5 * indicator(indices == 0), 7)""",
}


def compiled(task: Task, length: int) -> Transformer:
    return compile(
        rasp.run(task.text)["out"],
        vocabulary=task.vocabulary,
        max_length=length,
        bos=task.bos,
        causal=task.causal,
        heads=task.heads,
        sink=task.sink,
        style="compact",
    )


@pytest.mark.parametrize("name", TASKS)
def test_a_task_has_the_predicted_layers_and_no_more_heads(name: str) -> None:
    model = compiled(TASKS[name], 7)
    predicted = TASKS[name].heads_per_layer
    assert model.layers == len(predicted)
    assert all(found <= most for found, most in zip(model.heads_per_layer, predicted, strict=True))
    assert (model.input_feed_forward > 0) == (name in JOINT)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TASKS if name not in JOINT])
def test_a_task_is_certified_small_and_right_at_length_40(name: str) -> None:
    task = TASKS[name]
    model = compiled(task, 40)
    assert model.certificate is not None
    assert model.certificate.exact, model.certificate
    assert model.weights.parameter_count <= task.parameters
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
    model = compile(
        rasp.run("out = sort(tokens, tokens);")["out"],
        vocabulary="abc",
        max_length=8,
        style="compact",
    )
    assert model.heads_per_layer == (1, 1)
    assert model.input_feed_forward > 0
    assert "+FF0" in repr(model)
    assert model("cabba") == ["a", "a", "b", "b", "c"]


@pytest.mark.parametrize("bos", [None, "§"])
@pytest.mark.parametrize("name", WIDTHS)
def test_a_width_needs_no_sink(name: str, bos: str | None) -> None:
    program = rasp.run(f"out = {WIDTHS[name]};")["out"]
    model = compile(program, vocabulary="abc", max_length=5, sink=False, bos=bos, style="compact")
    assert all("share" in head.detail for head in heads_in(model))
    for size in range(1, 6):
        for rest in product("abc", repeat=size - (bos is not None)):
            assert model([bos, *rest] if bos else list(rest)) == program(
                [bos, *rest] if bos else list(rest)
            )


def heads_in(model: Transformer) -> list[CheckedBlock]:
    assert model.certificate is not None
    return [block for block in model.certificate.blocks if "head" in block.name]


def test_a_program_with_a_bos_is_compiled_as_it_is_written() -> None:
    text = "out = selector_width(select(tokens, tokens, ==), assume_bos=True);"
    program = rasp.run(text)["out"]
    model = compile(program, vocabulary="abc", max_length=7, bos="§", style="compact")
    for given in ("§", "§abca", "§aaaaaa"):
        assert model(given) == program(given)


@pytest.mark.parametrize("selector", [
    "select(tokens, tokens, ==)",
    "select(tokens, tokens, <=)",
    "select(tokens, tokens, ==) and select(indices, indices, <=)",
    "select(tokens, tokens, !=)",
])  # fmt: skip
@pytest.mark.parametrize("bos", ["§", "B"])
def test_what_a_bos_adds_to_a_count_is_known_without_looking(selector: str, bos: str) -> None:
    names = rasp.run(f"""picks = {selector};
        without = selector_width(picks, assume_bos=True);
        both = without + 10 * selector_width(picks);
        used = indicator(has_prev(tokens) or indices == 0) + without;""")
    outputs = [names["without"], names["both"], names["used"]]
    model = compile(outputs, vocabulary="aC", max_length=5, bos=bos, style="compact")
    for size in range(5):
        for rest in product("aC", repeat=size):
            given = [bos, *rest]
            assert model(given) == {
                each: names[each](given) for each in ("without", "both", "used")
            }


def test_several_outputs_share_one_model() -> None:
    names = rasp.run("hist = histf(tokens); back = sort(tokens, tokens); n = length;")
    model = compile(
        [names["hist"], names["back"], names["n"]], vocabulary="abc", max_length=5, style="compact"
    )
    assert model("caab") == {
        "hist": names["hist"]("caab"),
        "back": names["back"]("caab"),
        "n": names["n"]("caab"),
    }
