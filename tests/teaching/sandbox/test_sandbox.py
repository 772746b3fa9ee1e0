"""The sandbox: whatever a program does, its caller is answered, and so is everybody else."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from processes import children, wait_until_gone
from rasp import Limits
from rasp.base.limits import MEGABYTE
from rasp.teaching.sandbox import WITHDRAWN, Sandbox
from rasp.teaching.sandbox.turns import Turns

SLOW = "x = 3 ^ 8000; for n in range(90000) { y = x % (n + 7); }"
LARGE = 'x = "a" * 90000; y = [x + "b" * n for n in range(20000)];'
PATIENCE = 60.0


@pytest.fixture
def box(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """One worker that misbehaves on request."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    with Sandbox(1, seconds=30, memory=300 * MEGABYTE, task="misbehaving:misbehave") as opened:
        yield opened


def test_values_and_mistakes_come_back_as_plain_data() -> None:
    with Sandbox(1, limits=Limits(input_length=5)) as box:
        told = box.run("double = indices * 2;\nhalf = indices / 2;\nx = 1 / 0;", "abc")
        assert told["values"] == {"double": [0, 2, 4], "half": [0.0, 0.5, 1.0]}
        [error] = told["errors"]
        assert (error["kind"], error["line"], error["column"]) == ("value", 3, 5)
        assert box.run("x = tokens;", (1, 2.5, True))["values"] == {"x": [1, 2.5, True]}
        assert box.run("x = tokens; y = tokens;", "ab", names=["y"])["values"] == {"y": ["a", "b"]}
        assert box.run("x = tokens;", "abcdef")["errors"][0]["kind"] == "limit"
        assert box.run("x = tokens;", "ab", names=["z"])["errors"][0]["kind"] == "name"


def test_load_reads_nothing_unless_a_folder_is_given(tmp_path: Path) -> None:
    tmp_path.joinpath("other.rasp").write_text("y = indices;")
    with Sandbox(1) as box:
        program = 'load "other"; x = y;'
        assert "switched off" in box.run(program, "ab")["errors"][0]["message"]
        assert box.run(program, "ab", folder=str(tmp_path))["values"]["x"] == [0, 1]


def test_a_late_program_is_ended_and_the_next_is_answered() -> None:
    with Sandbox(1, seconds=0.3) as box:
        assert "longer than 0.3 seconds" in box.run(SLOW)["errors"][0]["message"]
        assert box.run("x = indices;", "ab", seconds=20)["values"] == {"x": [0, 1]}


def test_memory_has_a_limit() -> None:
    pytest.importorskip("resource", reason="this system bounds no process's memory")
    with Sandbox(1, seconds=30, memory=200 * MEGABYTE) as box:
        [error] = box.run(LARGE)["errors"]
        assert error["kind"] == "limit"
        assert box.run("x = indices;", "ab")["values"] == {"x": [0, 1]}


@pytest.mark.slow
@pytest.mark.parametrize("deed", ["crash", "leave", "kill", "raise", "fill", "answer too much"])
def test_a_process_that_breaks_is_an_ordinary_error(box: Sandbox, deed: str) -> None:
    before = box.ask({"do": "nothing"})["pid"]
    error = box.ask({"do": deed})["error"]
    assert error["kind"] in ("limit", "unsupported") and error["message"] and error["hint"]
    assert box.ask({"do": "nothing"})["pid"] != before


def test_what_a_task_prints_is_no_answer(box: Sandbox) -> None:
    pid = box.ask({"do": "print"})["pid"]
    assert box.ask({"do": "nothing"})["pid"] == pid


def test_a_task_may_answer_several_times(box: Sandbox) -> None:
    told: list[dict[str, Any]] = []
    assert box.submit({"do": "several"}, tell=told.append).result() == {"number": 2}
    assert told == [{"number": 1}, {"number": 2}]


def test_a_withdrawn_request_frees_its_worker(box: Sandbox) -> None:
    box.ask({"do": "nothing"})
    hanging, waiting = box.submit({"do": "hang"}), box.submit({"do": "nothing"})
    waiting.withdraw()
    assert waiting.result(PATIENCE) is WITHDRAWN
    assert not hanging.future.done()
    hanging.withdraw()
    assert hanging.result(PATIENCE) is WITHDRAWN
    assert "pid" in box.ask({"do": "nothing"})


def test_too_many_requests_are_refused_at_once() -> None:
    with Sandbox(1, seconds=20, most_waiting=2, most_of_one=1) as box:
        running = box.submit({"text": SLOW}, "one")
        while not box._turns.running:
            time.sleep(0.01)
        box.submit({"text": SLOW}, "one")
        for client in ("one", "two", "three"):
            last = box.submit({"text": "x = 1;"}, client)
        assert "busy" in last.result(PATIENCE)["error"]["message"]
        assert not running.future.done()


def test_closing_ends_everything(box: Sandbox) -> None:
    pid = box.ask({"do": "nothing"})["pid"]
    jobs = [box.submit({"do": "hang"}) for _ in range(3)]
    box.close()
    assert all("closed" in job.result(0)["error"]["message"] for job in jobs)
    assert "closed" in box.ask({"do": "nothing"})["error"]["message"]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)  # a zombie would still have its number
    assert threading.active_count() < 20


def test_runaways_of_one_client_do_not_delay_another() -> None:
    with Sandbox(2, seconds=PATIENCE) as box:
        box.start()
        runaways = [box.submit({"text": SLOW}, "attacker") for _ in range(6)]
        for number in range(5):
            assert box.run(f"x = {number};", client=f"student {number}")["errors"] == []
        assert not any(job.future.done() for job in runaways)


def test_clients_take_turns_and_leave_the_last_worker_to_others() -> None:
    turns: Turns[str] = Turns(workers=3, most_waiting=7, most_of_one=4)
    taken = [turns.add("flood", f"flood {number}") for number in range(6)]
    assert taken == [True] * 4 + [False] * 2, "one client's requests have a cap"
    assert [turns.take() for _ in range(3)] == [("flood", "flood 0"), ("flood", "flood 1"), None]
    assert turns.add("calm", "calm 0") and turns.add("calm", "calm 1")
    assert turns.take() == ("calm", "calm 0"), "the last free worker is for the others"
    turns.finish("flood")
    assert turns.take() is None, "both have something under way"
    turns.finish("flood")
    assert turns.take() == ("flood", "flood 2")
    assert turns.remove("calm", "calm 1") and not turns.remove("calm", "calm 1")
    assert turns.drain() == ["flood 3"] and len(turns) == 0


EMBEDDING = """
import sys
from rasp.teaching.sandbox import Sandbox
sys.path.insert(0, sys.argv[1])
with Sandbox(2, seconds=300, task="misbehaving:misbehave") as box:
    box.start()
    box.submit({"do": "hang"})
    print("ready", flush=True)
    input()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in Linux's /proc")
@pytest.mark.parametrize(
    "command",
    [
        ["-c", EMBEDDING, str(Path(__file__).parent)],
        ["-m", "rasp", "play", "--no-browser"],
    ],
    ids=["embedding", "play"],
)
def test_killing_whoever_opened_it_leaves_no_worker(command: list[str]) -> None:
    if "play" in command:
        pytest.importorskip("hypercorn", reason="the extra `play` is not installed")
    process = subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)  # let the worker begin
        workers = children(process.pid)
        assert len(workers) >= 2
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    wait_until_gone(workers)
