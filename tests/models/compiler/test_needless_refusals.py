"""What was once refused though it can be compiled; the model agrees with the plain evaluator."""

from __future__ import annotations

import pytest
from agreement import assert_agrees

import rasp
import rasp.teaching.gallery
from rasp.models.compiler import compile


@pytest.mark.parametrize(("text", "vocabulary", "length", "options"), [
    ("out = selector_width(select(tokens, tokens, ==) and select(indices, indices, <=));",
     "abc", 6, {"causal": True}),
    ("s = select(tokens, tokens, <=); out = selector_width(s) * aggregate(s, tokens);",
     [0, 3, 9], 12, {}),
    ("s = select(tokens, tokens, <=) and select(indices, indices, <);"
     "out = selector_width(s) * aggregate(s, indices);", "ab", 6, {}),
    ("out = aggregate(full_s, tokens) * tokens;", [0, 1, 9], 8, {}),
    ("out = aggregate(full_s, tokens) * indices;", [0, 1, 2], 8, {}),
    ("out = aggregate(select(indices, length - indices - 1, ==), tokens);",
     "abc", 7, {"sink": False}),
    pytest.param('out = count(tokens, "a") * count(tokens, "b");', "abc", 80, {},
                 marks=pytest.mark.slow),
    pytest.param('out = count(tokens, "a") * count(tokens, "b");', "abc", 250, {},
                 marks=pytest.mark.slow),
    ("s = select(tokens, tokens, <=); out = selector_width(s) * aggregate(s, tokens);",
     "0..9", 20, {}),
    ('a = aggregate(select(indices, indices - 1, ==), tokens, "_");'
     "b = aggregate(select(indices, length - 1 - indices, ==), tokens);"
     "out = a if indices < length / 2 else (b if indices % 2 == 0 else tokens);", "a..h", 20, {}),
    ("out = aggregate(select(tokens, tokens, ==), tokens);", "abc", 20, {}),
    ('out = pair_balance("a", "b");', "ca", 4, {}),  # 0 of one, and a mean of 0 of several
    ("out = num_prevs(aggregate(select(indices, indices - 2, ==), False));", "abc", 4, {}),
    ("out = 4 != histf(tokens_str);", [-0.75, 1.6], 1, {}),
    ("out = aggregate(full_s, tokens) > 10 ^ 6;", [0, 1], 7, {}),
    ("out = aggregate(full_s, tokens) > 10 ^ 6;", [5, 2 * 10**6], 7, {}),
    ("out = aggregate(full_s, tokens) / (indices + 1);", [0, 1, 2, 9], 8, {}),
    ("out = aggregate(full_s, tokens) / (tokens + 1);", [0, 1, 2, 9], 8, {}),
    pytest.param("out = length / (indices + 1);", "ab", 49, {}, marks=pytest.mark.slow),
    pytest.param("out = length / (indices + 1);", "ab", 100, {}, marks=pytest.mark.slow),
    pytest.param("out = aggregate(full_s, tokens) > 0.37;", [0, 1], 150, {},
                 marks=pytest.mark.slow),
    ("out = aggregate(select(indices, length - 1 - indices, ==), tokens);", "abc", 40,
     {"sink": False}),
    ("out = tokens;", [1, 10**30], 5, {}),
    ('out = 2 ^ 61 if (tokens == "a") == (indices == 1) else 0;', "ab", 3, {}),
    ("out = aggregate(select(indices, 0, ==), tokens);", [1, 10**30], 5, {}),
    ("out = 7 if aggregate(select(indices, indices - 1, ==), tokens, 5) == tokens else tokens;",
     [1, 2, 10**30], 5, {}),
    # heads that nothing reads need not be made
    ("out = aggregate(select(indices, indices + 1, ==), True, True);", "ab", 5, {"sink": False}),
    ('late = aggregate(select(indices, indices, >), 1); out = late if tokens == "z" else indices;',
     "ab", 5, {"causal": True}),
    ("out = aggregate(select(1, 2, ==), aggregate(full_s, tokens), -3) + 1;", [0, 1], 4,
     {"causal": True}),
    # what is the same everywhere is never below itself
    ("mean = aggregate(full_s, tokens);"
     "out = aggregate(select(mean, mean, <) or select(indices, 2, ==), tokens, 7);",
     [696585, 216353, 134605], 12, {}),
    ("out = aggregate(select(indices, indices, <=), tokens_bool);", [0, 3], 1, {}),
    ('out = "x" * (aggregate(select(tokens, tokens, ==), 1) + 1);', "abc", 4, {}),  # int or float
])  # fmt: skip
def test_a_program_compiles(
    text: str, vocabulary: object, length: int, options: dict[str, object]
) -> None:
    node = rasp.run(text)["out"].node
    model = compile(
        {"out": node}, vocabulary=vocabulary, max_length=length, style="compact", **options
    )
    assert_agrees(model, node)


@pytest.mark.parametrize(("name", "options"), [
    ("tomita2", {"sink": False}), ("tomita3", {"sink": False}), ("tomita3", {}),
    ("is_balanced", {}), ("dyck2_pure", {}), ("set_inference", {}),
])  # fmt: skip
def test_letters_that_no_input_has_leave_nothing_to_do(name: str, options: dict[str, bool]) -> None:
    node = rasp.programs.load(name).node
    model = compile({"out": node}, vocabulary="abc", max_length=5, style="compact", **options)
    assert_agrees(model, node)
