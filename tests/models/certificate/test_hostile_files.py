"""Files that are made to keep `rasp verify` busy, to end it, or to have it say what is not so."""

from __future__ import annotations

import json
import struct
import tracemalloc
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forging import ONE, node_of

import rasp
from models import KINDS, Kind, compiled
from rasp.base.errors import RaspLimitError, RaspValueError
from rasp.base.file_reading import fingerprint
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Score,
    Scorer,
    ScoreSum,
    Select,
    SelectBest,
    SelectorAnd,
    SOp,
    Tokens,
    score_terms,
)
from rasp.language.graph.portable import graph_from_json, graph_to_json
from rasp.models.certificate import Inputs, Readout, check
from rasp.models.certificate.claims import (
    ClaimedOutput,
    Claims,
    ConjunctClaim,
    HeadClaim,
    HeadOutputClaim,
    Meaning,
)
from rasp.models.certificate.program import picks
from rasp.models.certificate.program.tables import places_among
from rasp.models.certificate.weights.stream import rounding_of_sums
from rasp.models.compiler import load, verify
from rasp.models.compiler.model.tensors import to_safetensors
from rasp.models.compiler.model.verify import _are_close

DOUBLINGS = 60
CODES = Kind('out = 1000 * count(tokens, "a") + indicator(tokens == "b");', "ab", 3)


def changed(folder: Path, change: Any) -> None:
    """Change what a folder says of its model."""
    file = folder / "model.json"
    data = json.loads(file.read_text())
    text = change(data)
    file.write_text(text or json.dumps(data, indent=1))


def answers_of(
    out: SOp, claims: Claims, where: SOp | None = None, length: int = 1, bias: float = -0.5
) -> Any:
    """The verdict on a model of "ab" that reads a dimension of the token "a"."""
    arrays = {"tokens": [[1.0], [0.0]], "positions": [[0.0]] * length,
              "output0.weight": [[0.0], [1.0]], "output0.bias": [0.0, bias]}  # fmt: skip
    inputs = Inputs(("a", "b"), length, where=where)
    return check(arrays, {"out": out}, inputs, [Readout("out", (False, True), (), True)], claims)  # type: ignore[arg-type]


def test_a_number_with_an_exponent_is_no_claim(tmp_path: Path) -> None:
    compiled(CODES).save(tmp_path)

    def change(data: Any) -> None:
        data["claims"]["heads"][0][0]["weight"] = "1e999999999"

    changed(tmp_path, change)
    with pytest.raises(RaspValueError, match="damaged"):
        verify(tmp_path)


def test_a_number_that_no_float_holds_is_no_code(tmp_path: Path) -> None:
    compiled(CODES).save(tmp_path)

    def change(data: Any) -> str:
        data["outputs"][0]["codes"][-1] = "large"
        return json.dumps(data).replace('"large"', "1e999")

    changed(tmp_path, change)
    with pytest.raises(RaspValueError, match="damaged"):
        verify(tmp_path)


def test_a_promise_of_shared_parts_is_looked_at_once() -> None:
    out = node_of('out = tokens == "a";')
    where, over = out, {out: (0,)}
    for _ in range(DOUBLINGS):
        where = Elementwise("and", (where, where))
        over[where] = (0,)
    assert answers_of(out, Claims((None, None), over, {}, (), ((),), ((0,),)), where).holds


def test_a_selector_of_shared_parts_is_looked_at_once() -> None:
    shared: Any = Select(Tokens(), Const("a"), "==")
    for _ in range(DOUBLINGS):
        shared = SelectorAnd(shared, shared)
    out = Aggregate(shared, Const(True), False)
    head = HeadClaim(
        "mean",
        (ConjunctClaim(shared, (), (0,)),),
        (HeadOutputClaim(Const(True), None, False),),
        ({0: ONE},),
        ((),),
    )
    claims = Claims((None, None, ClaimedOutput(0, 0, 0)), {out: (2,)},
                    {out: Meaning("mean", (2,))}, (), ((),), ((2,),), spare=(head,))  # fmt: skip
    assert "no margin" in answers_of(out, claims).reason


