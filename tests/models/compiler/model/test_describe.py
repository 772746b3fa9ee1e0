"""What a model says of itself: the s-ops on one input, labels of its parts, and its circuit."""

from __future__ import annotations

import numpy as np
import pytest

import rasp
from rasp.models.compiler import Transformer, compile
from rasp.models.compiler.model.describe import describe


def test_a_trace_holds_what_the_program_computes() -> None:
    text = """hist = histf(tokens);
    total = hist + indices;
    out = aggregate(select(total, 3, >), 1, 0);"""
    names = rasp.run(text)
    model = compile([names["hist"], names["out"]], vocabulary="ab", max_length=5, style="compact")
    trace = model.trace("abba")
    found = {name.split(" (line")[0]: values for name, values in trace.s_ops.items()}
    assert found["hist"] == names["hist"]("abba")
    assert found["out"] == names["out"]("abba")
    for attention in trace.attention.values():
        assert np.allclose(attention.sum(axis=1), 1)


def test_a_trace_tells_outputs_as_their_atoms() -> None:
    names = rasp.run("flag = indices == 1; back = sort(tokens, tokens); half = indices / 2;")
    model = compile([names[each] for each in ("flag", "back", "half")], vocabulary="ab",
                    max_length=4, style="compact")  # fmt: skip
    trace = model.trace("bab")
    for name in ("flag", "back", "half"):
        assert trace.s_ops[name] == names[name]("bab")


def test_every_part_of_a_model_is_labelled_with_its_source() -> None:
    text = "hist = histf(tokens);\nout = aggregate(select(hist, hist, <), indices == 1, False);"
    model = compile(rasp.run(text)["out"], vocabulary="ab", max_length=5, style="compact")
    assert len(model.description.dimensions) == model.d_model
    assert tuple(map(len, model.description.heads)) == model.heads_per_layer
    hidden = tuple(map(len, model.description.hidden))
    assert hidden == (model.input_feed_forward, *model.hidden_per_layer)
    assert "line 2" in model.description.heads[1][0]
    sink, *others = model.description.dimensions
    assert sink == "sink"
    assert all("(line " in label for label in others)


def test_what_the_library_made_is_labelled_with_the_line_that_uses_it() -> None:
    model = compile(
        rasp.run("n = 1;\nout = length;")["out"], vocabulary="ab", max_length=5, style="compact"
    )
    assert model.description.heads[0][0].endswith("(line 2)")


def test_the_circuit_names_who_reads_what_from_whom() -> None:
    text = "out = aggregate(select(indices, length - indices - 1, ==), tokens);"
    model = compile(rasp.run(text)["out"], vocabulary="abc", max_length=5, style="compact")
    edges = {(each["from"], each["to"], each["as"]) for each in model.circuit["edges"]}
    assert ("layer1.head1", "layer2.head1", "query") in edges
    assert ("embedding", "layer2.head1", "value") in edges
    assert ("layer2.head1", "output.out", "value") in edges
    assert ("layer1.head1", "layer2.head1", "value") not in edges
    for edge in model.circuit["edges"]:
        assert all(0 <= place < model.d_model for place in edge["dimensions"])


def test_dimensions_of_one_block_have_different_labels() -> None:
    text = "out = aggregate(select(tokens, tokens, ==) and select(indices, indices, <), indices);"
    model = compile(rasp.run(text)["out"], vocabulary="ab", max_length=3, style="robust")
    labels = model.description.dimensions
    assert len(set(labels)) == len(labels)
    (dim,) = [dim for dim, label in enumerate(labels) if label.endswith('tokens == "b"')]
    assert model.weights.tokens[:2, dim].tolist() == [0, 1], "two tokens are one dimension"
    (dim,) = [dim for dim, label in enumerate(labels) if label.endswith("indices == 1")]
    assert model.weights.positions[:, dim].tolist() == [0, 1, 0]


def labels_of(model: Transformer) -> tuple[str, ...]:
    """The labels of dimensions, whatever was changed since the model was made."""
    vocabulary = model.settings.vocabulary
    return describe(model.weights, model.claims, model.words, vocabulary, model.readouts).dimensions


def test_a_dimension_that_holds_more_is_not_said_to_be_about_one_token() -> None:
    """The embedding writes 4 for "b" and nothing for "a", and a head adds the length."""
    text = 'out = {"a": 1, "b": 5}[tokens] + length;'
    model = compile(rasp.run(text)["out"], vocabulary="ab", max_length=3, style="compact")
    (dim,) = np.flatnonzero(model.weights.readouts[0].weight[0])
    assert np.count_nonzero(model.weights.tokens[:2, dim]) == 1
    assert not any("==" in label for label in model.description.dimensions)


def test_the_sink_is_about_no_answer() -> None:
    """A read-out may read a dimension that is 0 at every position."""
    text = "out = aggregate(select(indices, indices - 1, ==), tokens, 7) == 1;"
    model = compile(rasp.run(text)["out"], vocabulary=[0, 1], max_length=3, style="compact")
    (sink,) = [dim for dim in range(model.d_model) if model.description.dimensions[dim] == "sink"]
    model.weights.readouts[0].weight[1, sink] = 1.0
    assert labels_of(model) == model.description.dimensions


def test_an_answer_is_that_of_the_output_that_a_dimension_is_read_for() -> None:
    names = rasp.run('also = 1000 * count(tokens, "a") + indicator(tokens == "b"); '
                     'out = count(tokens, "a") > 1;')  # fmt: skip
    wanted = {name: names[name] for name in ("also", "out")}
    model = compile(wanted, vocabulary="ab", max_length=3, style="compact")
    assert not model.readouts[0].scored
    (*_, shared) = np.flatnonzero(model.weights.readouts[0].weight[0])
    model.weights.readouts[1].weight[:, shared] = 0.0, 1.0
    assert not labels_of(model)[shared].endswith("True")


@pytest.mark.parametrize(("text", "heads", "told"), [
    ("out = histf(tokens);", "paper", ["select(tokens, tokens, ==)"]),
    ("same = select(tokens, tokens, ==); out = selector_width(same);", "paper", ["same"]),
    ("s = select(indices, indices, <=) and select(tokens, tokens, ==);"
     "out = aggregate(s, indices);", "paper", ["s"]),
    ("s = select(tokens, tokens, <) or select(tokens, tokens, ==) and select(indices, indices, <);"
     "out = selector_width(s);", "split",
     ["select(indices, indices, <) and select(tokens, tokens, ==)", "select(tokens, tokens, <)"]),
])  # fmt: skip
def test_a_head_is_said_to_attend_to_whom_it_attends_to(
    text: str, heads: str, told: list[str]
) -> None:
    """A width's aggregates pick index 0 as well, which its head does not."""
    model = compile(rasp.run(text)["out"], vocabulary="ab", max_length=4, heads=heads,
                    style="compact")  # fmt: skip
    selectors = [node["selector"] for node in model.circuit["nodes"] if node["kind"] == "head"]
    assert selectors == told
