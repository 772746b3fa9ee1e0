"""`generate()` of a stock library equals `rasp generate`, with its cache and without."""

from __future__ import annotations

import json
from pathlib import Path

import generating_examples as comparing
import pytest
from export_examples import needs

import rasp
from rasp.models.compiler.model.tensors import from_safetensors
from rasp.models.export import export

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the libraries' own


@pytest.mark.parametrize("example", comparing.EXAMPLE_LIST, ids=lambda example: example.name)
def test_weights_generate_as_the_program_does(example: comparing.Example, tmp_path: Path) -> None:
    needs("torch", "transformers")
    model = comparing.write_folder(example, tmp_path)
    assert model.certificate.exact
    lengths = {*map(len, example.prompts(6)[1::2]), example.max_length}
    prompts = [prompt for prompt in example.prompts(300) if len(prompt) in lengths]
    result = comparing.compare(example, tmp_path, prompts)
    assert result.different == []
    assert result.prompts > 30
    assert result.tokens > result.prompts, "some of them say more than one token"


def test_a_difference_is_found(tmp_path: Path) -> None:
    needs("torch", "transformers")
    copy, *_, parity, _ = comparing.EXAMPLE_LIST
    comparing.write_folder(copy, tmp_path)
    wrong = comparing.Example(parity.name, parity.s_op, ("0", "1", "|"), 16, parity.prompt)
    folder = tmp_path / "wrong"
    negated = rasp.run("out = tokens;")["out"]
    export(rasp.compile(negated, alphabet="01|", max_length=16, next_token=True), "hf-gpt2", folder)
    assert comparing.compare(wrong, folder, [["1", "0", "|"]]).different == [["1", "0", "|"]]


def test_a_program_that_never_stops_ends_at_the_longest_input(tmp_path: Path) -> None:
    needs("torch", "transformers")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    cycle = rasp.run("cycle = (indices + 1) % 3;")["cycle"]
    model = rasp.compile(cycle, alphabet="012", max_length=7, next_token=True)
    export(model, "hf-gpt2", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["eos_token_id"] == 3 + model.uses_sink
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    given = tokenizer("00", return_tensors="pt")
    stock = AutoModelForCausalLM.from_pretrained(tmp_path).generate(**given)
    [expected] = rasp.generate(cycle, ["00"], most=6)
    assert tokenizer.decode(stock[0], skip_special_tokens=True) == "00" + str(expected)


def test_a_card_says_of_which_weights_it_tells_figures(tmp_path: Path) -> None:
    """The logits of an exported model are scaled, so that its own weights are larger."""
    needs("torch")
    model = rasp.compile(rasp.tokens, alphabet="ab", max_length=3, next_token=True, style="robust")
    export(model, "torch", tmp_path / "out")
    written = from_safetensors((tmp_path / "out" / "weights.safetensors").read_bytes())
    robust = model.certificate.robust
    assert max(abs(array).max(initial=0.0) for array in written.values()) > robust.largest_weight
    told = json.loads((tmp_path / "out" / "rasp.json").read_text())["certificate"]
    assert told.startswith("of the compiled model, before the export: exact for all inputs")
    assert told.endswith(str(robust))
