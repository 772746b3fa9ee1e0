"""The robust style: the schedule's layers and heads, moderate weights, and answers that bear noise,
a rotated stream and rounding.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from conditions import answers, rotated

import rasp
import rasp.teaching.gallery
from rasp.base.atoms import to_python
from rasp.base.errors import RaspUnsupportedError, RaspValueError
from rasp.models.compiler import Transformer, build, load, verify
from rasp.models.compiler.model.certificate import MOST_GRADIENT, MOST_WEIGHT

PROGRAMS = {
    "hist": "abcd",
    "reverse": "abcd",
    "sort_tokens": "abc",
    "dyck1": "()",
    "tomita4": "01",
    "most_recent_a": "ab",
}
TEXTS = {
    "most_recent_a": "most_recent_a = aggregate(select_best(select(tokens, 'a', ==) and "
    "select(indices, indices, <), score(indices, 1)), indices, -1);".replace("'", '"'),
}
LENGTH = 8


@cache
def compiled(name: str) -> tuple[Transformer, rasp.Handle]:
    handle = rasp.run(TEXTS[name])[name] if name in TEXTS else rasp.programs.load(name)
    model = rasp.compile(handle, alphabet=PROGRAMS[name], max_length=LENGTH)
    return model, handle


def inputs_of(name: str, count: int) -> list[str]:
    chooser = Random(name)
    return ["".join(chooser.choices(PROGRAMS[name], k=chooser.choice([LENGTH, LENGTH - 1, 3])))
            for _ in range(count)]  # fmt: skip


def wrong(name: str, condition: str, count: int = 60) -> list[str]:
    model, handle = compiled(name)
    rng = np.random.default_rng(3)
    found = []
    for tokens in inputs_of(name, count):
        [rows] = answers(model, model.token_ids(tokens)[None], condition, rng).values()
        if list(map(to_python, rows[0])) != handle(tokens):
            found.append(tokens)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_robust_model_is_certified_with_moderate_weights(name: str) -> None:
    model, handle = compiled(name)
    certificate = model.certificate
    assert certificate is not None and certificate.exact and certificate.robust is not None
    assert certificate.robust.largest_weight <= MOST_WEIGHT
    assert certificate.robust.largest_gradient <= MOST_GRADIENT
    assert certificate.robust.noise_radius > 0
    compact = rasp.compile(handle, alphabet=PROGRAMS[name], max_length=LENGTH, style="compact")
    assert model.heads_per_layer == compact.heads_per_layer


@pytest.mark.parametrize("condition", ["compiled", "rotated", "noise"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_stay_right(name: str, condition: str) -> None:
    assert not wrong(name, condition)


@pytest.mark.parametrize("name", PROGRAMS)
def test_noise_of_the_certified_radius_in_any_direction_changes_nothing(name: str) -> None:
    model, handle = compiled(name)
    assert model.certificate is not None and model.certificate.robust is not None
    radius = model.certificate.robust.noise_radius
    rng = np.random.default_rng(5)
    for tokens in inputs_of(name, 20):
        x = model.embedded(model.token_ids(tokens)[None], np.float32)
        for _ in range(3):
            moved = _run(model, x, radius, rng)
            [rows] = model._read_out(moved[:, model.uses_sink :], np.float32).values()
            assert list(map(to_python, rows[0])) == handle(tokens)


def test_a_mean_of_numbers_may_have_a_string_for_its_default() -> None:
    text = 'out = aggregate(select(tokens, "a", ==), indices, "none");'
    model = rasp.compile(rasp.run(text)["out"], alphabet="ab", max_length=4, style="robust")
    assert model("bab") == [1, 1, 1] and model("bb") == ["none", "none"]


def test_equal_means_of_two_kinds_are_looked_at_together() -> None:
    """The mean is 1 at length 1 and 1.0 at length 3, which is one number in the stream."""
    program = rasp.run("""
        value = 1 if indices == 0 else (2 if indices == 1 else 0);
        mean = aggregate(select(1, 1, ==), value);
        out = mean + indices == 2;
    """)
    model = rasp.compile(program["out"], alphabet="ab", max_length=5, style="robust")
    for length in range(1, 6):
        assert model("a" * length) == program["out"]("a" * length)


def _run(model: Transformer, x: np.ndarray, radius: float, rng: np.random.Generator) -> np.ndarray:
    """A forward pass in which every number is moved by all of the radius, one way or the other."""
    from rasp.models.compiler.model.forward import attend, feed_forward

    def cut(x: np.ndarray) -> np.ndarray:
        scale = radius * np.sqrt((x**2).mean(axis=-1, keepdims=True))
        return np.asarray(x + scale * rng.choice([-1.0, 1.0], x.shape), np.float32)

    x = cut(x)
    for layer, block in enumerate(model.weights.feed_forwards):
        if layer:
            heads = model.weights.heads[layer - 1]
            x = cut(x + sum(attend(x, head, None, np.float32)[1] for head in heads))
        if block.bias.size:
            x = cut(x + feed_forward(x, block, np.float32))
    return x


@pytest.mark.slow  # imports torch
@pytest.mark.parametrize("name", ["hist", "dyck1", "reverse"])
def test_no_gradient_is_larger_than_certified(name: str) -> None:
    torch = pytest.importorskip("torch")
    model, _ = compiled(name)
    assert model.certificate is not None and model.certificate.robust is not None
    for tokens in inputs_of(name, 4):
        x = torch.tensor(model.embedded(model.token_ids(tokens)[None], np.float64))
        x.requires_grad_()
        scores = _scores(model, x, torch)
        for position in (0, len(tokens) - 1):
            for atom in range(0, scores.shape[-1], 3):
                [slope] = torch.autograd.grad(scores[0, position, atom], x, retain_graph=True)
                assert slope.norm() <= model.certificate.robust.largest_gradient * 1.0001


def _scores(model: Transformer, x: Any, torch: Any) -> Any:
    def read(weight: np.ndarray, bias: np.ndarray | None = None) -> Any:
        made = x @ torch.tensor(weight).T
        return made if bias is None else made + torch.tensor(bias)

    for layer, block in enumerate(model.weights.feed_forwards):
        added = 0
        for head in model.weights.heads[layer - 1] if layer else []:
            query, key = read(head.query, head.query_bias), read(head.key, head.key_bias)
            attention = torch.softmax(query @ key.transpose(1, 2), dim=-1)
            added = added + attention @ read(head.value, head.value_bias) @ torch.tensor(head.out).T
        x = x + added
        if block.bias.size:
            hidden = torch.relu(read(block.inside, block.bias))
            x = x + hidden @ torch.tensor(block.out).T
    return read(model.weights.readouts[0].weight)[:, model.uses_sink :]


def test_a_robust_model_is_stored_and_verified(tmp_path: Path) -> None:
    model, _ = compiled("hist")
    model.save(tmp_path)
    again = load(tmp_path)
    assert again.certificate == model.certificate and again.settings.style == "robust"
    assert verify(tmp_path).exact
    data = json.loads((tmp_path / "model.json").read_text())
    data["certificate"]["robust"]["noise_radius"] *= 10
    (tmp_path / "model.json").write_text(json.dumps(data))
    assert "certificate" in verify(tmp_path).refused


def test_a_rotated_model_is_another_model_with_the_same_answers() -> None:
    model, handle = compiled("reverse")
    turned = rotated(model, np.random.default_rng(1))
    assert not np.allclose(turned.weights.tokens, model.weights.tokens)
    assert turned("abca") == handle("abca")


SPREAD = {
    "counts of two heads, compared": "selector_width(select(tokens, tokens, ==)) * 2 > length",
    "counts of two heads, divided": "selector_width(select(tokens, tokens, ==)) / length",
    "an `and` of two counts": "num_prevs(tokens == 1) % 2 == 0 and num_prevs(tokens == 2) % 2 == 0",
    "a mean of many values": "aggregate(select(indices, indices, <=), tokens * tokens * 7)",
    "a pick and an index": "indices - aggregate(select_best(select(tokens, tokens, ==) and "
    "select(indices, indices, <), score(indices, 1)), indices, -1)",
    "a token and two picks": "tokens > shift(tokens, 1, 0) and tokens > shift(tokens, -1, 0)",
    "several sums of one head": "count(tokens, 1) == count(tokens, 2) and contains(tokens, 3)",
    "ranks": "sort(indices, tokens)",
    "the second of a rank": "aggregate(select(selector_width(select(tokens, tokens, >) or "
    "select(tokens, tokens, ==) and select(indices, indices, <)), 1, ==), tokens)",
}


@pytest.mark.parametrize("kind", SPREAD)
def test_what_depends_on_several_numbers_is_compiled_too(kind: str) -> None:
    handle = rasp.run(f"out = {SPREAD[kind]};")["out"]
    model = rasp.compile(handle, vocabulary=[1, 2, 3], max_length=7, style="robust")
    certificate = model.certificate
    assert certificate is not None and certificate.exact and certificate.robust is not None
    assert certificate.robust.largest_weight <= MOST_WEIGHT
    chooser = Random(kind)
    for _ in range(60):
        tokens = chooser.choices([1, 2, 3], k=chooser.randint(1, 7))
        assert model(tokens) == handle(tokens), tokens


def test_what_cannot_be_robust_says_so_and_names_the_other_style() -> None:
    counts = " + ".join(f'count(tokens, "{each}") * selector_width(select(tokens, "{each}", ==) '
                        "and select(indices, indices, <))" for each in "ab")  # fmt: skip
    handle = rasp.run(f"out = ({counts}) % 3;")["out"]
    with pytest.raises(RaspUnsupportedError, match="several heads at once") as error:
        rasp.compile(handle, alphabet="ab", max_length=6, style="robust")
    assert 'style="compact"' in str(error.value.hint)
    model = rasp.compile(handle, alphabet="ab", max_length=6)
    assert model.settings.style == "compact" and "several heads at once" in model.why_compact
    assert model("abba") == handle("abba")


def test_a_choice_by_two_counts_of_one_head_takes_two_thresholds() -> None:
    program = rasp.run("""equals = num_prevs(tokens == "="); pluses = num_prevs(tokens == "+");
                       part = 2 if equals > 0 else 1 if pluses > 0 else 0;""")
    model = rasp.compile(program["part"], alphabet="1+=", max_length=12, style="robust")
    assert model("1+1=1") == [0, 1, 1, 2, 2]
    assert len(model.weights.feed_forwards[1].bias) <= 10  # not two for each count


@pytest.mark.slow
def test_a_robust_model_that_takes_long_is_made_only_if_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
    model = rasp.compile(hist, alphabet="abc", max_length=600)
    assert model.settings.style == "compact"
    assert "parameters, and take" in model.why_compact
    monkeypatch.setattr(build, "MOST_BY_DEFAULT", 0)
    assert rasp.compile(hist, alphabet="abc", max_length=5).settings.style == "compact"
    robust = rasp.compile(hist, alphabet="abc", max_length=5, style="robust")
    assert robust.settings.style == "robust"
    monkeypatch.setattr(build, "compile_compact", _refuse)  # as if it could not
    assert rasp.compile(hist, alphabet="abc", max_length=5).settings.style == "robust"


def _refuse(*_: object) -> None:
    raise RaspUnsupportedError("this cannot be compiled")


def test_there_are_two_styles() -> None:
    with pytest.raises(RaspValueError, match='`style` is "robust"'):
        rasp.compile(rasp.tokens, alphabet="ab", max_length=3, style="small")
