"""What a certificate says of a model is true of it: errors stay below the bounds that it gives."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from paper_programs import TASKS
from test_random_programs import random_program

import rasp
from rasp.base.atoms import Atom
from rasp.base.errors import RaspUnsupportedError
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import Node
from rasp.models.certificate import Array, HeadWeights
from rasp.models.certificate.program.tables import AtomColumn, same
from rasp.models.certificate.weights import readout as readouts
from rasp.models.certificate.weights.reading import Parts
from rasp.models.compiler import Transformer, compile
from rasp.models.compiler.model.certificate import Robustness, proved
from rasp.models.compiler.model.vocabulary_inputs import random_input

Ranges = list[tuple[Atom | None, tuple[float, float]]]
PICKS_SEVERAL = """
has_a = aggregate(select(tokens, "a", ==), 1, 0);
has_b_before = aggregate(select(tokens, "b", ==) and select(indices, indices, <), 1, 0);
most = aggregate(select_best(select_all, score(indices % 3, 1)), indices % 3);
out = has_a + 2 * has_b_before + 4 * most;
"""


def test_the_least_noise_that_is_tried_is_said() -> None:
    told = str(Robustness(5.0, 5.0, noise_radius=0.0))
    assert told.endswith("noise of 1e-05 % of the stream's RMS may change an answer")


def ranges_of(model: Transformer, outputs: list[Node]) -> dict[str, tuple[Array, Ranges]]:
    """For each output: the row that is read, and between what the checker says that it lies for
    each atom.
    """
    found: list[tuple[Array, Ranges]] = []
    rows: list[Array] = []
    one_row, states = readouts._one_row, readouts._states

    def with_row(weight: Array) -> tuple[Array, Array, Array]:
        read = one_row(weight)
        rows.append(read[0])
        return read

    def with_ranges(column: AtomColumn, held: Parts, is_one: bool) -> tuple[Array, Parts]:
        places, parts = states(column, held, is_one)
        low, high = (parts.value - parts.error)[:, 0], (parts.value + parts.error)[:, 0]
        atoms = [column.atoms[place] for place in places.tolist()]
        found.append((rows[-1], list(zip(atoms, zip(low, high, strict=True), strict=True))))
        return places, parts

    names = [each.name for each in model.readouts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readouts, "_one_row", with_row)
        patch.setattr(readouts, "_states", with_ranges)
        assert proved(model).holds
    return dict(zip(names, found, strict=True))


def check(model: Transformer, outputs: list[Node], seed: int) -> None:
    """Compare every number that is read out with what the checker says of it, on random inputs."""
    known_ranges = ranges_of(model, outputs)
    chooser = random.Random(seed)
    for _ in range(20):
        tokens = random_input(model.settings, chooser)
        try:
            expected = evaluate(outputs, tokens)
        except EvaluationError:
            continue
        residual = model.run(model.token_ids(list(tokens))[None])[0, model.uses_sink :]
        for readout, node in zip(model.readouts, outputs, strict=True):
            row, ranges = known_ranges[readout.name]
            found = residual.astype(np.float64) @ row
            for number, atom in zip(found.tolist(), expected[node], strict=True):
                lows, highs = zip(*(ends for known, ends in ranges if same(known, atom)),
                                  strict=True)  # fmt: skip
                slack = 1e-12 * (1 + abs(number))
                assert min(lows) - slack <= number <= max(highs) + slack


def check_random_program(seed: int) -> None:
    outputs, vocabulary, options = random_program(seed)
    try:
        model = compile(outputs, vocabulary=vocabulary, **options, style="compact")
    except RaspUnsupportedError:
        return
    check(model, list(outputs.values()), seed)


class Shuffled:
    """Runs models in float32, every sum one number at a time in an order of its own.

    What a layer's heads or feed-forward add goes to the residual stream number by number, too.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def sum(self, terms: list[Array]) -> Array:
        found, *rest = (terms[place] for place in self.rng.permutation(len(terms)))
        for term in rest:
            found = found + term
        assert found.dtype == np.float32
        return np.asarray(found)

    def product(self, one: Array, other: Array, bias: Array | None = None) -> Array:
        """`one @ other + bias`; other may be a matrix, or one for each of a batch."""
        nothing = np.zeros((*one.shape[:-1], other.shape[-1]), np.float32)
        rest = [] if bias is None else [bias.astype(np.float32)]
        return self.sum([nothing, *products(one, other), *rest])

    def run(self, model: Transformer, ids: Array, dtype: type = np.float32) -> Array:
        x = model.embedded(ids, np.float32)
        allowed = np.tril(np.ones(2 * x.shape[1:2], bool)) if model.settings.causal else None
        for layer, block in enumerate(model.weights.feed_forwards):
            if layer:
                heads = model.weights.heads[layer - 1]
                x = self.sum([x, *(each for head in heads for each in self.head(x, head, allowed))])
            inside = self.product(x, block.inside.T.astype(np.float32), block.bias)
            out = block.out.T.astype(np.float32)
            x = self.sum([x, *products(np.maximum(inside, 0), out)])
        return x

    def head(self, x: Array, head: HeadWeights, allowed: Array | None) -> list[Array]:
        """The numbers that one head adds."""
        small = np.float32
        queries = self.product(x, head.query.T.astype(small), head.query_bias)
        keys = self.product(x, head.key.T.astype(small), head.key_bias)
        scores = self.product(queries, keys.transpose(0, 2, 1))
        if allowed is not None:
            scores = np.where(allowed, scores, small(-np.inf))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        total = self.sum([weights[..., place, None] for place in range(weights.shape[-1])])
        values = self.product(x, head.value.T.astype(small), head.value_bias)
        return products(self.product(weights / total, values), head.out.T.astype(small))


