"""What a user of Python meets: a certificate with a type, what is missing in words, `rasp.load`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.base.errors import RaspError, RaspTypeError, RaspUnsupportedError

USE = """\
import rasp
model = rasp.compile(rasp.indices, alphabet="ab", max_length=3)
told: str = model.certificate.statement
again: str = rasp.load("folder").certificate.statement
exact: bool = rasp.verify("folder").exact
tokens: list[str] = model.vocabulary
"""


@pytest.mark.slow
def test_use_passes_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs the extra `dev`")
    path = tmp_path / "use.py"
    path.write_text(USE)
    source = str(Path(rasp.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent",
         "--cache-dir", str(tmp_path / "cache"), str(path)],
        capture_output=True, text=True, env={"MYPYPATH": source, "PATH": ""}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_a_model_says_its_vocabulary() -> None:
    assert rasp.compile(rasp.indices, alphabet="ab", max_length=3, bos="§").vocabulary == [
        "a", "b", "§",
    ]  # fmt: skip
    assert rasp.compile(rasp.indices, alphabet=[0.5, 2], max_length=2).vocabulary == [0.5, 2]


def test_what_is_missing_is_named() -> None:
    with pytest.raises(RaspTypeError, match="needs `max_length`, the length of the longest input"):
        rasp.compile(rasp.indices, alphabet="ab")
    with pytest.raises(RaspTypeError, match="needs one alphabet"):
        rasp.compile(rasp.indices, max_length=3)


def test_a_saved_model_is_loaded_and_verified_by_public_names(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    model = rasp.compile(rasp.length, alphabet="ab", max_length=4)
    model.save(folder)
    assert rasp.load(folder)("aba") == [3, 3, 3]
    assert rasp.verify(folder).statement == model.certificate.statement
    assert rasp.load(folder).certificate.statement == model.certificate.statement


HIST = rasp.selector_width(rasp.select(rasp.tokens, rasp.tokens, "=="))
BEFORE = rasp.select(rasp.indices, rasp.indices - 1, "==")
EMPTY = {
    "a strange token": rasp.tokens == "z", "too long": rasp.indices > 5,
    "nothing": rasp.constant(False), "itself": rasp.tokens != rasp.tokens,
    "position 0": rasp.indices > 0,
}  # fmt: skip
OUTPUTS = {"tokens": rasp.tokens, "length": rasp.length, "hist": HIST,
           "before": rasp.aggregate(BEFORE, rasp.tokens, "-")}  # fmt: skip


@pytest.mark.parametrize("promise", EMPTY.values(), ids=EMPTY)
@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
@pytest.mark.parametrize("options", [{}, {"bos": "§"}, {"causal": True}, {"next_token": True}])
def test_a_promise_that_no_input_keeps_is_refused(
    promise: Any, output: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(RaspUnsupportedError, match="no input keeps the promise"):
        rasp.compile(output, alphabet="ab", max_length=3, where=promise, **options)


@pytest.mark.parametrize("promise", [
    rasp.indices == 0, rasp.indices < 2, rasp.length == 3, rasp.tokens == "a",
    (rasp.tokens == "b") | (rasp.indices == 0), rasp.length > 2,
])  # fmt: skip
@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_a_promise_that_few_inputs_keep_gives_a_model_or_a_reason(
    promise: Any, output: Any
) -> None:
    try:
        model = rasp.compile(output, alphabet="ab", max_length=3, where=promise)
    except RaspError:
        return
    kept = [given for given in ("a", "ab", "aab", "aaa", "b", "abb") if all(promise(given))]
    assert kept and all(model(given) == output(given) for given in kept)


@pytest.mark.parametrize("style", ["compact", "robust"])
def test_compiling_and_verifying_say_how_far_they_are(style: Any, tmp_path: Path) -> None:
    said: list[tuple[float, str]] = []
    hist = rasp.run("hist = histf(tokens);")["hist"]
    model = rasp.compile(hist, alphabet="ab", max_length=3, style=style,
                         progress=lambda *report: said.append(report))  # fmt: skip
    shares = [share for share, _ in said]
    assert shares == sorted(shares) and shares[0] == 0.0 and 0.9 < shares[-1] <= 1.0
    assert [doing for _, doing in said][:3] == ["planning", "writing weights", "checking"]
    model.save(tmp_path / "hist")
    checked: list[float] = []
    rasp.verify(tmp_path / "hist", progress=lambda share, doing: checked.append(share))
    assert checked == sorted(checked) and len(checked) >= 2
