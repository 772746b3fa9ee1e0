"""docs/architecture.md is true: its commands print what it shows, its tables hold."""

from __future__ import annotations

import doctest
import math
import re
import shlex
from itertools import combinations
from pathlib import Path

import pytest

import rasp
from rasp.apps.cli import main
from rasp.insight.schedule import fit
from rasp.insight.schedule.patterns import Pattern

from .allowed_pairs import allows
from .paper_programs import PAPER_PROGRAMS

TEXT = (Path(__file__).parents[3] / "docs" / "architecture.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```rasp\n(# (\S+)\n.*?)```", TEXT, re.DOTALL)
CONSOLE = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = re.findall(r"^\$ rasp (.*)\n((?:(?!\$ ).*\n)*)", "\n".join(CONSOLE), re.MULTILINE)


def test_there_is_something_to_check():
    assert len(PROGRAMS) == 6
    assert len(COMMANDS) == 16


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[each[0] for each in COMMANDS])
def test_a_command_prints_what_the_page_shows(
    command: str,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    for text, name in PROGRAMS:
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    main(shlex.split(command))
    assert capsys.readouterr().out.rstrip() == shown.rstrip()


def test_the_python_on_the_page_runs():
    parser = doctest.DocTestParser()
    blocks = "\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
    test = parser.get_doctest(blocks, {}, "architecture.md", None, 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_the_table_of_orders_holds():
    handles = [rasp.run(each.text)[each.name] for each in PAPER_PROGRAMS.values()]
    rows = re.findall(r"^\| `([sf]+)` \| (\d+) of (\d+) \|", TEXT, re.MULTILINE)
    assert len(rows) == 7
    for order, fitting, of in rows:
        assert (sum(fit(each, order=order).fits for each in handles), len(handles)) == (
            int(fitting),
            int(of),
        )
    assert all(fit(each, order="ssfsfsfsff") for each in handles)
    empty = [
        places
        for places in combinations(range(8), 4)
        if not any(fit(each, order=order_with(places)) for each in handles)
    ]
    assert [order_with(places) for places in empty] == ["ffffssss"]


def order_with(places: tuple[int, ...]) -> str:
    return "".join("s" if at in places else "f" for at in range(8))


def test_the_table_of_pairs_holds():
    patterns = [Pattern.read(text) for text in ("window:2", "block:4", "bigbird:1,1,2")]
    rows = re.findall(
        r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", TEXT, re.MULTILINE
    )
    assert len(rows) == 3
    for row in rows:
        length, square, n_log_n, *pairs = map(int, row)
        assert (square, n_log_n) == (length**2, round(length * math.log2(length)))
        allowed = [
            sum(allows(each, i, j, length) for i in range(length) for j in range(length))
            for each in patterns
        ]
        assert allowed == pairs