def test_a_condition_of_shared_parts_is_made_a_selector_once() -> None:
    shared, first = node_of('out = tokens == "a";'), node_of("out = indicator(indices == 0);")
    over: Any = {shared: (0,), first: (1,), first.operands[0]: (1,)}
    for _ in range(DOUBLINGS):
        shared = Elementwise("and", (shared, shared))
        over[shared] = (0,)
    counted = Elementwise("indicator", (shared,))
    out = Aggregate(Select(Tokens(), Const("a"), "=="), first)
    head = HeadClaim("sum", (), (HeadOutputClaim(counted),), ({0: ONE},), ((0,),))
    claims = Claims((None, None, ClaimedOutput(0, 0, 0)), over | {counted: (0,), out: (2,)},
                    {out: Meaning("count", (2,))}, (), ((),), ((2,),), spare=(head,))  # fmt: skip
    assert "does not count what the aggregate picks" in answers_of(out, claims).reason


def test_kinds_of_many_numbers_are_not_tried_in_every_combination() -> None:
    """Each of 60 numbers is 1 or 1.0."""
    condition = node_of('out = tokens == "a";')
    either = Elementwise("if", (condition, Const(1), Const(Fraction(1))))
    out = Elementwise("in", (Const(2), *[either] * DOUBLINGS))
    claims = Claims((None, None), {condition: (0,), either: (), out: ()}, {}, (), ((),), ((),))
    assert "of uncertain kind" in answers_of(out, claims).reason


def test_a_score_of_shared_parts_is_not_multiplied_out() -> None:
    shared: Scorer = Score(Indices(), Const(1))
    for _ in range(DOUBLINGS):
        shared = ScoreSum(shared, shared)
    (read,) = graph_from_json(graph_to_json({"best": shared}, {}))[0].values()
    assert isinstance(read, Scorer)
    out = Aggregate(SelectBest(Select(Tokens(), Tokens(), "=="), read), Indices())
    with pytest.raises(RaspLimitError, match="more than 10,000 products"):
        score_terms(read)
    with pytest.raises(RaspLimitError, match="more than 10,000 products"):
        rasp.compile(out, vocabulary="ab", max_length=2)


@pytest.mark.parametrize("count", [0, 1])
def test_layers_without_arrays_are_not_read(tmp_path: Path, count: int) -> None:
    compiled(CODES).save(tmp_path)

    def change(data: Any) -> None:
        data["heads_per_layer"] += [count] * 100_000

    changed(tmp_path, change)
    with pytest.raises(RaspValueError, match="the number of layers or heads in it is damaged"):
        verify(tmp_path)


def test_claims_of_layers_without_arrays_are_not_looked_at() -> None:
    out = node_of('out = tokens == "a";')
    many = 100_000
    claims = Claims((None, None), {out: (0,)}, {}, ((),) * many, ((),) * (many + 1), ((0,),))
    assert answers_of(out, claims).reason == "the claims are about another model"


def test_where_combinations_are_needs_no_room_for_all_that_there_could_be() -> None:
    rows = np.array([[3, 1], [1, 3], [2, 2]])
    many = [2**20] * 3
    assert places_among(rows, rows[:, ::-1], many).tolist() == [1, 0]
    assert places_among(rows, rows[:, :0], many).tolist() == [-1, -1]


def test_sums_of_many_tokens_and_positions_take_little_room() -> None:
    """30,000 tokens and 4,096 positions took 3.4 GB."""
    chooser = np.random.default_rng(0)
    tokens, positions = chooser.normal(size=30_000), chooser.normal(size=4_096)
    tracemalloc.start()
    off = rounding_of_sums(tokens, positions)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10_000_000
    assert off >= rounding_of_sums(tokens[:900], positions) > 0


def test_what_a_query_points_at_needs_no_room_for_all_that_there_could_be() -> None:
    """The length in 5 units, at 60 indices: 60^6 combinations, of which 1,830 occur."""
    units = range(2, 7)
    asked = Elementwise("plus", (Indices(),))
    out = Aggregate(Select(Indices(), asked, "=="), Const(True))
    counts = HeadClaim("sum", (), tuple(HeadOutputClaim(Const(unit)) for unit in units), (), ())
    pick = HeadClaim(
        "mean",
        (ConjunctClaim(out.selector, (), ()),),
        (HeadOutputClaim(Const(True)),),
        (),
        (),
        never_empty=True,
    )
    variables = (*(ClaimedOutput(0, 0, place) for place in range(5)), ClaimedOutput(0, 1, 0))
    claims = Claims((None, None, *variables), {asked: (1, *units), out: (7,)},
                    {out: Meaning("mean", (7,))}, (), ((),), ((7,),),
                    spare=(counts, pick))  # fmt: skip
    assert answers_of(out, claims, length=60, bias=2.0).holds


