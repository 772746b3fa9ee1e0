"""A bar on a terminal: it comes after a while, says how long it takes, and goes away."""

from __future__ import annotations

import io
import time

import pytest

from rasp.base import progress as progress_module
from rasp.base.progress import ProgressBar, part_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress_module, "time", clock)
    return clock


def test_quick_work_shows_nothing() -> None:
    out = Terminal()
    with ProgressBar("sorting", out=out) as progress:
        progress(0.5, "half")
    assert out.getvalue() == ""


def test_slow_work_says_how_far_it_is_and_what_is_left(clock: Clock) -> None:
    out = Terminal()
    with ProgressBar("sorting", out=out) as progress:
        progress(0, "")
        clock.now += 30
        progress(0.25, "first pass")
    assert "sorting: █████··············· 25 %, 1:30 min left, first pass" in out.getvalue()
    assert out.getvalue().endswith("\r\x1b[K"), "the line is taken away"


def test_time_left_goes_on_while_nothing_is_reported(clock: Clock) -> None:
    with ProgressBar("sorting", out=Terminal()) as progress:
        progress(0)
        clock.now += 10
        progress(0.5)
        clock.now += 4
        assert "6 s left" in progress.line()


def test_what_was_done_before_does_not_count_as_speed(clock: Clock) -> None:
    with ProgressBar("training", out=Terminal()) as progress:
        progress(0.8)
        assert "left" not in progress.line()
        clock.now += 10
        progress(0.9)
        assert "90 %, 10 s left" in progress.line()


def test_the_clock_goes_on_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "PATIENCE", 0.01)
    out = Terminal()
    with ProgressBar("waiting", out=out):
        end = time.monotonic() + 5
        while "waiting: 0 s" not in out.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert "waiting: 0 s" in out.getvalue()


def test_elsewhere_there_are_lines_or_nothing(clock: Clock) -> None:
    silent, log = io.StringIO(), io.StringIO()
    for out, every in ((silent, None), (log, 20.0)):
        with ProgressBar("training", every, out=out) as progress:
            progress(0, "")
            for step in range(1, 7):
                clock.now += 10
                progress(step / 10, "epoch")
    assert silent.getvalue() == ""
    assert log.getvalue().splitlines() == [
        "training: 20 %, 1:20 min left, epoch",
        "training: 40 %, 1:00 min left, epoch",
        "training: 60 %, 40 s left, epoch",
    ]


def test_a_stage_is_a_part_of_the_whole() -> None:
    reports: list[tuple[float, str]] = []
    stage = part_of(lambda share, doing: reports.append((share, doing)), 0.5, 0.75)
    stage(0.0, "a")
    stage(1.0, "b")
    assert reports == [(0.5, "a"), (0.75, "b")]
