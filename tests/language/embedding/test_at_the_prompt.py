"""What Python's prompt shows: results for people, short handles, and errors without our frames."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable
from types import TracebackType

import pytest

import rasp


def test_every_public_name_is_listed_and_loaded_only_when_used() -> None:
    code = (
        "import rasp, sys;"
        "assert {'compile', 'export', 'verify'} <= set(dir(rasp)) & set(rasp.__all__);"
        "assert set(rasp.__all__) - {'__version__'} <= set(rasp._HOMES);"
        "assert not {'numpy', 'torch', 'rasp.models.compiler'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    for name in rasp.__all__:
        assert getattr(rasp, name) is not None
    assert callable(rasp.export) and rasp.export.to_torch


WRONG_USES: list[Callable[[], object]] = [
    lambda: rasp.run("x = token;"),
    lambda: rasp.run("x = 1;")["y"],
    lambda: rasp.tokens & 3,
    lambda: (rasp.tokens + 1)("ab"),
    lambda: rasp.select_all + 1,
    lambda: bool(rasp.tokens),
    lambda: rasp.lib.sort(rasp.select_all, rasp.tokens),
    lambda: rasp.run("def f(x) { return x + [1]; }")["f"](rasp.tokens),
    lambda: rasp.equivalent(1, 2),
    lambda: rasp.fit(rasp.tokens),
    lambda: rasp.draw(rasp.tokens, "ab").save("picture.doc"),
    lambda: rasp.compile(rasp.tokens, max_length=3),
    lambda: rasp.compile(rasp.tokens, alphabet="ab", max_length=3)("abab"),
    lambda: rasp.export("no such folder", "torch", "nowhere"),
    lambda: rasp.table([1])["a"],  # type: ignore[index]
]


@pytest.mark.parametrize("use", WRONG_USES)
def test_an_error_shows_the_callers_lines_alone(use: Callable[[], object]) -> None:
    with pytest.raises(rasp.RaspError) as caught:
        use()
    assert_only_our_tests(caught.value)


def assert_only_our_tests(error: BaseException) -> None:
    found: TracebackType | None = error.__traceback__
    files = {entry.filename for entry in traceback.extract_tb(found)}
    assert files == {__file__}
    assert "direct cause" not in "".join(traceback.format_exception(error))
    assert "During handling" not in "".join(traceback.format_exception(error))


def test_a_missing_argument_is_told_without_our_lines_and_our_mistakes_with_them() -> None:
    with pytest.raises(TypeError) as caught:
        rasp.lib.sort(rasp.tokens)  # type: ignore[call-arg]
    assert_only_our_tests(caught.value)

    with pytest.raises(ZeroDivisionError) as broken:
        rasp.equivalent(rasp.tokens, rasp.indices, progress=lambda done, total: print(1 / 0))
    assert len(traceback.extract_tb(broken.value.__traceback__)) > 3


def test_a_handle_prints_at_most_a_line() -> None:
    handle = rasp.tokens
    for number in range(12):
        handle = rasp.where(handle == str(number), handle + "x", rasp.tokens)
    assert len(repr(handle)) < 100 and "…" in repr(handle)
    assert repr(handle.named("long")).startswith("<s-op long = ")
    assert repr(rasp.indices + 1) == "<s-op indices + 1>"


def test_results_show_themselves() -> None:
    hist = rasp.programs.load("hist")
    model = rasp.compile(hist, alphabet="ab", max_length=3)
    for result in (
        rasp.explain(hist),
        rasp.fit(hist, layers=1),
        rasp.equivalent(hist, rasp.indices),
        model.certificate,
        rasp.explain_plan(hist),
    ):
        assert repr(result) == str(result)
    for result in (rasp.schedule(hist), model, model.trace("ab"), rasp.programs.entry("hist")):
        assert repr(result).startswith("<") and " at 0x" not in repr(result)
    assert ".save(" in repr(rasp.draw(hist, "ab")) and "print" in repr(rasp.draw(hist, "ab"))