def products(one: Array, other: Array) -> list[Array]:
    """The numbers that `one @ other` adds up."""
    return [one[..., place, None] * other[..., place, :][..., None, :]
            for place in range(one.shape[-1])]  # fmt: skip


@pytest.fixture
def in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let compiled models add in random orders from here on."""
    shuffled = Shuffled(1)
    monkeypatch.setattr(Transformer, "run", lambda model, *given: shuffled.run(model, *given))


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
@pytest.mark.usefixtures("in_any_order")
def test_the_bounds_of_a_task_hold_in_any_order_of_adding(name: str) -> None:
    task = TASKS[name]
    handle = rasp.run(task.text)["out"]
    model = compile(handle, vocabulary=task.vocabulary, max_length=9, bos=task.bos,
                    causal=task.causal, heads=task.heads, sink=task.sink,
                    style="compact")  # fmt: skip
    check(model, [handle.node], 3)


@pytest.mark.parametrize("seed", range(100, 130))
@pytest.mark.usefixtures("in_any_order")
def test_the_bounds_of_random_programs_hold_in_any_order_of_adding(seed: int) -> None:
    check_random_program(seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_the_errors_of_a_task_stay_below_their_bounds(name: str) -> None:
    task = TASKS[name]
    handle = rasp.run(task.text)["out"]
    model = compile(handle, vocabulary=task.vocabulary, max_length=min(30, task.longest // 2),
                    bos=task.bos, causal=task.causal, heads=task.heads,
                    sink=task.sink, style="compact")  # fmt: skip
    check(model, [handle.node], 1)


@pytest.mark.parametrize("length", [3, 17, 60])
def test_a_mean_of_equal_values_is_not_taken_to_be_exact(length: int) -> None:
    handle = rasp.run(PICKS_SEVERAL)["out"]
    model = compile(handle, vocabulary="abc", max_length=length, style="compact")
    check(model, [handle.node], 2)


def test_a_head_that_looks_everywhere_says_so_instead_of_counting_states() -> None:
    lines = str(
        compile(
            rasp.run("out = length;")["out"], vocabulary="ab", max_length=4, style="compact"
        ).certificate
    )
    assert "layer 1, head 1: sum; looks everywhere\n" in lines


@pytest.mark.parametrize("seed", range(60))
def test_the_errors_of_random_programs_stay_below_their_bounds(seed: int) -> None:
    check_random_program(seed)


def test_a_certificate_says_why_it_does_not_hold() -> None:
    certificate = compile(rasp.length, vocabulary="ab", max_length=4).certificate
    assert certificate is not None
    assert certificate.reason == "every block holds"
    wrong = replace(certificate, wrong=2, first_wrong='"ab"')
    assert not wrong.exact
    assert wrong.statement == (
        f'not certified: 2 of {certificate.runs} random inputs went wrong, first "ab"'
    )
    assert replace(wrong, refused="a claim does not hold").reason == "a claim does not hold"
    vain = replace(certificate, runs=0, failing='"a": division by zero')
    assert vain.reason.startswith("the program fails on every input that was tried")