def test_pairs_of_indices_are_not_compared_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """At length 4,096, each condition takes 25 ms or more, and heads need no arrays."""
    out, asked = node_of('out = tokens == "a";'), Elementwise("//", (Indices(), Const(2)))
    half = ConjunctClaim(Select(Indices(), asked, "=="), (1,), (1,))
    head = HeadClaim("mean", (half, half), (HeadOutputClaim(Const(True)),), ({0: ONE},), ((),),
                     never_empty=True)  # fmt: skip
    count, length = 20, 6
    outputs = tuple(ClaimedOutput(0, place, 0) for place in range(count))
    claims = Claims((None, None, *outputs), {out: (0,), asked: (1,)}, {}, (), ((),), ((0,),),
                    spare=(head,) * count)  # fmt: skip
    assert answers_of(out, claims, length=length).holds
    monkeypatch.setattr(picks, "MOST_COMPARED", (2 * count - 1) * length**2)
    assert answers_of(out, claims, length=length).reason == "a head may pick nothing"


def test_an_s_op_that_is_read_nowhere_is_damage(tmp_path: Path) -> None:
    compiled(CODES).save(tmp_path)

    def change(data: Any) -> None:
        data["claims"]["readers"][0]["after"] = "layer7.attention"

    changed(tmp_path, change)
    with pytest.raises(RaspValueError, match="a claim in it is damaged"):
        load(tmp_path)


def test_a_promise_is_not_called_true(tmp_path: Path) -> None:
    """A certificate says for which inputs it is: not for all on which `True` holds."""
    compiled(KINDS["a promise"]).save(tmp_path)
    assert verify(tmp_path).exact

    def change(data: Any) -> None:
        told, settings = data["certificate"], data["settings"]
        told["statement"] = told["statement"].replace("`promise`", "`True`")
        settings["where_name"] = "True"

    changed(tmp_path, change)
    assert "calls a promise by the text or the name of another s-op" in verify(tmp_path).refused


def test_a_promise_is_not_called_like_an_output(tmp_path: Path) -> None:
    compiled(KINDS["a promise"]).save(tmp_path)

    def change(data: Any) -> None:
        told, settings = data["certificate"], data["settings"]
        told["statement"] = told["statement"].replace("`promise`", "`out`")
        settings["where_name"] = "out"

    changed(tmp_path, change)
    assert "the name of another s-op" in verify(tmp_path).refused


def test_a_name_with_two_lines_makes_no_line_of_a_certificate() -> None:
    model = rasp.compile({"x\nevery input": rasp.tokens}, vocabulary="ab", max_length=2)
    assert "every input" not in str(model.certificate).splitlines()
    assert "x every input" in str(model.certificate)


@pytest.mark.parametrize("shape", [[2.9, 1], [2, 1]])
def test_a_file_of_weights_says_nothing_else(tmp_path: Path, shape: list[float]) -> None:
    """Other readers would refuse a shape of fractions, and show the words of a header."""
    model = rasp.compile(rasp.tokens, vocabulary="ab", max_length=2, style="compact")
    model.save(tmp_path)
    raw = to_safetensors(model.weights.arrays())
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    assert header["tokens"]["shape"] == [2, 1]
    header["tokens"]["shape"] = shape
    header["__metadata__"] = {"certificate": "exact for inputs of any length"}
    text = json.dumps(header).encode()
    other = struct.pack("<Q", len(text)) + text + raw[8 + length :]
    (tmp_path / "weights.safetensors").write_bytes(other)
    changed(tmp_path, lambda data: data.update(fingerprint=fingerprint(other)))
    assert "`fingerprint` is not what follows" in verify(tmp_path).refused


def test_a_small_figure_is_not_a_larger_one() -> None:
    assert not _are_close({"noise_radius": 1e-7}, {"noise_radius": 1.09e-7})
    assert not _are_close([1.0], [True])
    assert _are_close([1.0, 2e-9], [1.0 + 1e-9, 2e-9])
