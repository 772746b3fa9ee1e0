"""Programs that would take too much memory or time are refused before anything large is made."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

MOST_MEGABYTES = 400
CHILD = """
import json, pathlib, resource, sys, rasp
told = {}
for name, (text, length) in json.loads(sys.argv[1]).items():
    program = rasp.run(text)["out"]
    try:
        model = rasp.compile(program, vocabulary="abcdefghi", max_length=length, style="compact")
    except rasp.RaspUnsupportedError as error:
        told[name] = f"refused: {error.message}; {error.hint}"
    else:
        given = "abcdefghi"[:length]
        told[name] = "right" if model(given) == program(given) else "wrong"
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # on Linux never below the parent's
status = pathlib.Path("/proc/self/status")
if status.exists():
    peak = int(status.read_text().partition("VmHWM:")[2].split()[0])
told["megabytes"] = peak / 1024
print(json.dumps(told))
"""
CONDITIONS = [f'aggregate(select(tokens, "{letter}", ==), 1) > 0' for letter in "abcdefghi"]
PROGRAMS = {
    "a function of many conditions": ("out = " + " and ".join(CONDITIONS) + ";", 9),
    "a product of averages": (
        "mean = aggregate(select(tokens, tokens, ==), indices); out = mean * mean;", 22,
    ),
    "averages of averages": (
        """mean = aggregate(select(tokens, tokens, ==), indices);
        out = aggregate(select(mean, mean, <), mean);""", 40,
    ),
    "averages of large numbers": ("out = aggregate(select(tokens, tokens, ==), indices ^ 4);", 60),
    "a function of two averages": (
        """one = aggregate(select(tokens, tokens, ==), indices);
        two = aggregate(select(tokens, tokens, !=), indices);
        out = aggregate(select(one, two, <), indices) * one / (two + 1);""", 25,
    ),
    "a product with a long length": ("out = length * indices;", 4096),
}  # fmt: skip


@pytest.mark.slow
def test_memory_has_a_bound_whatever_is_compiled() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(PROGRAMS)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("megabytes") < MOST_MEGABYTES
    assert told.pop("a function of many conditions") == "right"
    for name, outcome in told.items():
        assert outcome == "right" or outcome.startswith("refused"), name
        assert not outcome.endswith("None"), name
