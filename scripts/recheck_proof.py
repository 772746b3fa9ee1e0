"""Check a proof file of `rasp prove` again, at the inputs that it names, without rasp or NumPy.

    python scripts/recheck_proof.py PROOF.json [INPUTS [BITS]]

Every number is an interval of two integers over 2^BITS, rounded outward; `exp` is enclosed by its
series. So each line printed is a fact about the real-number function of the weights in the file.
"""

import hashlib
import json
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import ceil, floor, isqrt
from pathlib import Path

BITS = 400


@dataclass(slots=True)
class Interval:
    low: int
    high: int

    def __add__(self, other):
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self):
        return Interval(-self.high, -self.low)

    def __mul__(self, other):
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends) >> BITS, -(-max(ends) >> BITS))

    def __truediv__(self, other):
        assert other.low > 0, "too few bits: a divisor may be 0; give 2000"
        ends = [(a << BITS, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(a // b for a, b in ends), max(-(-a // b) for a, b in ends))


def of(*parts):
    """The sum of numbers, which are floats or hexadecimal."""
    exact = sum(Fraction(float.fromhex(x)) if isinstance(x, str) else Fraction(x) for x in parts)
    return Interval(floor(exact * 2**BITS), ceil(exact * 2**BITS))


def dot(x, y):
    low = high = 0  # exact, and rounded once
    for a, b in zip(x, y, strict=True):
        ends = [c * d for c in {a.low, a.high} for d in {b.low, b.high}]
        low, high = low + min(ends), high + max(ends)
    return Interval(low >> BITS, -(-high >> BITS))


def root(x):
    return Interval(isqrt(max(x.low, 0) << BITS), isqrt(max(x.high, 0) << BITS) + 1)


def rising(f):
    """What a function that never falls makes of an interval, by what it makes of both ends."""
    return lambda x: Interval(f(Interval(x.low, x.low)).low, f(Interval(x.high, x.high)).high)


def odd(f):  # the same, of an odd function that is known above 0
    return rising(lambda point: f(point) if point.low >= 0 else -f(-point))


@rising
def exp(x):
    """e^x for x ≤ 0, or hardly more: the series at x / 2^k, squared k times."""
    if x.low < -BITS << BITS:
        return Interval(0, 1)
    count = 10 + max(0, x.low.bit_length() - BITS)
    small = x * Interval(2 ** (BITS - count), 2 ** (BITS - count))
    term = power = of(1)
    for number in range(1, BITS // 10 + 30):
        term = term * small / of(number)
        power = power + term
    power = power + Interval(-2, 2)  # the rest: below 2^(−10·number), and smaller each time
    for _ in range(count):
        power = power * power
    return power


@cache
def bell(end):
    """The integral of e^(−t²) from 0 to x: e^(−x²) · Σ x (2x²)^n / (1·3·5···(2n+1))."""
    x = term = series = Interval(end, end)
    double, number = (x + x) * x, 0
    while term.high > 1 or number * 2**BITS < double.high:
        number += 1
        term = term * double / of(2 * number + 1)
        series = series + term
    return exp(-(x * x)) * (series + Interval(0, 4))


tanh = odd(lambda x: (of(1) + -exp(-(x + x))) / (of(1) + exp(-(x + x))))


@odd
def erf(x):
    far = isqrt(BITS // 3)  # what is left of the integral there is below 2^(−far²)
    slack = Interval(-1 << BITS - far * far, 1 << BITS - far * far)
    return bell(min(x.low, far << BITS)) / bell(far << BITS) + slack


FUNCTIONS = {
    "relu": lambda x: Interval(max(x.low, 0), max(x.high, 0)),
    "tanh": tanh,
    "gelu": lambda x: x * (of(1) + erf(x / root(of(2)))) / of(2),
    "gelu_tanh": lambda x: x / of(2) * (of(1) + tanh(
        (x + x * x * x * of(0.044715)) * of(0.7978845608028654))),
}  # fmt: skip


def affine(x, part):
    """W·x + b, the bias with what float64 left out of it; the weights are read once."""
    if "rows" not in part:
        lows = part.get("low", [0] * len(part["bias"]))
        part["rows"] = [[of(number) for number in row] for row in part["weight"]]
        part["sum"] = [of(*pair) for pair in zip(part["bias"], lows, strict=True)]
    return [dot(row, x) + bias for row, bias in zip(part["rows"], part["sum"], strict=True)]


def attend(rows, step, causal):
    found = [[of(number) for number in step["bias"]] for _ in rows]
    for head in step["heads"]:
        queries, keys, values = ([affine(x, head[role]) for x in rows]
                                 for role in ("query", "key", "value"))  # fmt: skip
        for place, query in enumerate(queries):
            seen = range(place + 1 if causal else len(rows))
            scores = [dot(query, keys[key]) / root(of(head["squared"])) for key in seen]
            top = max(score.high for score in scores)
            powers = [exp(score + Interval(-top, -top)) for score in scores]
            mixed = [dot(powers, [values[key][unit] for key in seen]) / sum(powers, of(0))
                     for unit in range(len(values[0]))]  # fmt: skip
            written = affine(mixed, head["out"])
            found[place] = [x + y for x, y in zip(found[place], written, strict=True)]
    return found


def normalise(x, step):
    centre = -(sum(x, of(0)) / of(len(x)))
    centred = [number + centre for number in x]
    spread = root(dot(centred, centred) / of(len(x)) + of(step["epsilon"]))
    scaled = [number / spread for number in centred]
    after = zip(scaled, step["gain"], step["shift"], strict=True)
    return [number * of(gain) + of(shift) for number, gain, shift in after]


def walk(steps, rows, causal):
    for step in steps:
        if step["kind"] == "attend":
            rows = attend(rows, step, causal)
        elif step["kind"] in ("affine", "normalise"):
            rows = [globals()[step["kind"]](x, step) for x in rows]
        elif step["kind"] == "activate":
            rows = [[FUNCTIONS[step["function"]](number) for number in x] for x in rows]
        elif step["kind"] == "pool":
            count = of(len(rows) if step["by"] == "mean" else 1)
            rows = [[sum(unit, of(0)) / count for unit in zip(*rows, strict=True)]]
        else:
            changes = walk(step["steps"], rows, causal)
            rows = [[a + b for a, b in zip(*pair, strict=True)]
                    for pair in zip(rows, changes, strict=True)]  # fmt: skip
    return rows


def margin(logits, wanted, codes):
    """A lower bound on the lead of the answer wanted, over 2^BITS."""
    if codes:
        borders = [of(a) / of(2) + of(b) / of(2) for a, b in pairwise(codes)]
        return min([logits[0].low - border.high for border in borders[:wanted][-1:]]
                   + [border.low - logits[0].high for border in borders[wanted:][:1]])  # fmt: skip
    others = [logit.high for place, logit in enumerate(logits) if place != wanted]
    return logits[wanted].low - max(others, default=-1 << 9 * BITS)


def least_margin(sample, network, codes):
    tables = [[network["tokens"][number] for number in sample["ids"]], *network["added"]]
    rows = [[of(*unit) for unit in zip(*row, strict=True)] for row in zip(*tables, strict=False)]
    logits = walk(network["steps"], rows, network["causal"])
    pairs = zip(sample["read"], sample["classes"], strict=True)
    return min(margin(logits[place], best, codes) for place, best in pairs if best >= 0)


if __name__ == "__main__":
    count, bits = (sys.argv[2:] + ["10", str(BITS)][len(sys.argv) - 2 :])[:2]
    BITS = int(bits)
    data = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    text = json.dumps(data["network"], sort_keys=True).encode()
    if hashlib.sha256(text).hexdigest() != data["network_hash"]:
        sys.exit("WRONG: the network in the file is not the one that was proved")
    for sample in data["samples"][: int(count)]:
        least = Fraction(least_margin(sample, data["network"], data["codes"]), 2**BITS)
        if not 0 < least >= Fraction(sample["margin"]):
            sys.exit(f"WRONG  {sample['input']}  margin ≥ {float(least):.9g} is below the claim")
        print(f"right  {sample['input']}  margin ≥ {float(least):.9g}", flush=True)
