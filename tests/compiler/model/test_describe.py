"""What a model says of itself: the s-ops on one input, labels of its parts, and its circuit."""

from __future__ import annotations

import numpy as np

import rasp
from rasp.atoms import show
from rasp.compiler import compile


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
    for place, token in enumerate("ab"):
        (dim,) = [dim for dim, label in enumerate(labels) if label.endswith(f'tokens == "{token}"')]
        assert model.weights.tokens[:2, dim].tolist() == [place == 0, place == 1]
    answers = {label.partition(": ")[2] for label in labels if label.startswith("out (line 1)")}
    assert answers == {show(atom) for atom in model.readouts[0].atoms}
