"""Text in, the program's answers out, by a stock library that has never heard of rasp."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from export_examples import needs

import rasp
from rasp.base.errors import RaspUnsupportedError
from rasp.models.compiler import Transformer
from rasp.models.export import export
from rasp.models.export.next_token_head import in_vocabulary
from rasp.models.export.tokenizer import specials_of

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the libraries' own

HIST = "out = selector_width(select(tokens, tokens, ==));"
WITHOUT_RASP = """
import json, sys
sys.modules["rasp"] = None
from transformers import pipeline
label = pipeline("token-classification", sys.argv[1])
said = {text: [(found["word"], found["entity"]) for found in label(text)]
        for text in ("abcab", "e")}
batch = [[found["entity"] for found in each] for each in label(["aab", "abcdeabc"], batch_size=2)]
refused = []
for text in ("abx", "a b", "abcdeabca"):
    try:
        label(text)
    except Exception as error:
        refused.append(text)
say = pipeline("text-generation", sys.argv[2])
answers = {text: say(text)[0]["generated_text"] for text in ("New York |", "is |")}
many = [each[0]["generated_text"] for each in say(["is |", "York is |"], batch_size=2)]
sampled = say("New is |", do_sample=True, temperature=3.0)[0]["generated_text"]
print(json.dumps([said, batch, refused, answers, many, sampled]))
"""
COPY = """
back = select(indices, indices, <=);
bar = aggregate(select_best(select(tokens, "|", ==) and back, score(indices, -1)), indices);
made = indices - bar;
out = aggregate(select(indices, made, ==) and back, tokens, "|") if made < bar else "";
"""


def compiled(text: str, alphabet: object, **options: Any) -> Transformer:
    return rasp.compile(rasp.run(text)["out"], alphabet=alphabet, max_length=8, **options)


def test_pipelines_answer_as_the_program_does(tmp_path: Path) -> None:
    needs("torch", "transformers")
    words = ["New", "York", "is", "|"]
    export(compiled(HIST, "abcde"), "hf-bert", tmp_path / "bert")
    export(compiled(COPY, words, next_token=True), "hf-gpt2", tmp_path / "gpt2")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_RASP, tmp_path / "bert", tmp_path / "gpt2"],
        capture_output=True, text=True, check=True,
        env={"HF_HUB_OFFLINE": "1", "PATH": "", "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    said, batch, refused, answers, many, sampled = json.loads(done.stdout)
    hist = rasp.run(HIST)["out"]
    for text, found in said.items():
        assert found == [
            [letter, str(count)] for letter, count in zip(text, hist(text), strict=True)
        ]
    assert batch == [[*map(str, hist(text))] for text in ("aab", "abcdeabc")]
    assert refused == ["abx", "a b", "abcdeabca"], "unknown tokens, and a text that is too long"
    assert answers == {"New York |": "New York | New York", "is |": "is | is"}
    assert many == ["is | is", "York is | York is"]
    assert sampled == "New is | New is"


@pytest.mark.parametrize(
    ("alphabet", "text", "ids"),
    [
        (["a", "b", " "], "b a", [1, 2, 0]),
        ("ab\n[", "[\nab", [3, 2, 0, 1]),
        (["\u00e9", "e", "\u0301"], "\u00e9e\u0301", [0, 1, 2]),  # as they are: no normal form
        ([10, 11, -1], "11  -1\n10", [1, 2, 0]),
        (["a", "New York"], "a", [0]),
    ],
)
def test_text_becomes_the_ids_of_its_tokens(
    alphabet: list[Any], text: str, ids: list[int], tmp_path: Path
) -> None:
    needs("torch", "transformers")
    from transformers import AutoTokenizer

    model = compiled("out = indices;", alphabet)
    assert not model.uses_sink
    export(model, "hf-bert", tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer(text).input_ids == ids
    assert tokenizer.pad_token == specials_of(model).last
    assert tokenizer.pad_token_id == len(alphabet)
    with pytest.raises(Exception, match="Missing"):
        tokenizer("unknown")


def test_special_tokens_are_part_of_no_input() -> None:
    signs = "[<{("
    for count in range(5):
        model = compiled(HIST, ["a", *signs[:count]])
        specials = specials_of(model)
        assert specials.sink is not None
        assert not set(specials.sink + specials.last) & set(signs[:count])


def test_tokens_that_are_one_text_are_refused(tmp_path: Path) -> None:
    needs("torch", "transformers")
    from fractions import Fraction

    third = Fraction(1, 3)
    near = third + Fraction(1, 10**30)
    with pytest.raises(RaspUnsupportedError, match="does not read back its own vocabulary"):
        export(compiled("out = indices;", [third, near]), "hf-bert", tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_every_export_of_a_next_token_model_has_a_logit_for_each_id(tmp_path: Path) -> None:
    needs("torch")
    model = compiled(COPY, "ab|", next_token=True)
    assert model.uses_sink
    assert in_vocabulary(model).readouts[0].atoms == ("a", "b", "|", "sink", "")
    export(model, "torch", tmp_path)
    [output] = json.loads((tmp_path / "rasp.json").read_text())["outputs"]
    assert output["labels"] == ['"a"', '"b"', '"|"', '"sink"', '""']
