"""Every input up to a length, shortest first: what is proved, run, tested, different, undecided."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rasp
from rasp.base.errors import RaspError
from rasp.insight.dialect import automaton_of
from rasp.models.proving import Adapter, Architecture, prove
from rasp.models.proving.network_table import forward
from rasp.models.proving.prefixes import lay_out
from rasp.models.proving.search import run_everywhere

SHARED = Path(__file__).resolve().parents[4] / "shared" / "proving"
BALANCED = """
up = 1 if tokens == "0" else -1;
depth = aggregate(select(indices, indices, <=), up) * (indices + 1);
end = aggregate(select(indices, length - 1, ==), depth);
balanced = end == 0 and aggregate(select(depth, 0, <), 1) == 0;
"""
HIST = rasp.run("same = select(tokens, tokens, ==); hist = selector_width(same);")["hist"]


def counter(last: float = 2.0) -> tuple[tuple[Architecture, dict[str, Any]], Adapter]:
    """A model of two numbers: are there more `a` than `b`? The mean of all tokens decides."""
    arrays = {
        "tok.weight": [[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]],
        "q.weight": [[0.0, 0.0]], "k.weight": [[0.0, 0.0]], "v.weight": [[1.0, 0.0]],
        "o.weight": [[0.0], [1.0]], "read.weight": [[0.0, -last], [0.0, last]],
        "read.bias": [0.5, 0.0],
    }  # fmt: skip
    row = Architecture(1, 1, False, "tok", None, query="q", key="k", value="v", out="o",
                       inside=None, readout=("read",))  # fmt: skip
    return (row, arrays), Adapter(tokens="ab", ids=(0, 1), answers=(False, True), at="last")


def more_a(tokens: list[str]) -> bool:
    return 4 * (tokens.count("a") - tokens.count("b")) > 0.5 * len(tokens)


def test_a_model_is_proved_with_its_least_margin() -> None:
    model, adapter = counter()
    found = prove(model, more_a, adapter=adapter, up_to=6)
    assert (found.verdict, found.up_to, found.inputs) == ("proved", 6, 126)
    words = ("".join(word) for n in range(1, 7) for word in itertools.product("ab", repeat=n))
    leads = {word: abs(4 * (word.count("a") - word.count("b")) / len(word) - 0.5) for word in words}
    assert found.margin == pytest.approx(min(leads.values()), abs=1e-9)
    assert leads[str(found.worst)] == pytest.approx(min(leads.values()))


@pytest.mark.parametrize("last", [1.0, 0.3, 0.26, 0.24, -2.0])
def test_a_difference_is_the_shortest_there_is(last: float) -> None:
    """Brute force over the formula that the model is."""
    model, adapter = counter(last)
    words = [word for length in range(1, 8) for word in itertools.product("ab", repeat=length)]
    wrong = [word for word in words
             if (2 * last * (word.count("a") - word.count("b")) / len(word) > 0.5)
             != more_a(list(word))]  # fmt: skip
    found = prove(model, more_a, adapter=adapter, up_to=7)
    if not wrong:
        assert found.verdict == "proved"
        return
    assert found.difference is not None and found.verdict == "different"
    assert found.difference.tokens == wrong[0], "shortest first, and in the alphabet's order"
    assert found.difference.model != found.difference.program
    assert "all shorter inputs agree" in str(found) or len(wrong[0]) == 1


def test_what_is_put_around_an_input_is_part_of_it() -> None:
    """A third token is put before, after, or fills up: its value is 0, so it only dilutes."""
    (row, arrays), adapter = counter()
    for given, rest in (({"before": (2,), "after": (2,)}, 2), ({"after": (2, 2, 2)}, 3)):
        wrapped = Adapter("ab", (0, 1), (False, True), "last", **given)

        def diluted(tokens: list[str], rest: int = rest) -> bool:
            lead = 4 * (tokens.count("a") - tokens.count("b"))
            return lead > 0.5 * (len(tokens) + rest)

        assert prove((row, arrays), diluted, adapter=wrapped, up_to=4).verdict == "proved"
        assert prove((row, arrays), more_a, adapter=wrapped, up_to=9).verdict == "different"
    placed = {**arrays, "pos.weight": np.zeros((7, 2))}
    filled = Adapter("ab", (0, 1), (False, True), "last", fill=2)

    def among_seven(tokens: list[str]) -> bool:
        return 4 * (tokens.count("a") - tokens.count("b")) > 3.5

    found = prove((replace(row, positions="pos"), placed), among_seven, adapter=filled)
    assert (found.verdict, found.up_to) == ("proved", 7)
    assert adapter.describe() != filled.describe() and "filled up with 2" in filled.describe()


def test_several_logits_or_codes_may_mean_one_answer() -> None:
    (row, arrays), _ = counter()
    arrays |= {"read.weight": [[0.0, -2.0], [0.0, -3.0], [0.0, 2.0]], "read.bias": [0.5, 0.5, 0.0]}
    adapter = Adapter("ab", (0, 1), (False, False, True), "last")
    assert prove((row, arrays), more_a, adapter=adapter, up_to=6).verdict == "proved"
    assert prove((row, arrays), more_a, adapter=adapter, up_to=6, how="run").verdict == "run"
    arrays |= {"read.weight": [[0.0, 1.0]], "read.bias": [0.0]}  # the mean, from −1 to 1
    coded = Adapter("ab", (0, 1), (True, True, False, True), "last",
                    codes=(-1.0, -0.5, 0.05, 0.7))  # fmt: skip

    def outside(tokens: list[str]) -> bool:
        lead = (tokens.count("a") - tokens.count("b")) / len(tokens)
        return not -0.225 < lead < 0.375

    found = prove((row, arrays), outside, adapter=coded, up_to=7)
    assert found.verdict == "proved" and 0 < (found.margin or 0) < 0.1
    assert prove((row, arrays), outside, adapter=coded, up_to=7, how="run").verdict == "run"
    assert prove((row, arrays), more_a, adapter=coded, up_to=7).verdict == "different"


def test_a_tie_is_neither_proved_nor_different() -> None:
    """`aab…` with a mean of exactly 1/8 makes both logits equal; no number of digits tells."""
    model, adapter = counter()
    model[1]["read.bias"] = [4.0, 0.0]
    found = prove(model, lambda tokens: "b" not in tokens, adapter=adapter, up_to=2)
    assert found.verdict in ("run", "tested") and found.undecided == (("a",), ("a", "a"))
    assert "closer than 400 bits tell" in str(found)


def test_more_digits_are_taken_where_float64_is_too_wide() -> None:
    (row, arrays), adapter = counter()
    arrays |= {"read.bias": [4.0 - 2.0**-60, 0.0]}  # not a float64: it is 4
    arrays |= {"read.weight": [[0.0, -2.0], [0.0, 2.0 * (1 - 2.0**-52)]]}
    found = prove((row, arrays), lambda _: False, adapter=adapter, up_to=2)
    assert found.verdict == "proved" and found.digits is not None
    assert found.digits["double-double"] == 2, "on `a` and `aa` the lead is 2^-51"
    assert found.margin == pytest.approx(2.0**-51, rel=1e-6)


@pytest.mark.parametrize("style", ["robust", "compact"])
def test_a_compiled_model_is_proved_as_it_is_certified(style: str, tmp_path: Path) -> None:
    model = rasp.compile(
        {"hist": HIST, "n": rasp.length}, alphabet="abc", max_length=5, style=style
    )
    model.save(tmp_path / "model")
    for output, program in (("hist", HIST), ("n", rasp.length)):
        found = prove(tmp_path / "model", program, output=output)
        assert (found.verdict, found.inputs) == ("proved", 363)
    runs = run_everywhere(model)
    assert runs is not None and [one.verdict for one in runs.values()] == ["run", "run"]
    assert run_everywhere(model, most=362) is None
    with pytest.raises(RaspError, match="no output `other`"):
        prove(model, HIST, output="other")


def test_a_bos_and_a_promise_limit_what_is_compared() -> None:
    best = rasp.run("hist = selector_width(select(tokens, tokens, ==), True);")["hist"]
    model = rasp.compile(best, alphabet="ab", max_length=4, bos="§")
    assert prove(model, best).inputs == 1 + 2 + 4 + 8
    no_b = rasp.tokens != "b"
    promised = rasp.compile(HIST, alphabet="ab", max_length=4, where=no_b)
    assert prove(promised, HIST).inputs == 4
    plain = rasp.compile(HIST, alphabet="ab", max_length=4)
    assert prove(plain, HIST, where=no_b).inputs == 4
    assert prove(plain, HIST, where="(ab)*").inputs == 2
    assert prove(plain, HIST, alphabet="b").inputs == 4


def test_where_the_program_has_no_value_nothing_is_compared() -> None:
    inverse = rasp.run('ones = indicator(tokens == "a"); x = 1 / aggregate(full_s, ones);')["x"]
    model, adapter = counter()
    found = prove(model, inverse > 0.25, adapter=adapter, up_to=1)
    assert found.failing == 1 and found.inputs == 1
    with pytest.raises(RaspError, match="no input on which the program has a value"):
        prove(model, inverse > 0, adapter=adapter, up_to=2, alphabet="b")


def test_a_language_is_a_program_too() -> None:
    model, adapter = counter()
    odd = automaton_of("(ab)*")
    for program in ("(ab)*", odd):
        found = prove(model, program, adapter=adapter, up_to=3)
        assert found.difference is not None and found.difference.input == "a"
        assert found.difference.program == [False]


def test_running_and_testing_are_weaker_words() -> None:
    model, adapter = counter()
    run = prove(model, more_a, adapter=adapter, up_to=5, how="run")
    assert run.verdict == "run" and run.margin is None and "float32" in run.assumptions[0]
    tested = prove(model, more_a, adapter=adapter, up_to=30, how="test", samples=50)
    assert tested.verdict == "tested" and 40 <= tested.inputs <= 50 and tested.margin is not None
    wrong = prove(model, lambda tokens: len(tokens) < 9, adapter=adapter, up_to=30, how="test",
                  samples=200)  # fmt: skip
    assert wrong.verdict == "different"


def test_progress_reaches_the_end_and_names_the_length() -> None:
    model, adapter = counter()
    told: list[tuple[int, int, int]] = []
    prove(model, more_a, adapter=adapter, up_to=4, where=rasp.tokens != "b",
          progress=lambda *words: told.append(words))  # fmt: skip
    assert told == [(2, 30, 1), (6, 30, 2), (14, 30, 3), (30, 30, 4)]


def test_what_is_known_goes_into_json() -> None:
    model, adapter = counter()
    told = json.loads(json.dumps(prove(model, "(ab)*", adapter=adapter, up_to=3).as_dict()))
    assert {"verdict", "up_to", "margin", "input", "answers", "assumptions"} <= told.keys()
    assert told["answers"] == {"model": [True], "program": [False], "positions": [0]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ids": (0, 7)}, "id 7"),
        ({"answers": (1, 2, 3)}, "reads 3 logits"),
        ({"at": "whole"}, "pools"),
        ({"at": "nowhere"}, "not where answers"),
        ({"ids": (0,)}, "1 ids"),
    ],
)
def test_an_adapter_that_does_not_fit_is_refused(change: dict[str, Any], words: str) -> None:
    model, _ = counter()
    given = {"tokens": "ab", "ids": (0, 1), "answers": (False, True), "at": "last"} | change
    with pytest.raises(RaspError, match=words):
        prove(model, "(ab)*", adapter=Adapter(**given), up_to=2)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("q.weight", None, "no weights `q.weight`"),
        ("q.weight", [[0.0, np.nan]], "not finite"),
        ("v.weight", [[1.0, 0.0]] * 2, "v"),
        ("o.weight", [[0.0]], "head's output"),
        ("read.weight", [[0.0, 1.0, 2.0]] * 2, "linear map"),
        ("tok.weight", [1.0, 2.0], "shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, value: Any, words: str) -> None:
    (row, arrays), adapter = counter()
    arrays[name] = value
    if value is None:
        del arrays[name]
    with pytest.raises(RaspError, match=words):
        prove((row, arrays), "(ab)*", adapter=adapter, up_to=2)


def test_what_cannot_be_asked_is_refused_in_words(tmp_path: Path) -> None:
    model, adapter = counter()
    for given, words in (
        ({"adapter": None}, "which ids"),
        ({"adapter": adapter, "how": "guess"}, "`how` is one of"),
        ({"adapter": adapter, "alphabet": "xyz"}, 'no token "x"'),
        ({"adapter": adapter, "device": "cpu"}, "only a run"),
    ):
        with pytest.raises(RaspError, match=words):
            prove(model, more_a, up_to=2, **given)
    with pytest.raises(RaspError, match="this is a selector"):
        prove(model, rasp.select(rasp.tokens, rasp.tokens, "=="), adapter=adapter, up_to=2)
    (tmp_path / "x.json").write_text("[]")
    for place in (tmp_path, tmp_path / "none", tmp_path / "x.json"):
        with pytest.raises(RaspError):
            prove(place, "(ab)*")
    compiled = rasp.compile(HIST, alphabet="ab", max_length=3)
    with pytest.raises(RaspError, match="at most 3 tokens"):
        prove(compiled, HIST, up_to=4)
    with pytest.raises(RaspError, match="more than 5,000,000,000 inputs"):
        prove(model, more_a, adapter=adapter, up_to=40)


def test_pictures_show_both_computations_or_the_margins(tmp_path: Path) -> None:
    compiled = rasp.compile(HIST, alphabet="ab", max_length=3)
    found = prove(compiled, HIST)
    picture = found.draw().save(tmp_path / "a.svg").read_text("utf-8")
    assert found.worst is not None and "".join(found.worst) in picture
    drawn = prove(compiled, HIST + (HIST == 3)).draw().save(str(tmp_path / "b.svg"))
    text = Path(drawn).read_text("utf-8")
    assert "program: same" in text and "model: layer 1, head 1" in text


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} does not hold the published models")
def test_the_published_models_are_proved_with_their_margins() -> None:
    balanced = rasp.run(BALANCED)["balanced"]
    for name, margin, worst in (("dyck10", 6.3956687, "0001011110"),
                                ("dyck16", 8.0950743, "0001001011111001")):  # fmt: skip
        found = prove(SHARED / f"{name}.weights.json", balanced)
        assert found.verdict == "proved" and found.worst == worst
        assert found.margin == pytest.approx(margin, abs=1e-4)


def random_classifier(random: np.random.Generator) -> tuple[Architecture, dict[str, np.ndarray]]:
    """A random model of bit strings of length 5, as the published ones are made."""
    row = Architecture(
        1, 2, True, "tok", "pos", query="q", key="k", value="v", out="o", inside="in",
        outside="out", pool="sum", readout=("h1", "relu", "h2"),
    )  # fmt: skip
    shapes = {"tok": (2, 4), "pos": (5, 4), "q": (4, 4), "k": (4, 4), "v": (4, 4), "o": (4, 4),
              "in": (6, 4), "out": (4, 6), "h1": (4, 4), "h2": (2, 4)}  # fmt: skip
    arrays = {f"{name}.weight": random.normal(size=shape) for name, shape in shapes.items()}
    return row, arrays | {"h2.bias": random.normal(size=2)}  # else zeros in ReLU would tie


def decisions(model: tuple[Architecture, dict[str, np.ndarray]]) -> np.ndarray:
    """What a model decides on every input, in dense float64 that shares nothing with the search."""
    _, arrays = model
    rows = np.array(list(itertools.product((0, 1), repeat=5)))
    part = {name.removesuffix(".weight"): array for name, array in arrays.items()}
    x = part["tok"][rows] + part["pos"]
    q, k, v = (np.reshape(x @ part[name].T, (32, 5, 2, 2)).swapaxes(1, 2) for name in "qkv")
    scores = q @ k.swapaxes(2, 3) / 2**0.5
    scores[:, :, np.triu(np.ones((5, 5), bool), 1)] = -np.inf
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    moved = (powers / powers.sum(-1, keepdims=True)) @ v
    x = x + moved.swapaxes(1, 2).reshape(32, 5, 4) @ part["o"].T
    x = x + np.maximum(x @ part["in"].T, 0) @ part["out"].T
    logits = np.maximum(x.sum(1) @ part["h1"].T, 0) @ part["h2"].T + arrays["h2.bias"]
    return np.asarray(logits[:, 1] - logits[:, 0])


@pytest.mark.parametrize("seed", range(40))
def test_no_changed_model_is_proved_unless_it_decides_alike(seed: int) -> None:
    random = np.random.default_rng(seed)
    model = random_classifier(random)
    truth = decisions(model) > 0
    adapter = Adapter(tokens="01", ids=(0, 1), answers=(False, True), at="whole", shortest=5,
                      longest=5)  # fmt: skip

    def program(tokens: list[str]) -> bool:
        return bool(truth[int("".join(tokens), 2)])

    assert prove(model, program, adapter=adapter).verdict == "proved"
    row, arrays = model
    name = str(random.choice(list(arrays)))
    changed = arrays | {name: arrays[name].copy()}
    changed[name][tuple(random.integers(0, changed[name].shape))] += random.normal() * 2
    leads = decisions((row, changed))
    wrong = np.flatnonzero((leads > 0) != truth)
    found = prove((row, changed), program, adapter=adapter)
    assert found.verdict == ("different" if len(wrong) else "proved")
    if len(wrong):
        assert found.difference is not None and int(str(found.difference.input), 2) == wrong[0]
    else:
        assert found.margin == pytest.approx(float(np.abs(leads).min()), rel=1e-6)


def test_the_arithmetic_sees_each_prefix_once() -> None:
    """However an input is batched, its logits are the same but for rounding."""
    from rasp.models.proving.model_files import open_model
    from rasp.models.proving.single_precision import Single

    row, arrays = random_classifier(np.random.default_rng(0))
    network = open_model((row, arrays), Adapter("01", (0, 1), (False, True), "whole")).network
    rows = np.array(list(itertools.product((0, 1), repeat=5)))
    together = forward(network, lay_out(rows, True), Single())
    alone = [forward(network, lay_out(one[None], True), Single())[0] for one in rows]
    assert np.allclose(together, np.array(alone), rtol=1e-4, atol=1e-4)
