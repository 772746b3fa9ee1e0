"""Check a proof file of `rasp prove` again, at the inputs that it names, without rasp or NumPy.

    python scripts/recheck_proof.py proof.json [--inputs N] [--bits N]

Every number is an interval of integers over 2^bits, rounded outward at each step: a product of
sums is exact before it is rounded once, `exp` is enclosed by its series, roots by integer roots.
So each line printed is a fact about the real-number function of the weights in the file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Interval = tuple[int, int]
Vector = list[Interval]
BITS = 400


def exact(text: str | float) -> Fraction:
    return Fraction(float.fromhex(text) if isinstance(text, str) else text)


def interval(number: Fraction) -> Interval:
    scaled = number * (1 << BITS)
    return math.floor(scaled), math.ceil(scaled)


def add(x: Interval, y: Interval) -> Interval:
    return x[0] + y[0], x[1] + y[1]


def negative(x: Interval) -> Interval:
    return -x[1], -x[0]


def times(x: Interval, y: Interval) -> Interval:
    ends = [a * b for a in x for b in y]
    return min(ends) >> BITS, -(-max(ends) >> BITS)


def over(x: Interval, y: Interval) -> Interval:
    """x / y where y is above 0."""
    if y[0] <= 0:
        raise SystemExit("too few bits: an interval to divide by holds 0; try --bits 2000")
    ends = [Fraction(a << BITS, b) for a in x for b in y]
    return math.floor(min(ends)), math.ceil(max(ends))


def dot(x: Vector, y: Vector) -> Interval:
    low = high = 0
    for (a, b), (c, d) in zip(x, y, strict=True):
        if a == b and c == d:
            low, high = low + a * c, high + a * c
        else:
            ends = (a * c, a * d, b * c, b * d)
            low, high = low + min(ends), high + max(ends)
    return low >> BITS, -(-high >> BITS)


def root(x: Interval) -> Interval:
    low, high = max(x[0], 0), max(x[1], 0)
    return math.isqrt(low << BITS), math.isqrt(high << BITS) + 1


def exp_point(x: int, up: bool) -> int:
    """A bound on e^x, x ≤ 0 or small: the series of x / 2^k, squared k times."""
    if x < -(BITS << BITS):
        return int(up)  # below 2^-BITS
    halvings = 10 + max(0, x.bit_length() - BITS)
    small = Fraction(x, 1 << (BITS + halvings))
    term = total = Fraction(1)
    for number in range(1, 400):
        term = Fraction(math.floor(term * small / number * (1 << 2 * BITS)), 1 << 2 * BITS)
        total += term
        if abs(term) < Fraction(1, 1 << BITS + 64):
            break
    slack = Fraction(1, 1 << BITS + 50)  # the rest of the series, and what rounding terms lost
    total += slack if up else -slack
    scale = 1 << 2 * BITS
    value = math.ceil(total * scale) if up else math.floor(total * scale)
    for _ in range(halvings):
        value = -(-(value * value) // scale) if up else value * value // scale
    return -(-value >> BITS) if up else value >> BITS


def exp(x: Interval) -> Interval:
    return exp_point(x[0], False), exp_point(x[1], True)


ONE: Interval = (1 << BITS, 1 << BITS)


def tanh(x: Interval) -> Interval:
    """1 − 2 / (e^2x + 1), by e^−2|x| so that powers stay below 1; monotone."""

    def end(point: int, place: int) -> int:
        power = exp((-2 * abs(point), -2 * abs(point)))
        value = over(add(ONE, negative(power)), add(ONE, power))
        return (value if point >= 0 else negative(value))[place]

    return end(x[0], 0), end(x[1], 1)


def erf(x: Interval) -> Interval:
    """2/√π · e^(−x²) · Σ 2^n x^(2n+1) / (2n+1)!!: all terms have one sign; monotone."""

    def end(point: int, place: int) -> int:
        size = (abs(point), abs(point))
        if abs(point) > 20 << BITS:  # erfc(20) < 2^-580
            value = ((1 << BITS) - 1, 1 << BITS)
        else:
            square = times(size, size)
            term = total = size
            for number in range(1, 20_000):
                double = (2 * number + 1) << BITS
                term = over(times(term, (2 * square[0], 2 * square[1])), (double, double))
                total = add(total, term)
                if term[1] <= 1 and (2 * square[1] >> BITS) < number:  # the rest is below this
                    break
            total = (total[0], total[1] + 4)
            scale = over((2 << BITS, 2 << BITS), root(pi()))
            value = times(times(scale, exp(negative(square))), total)
        return (value if point >= 0 else negative(value))[place]

    return end(x[0], 0), end(x[1], 1)


def pi() -> Interval:
    """Machin: 16·atan(1/5) − 4·atan(1/239)."""

    def atan_inverse(of: int) -> int:
        term = total = (1 << BITS + 20) // of
        for number in range(3, 4 * BITS, 2):
            term = -(term // (of * of)) if term > 0 else -term // (of * of)
            total += term // number
        return total

    near = 16 * atan_inverse(5) - 4 * atan_inverse(239)
    return (near >> 20) - 1, (near >> 20) + 2


def half(x: Interval) -> Interval:
    return x[0] >> 1, -(-x[1] >> 1)


def gelu(x: Interval) -> Interval:
    return half(times(x, add(ONE, erf(over(x, root((2 << BITS, 2 << BITS)))))))


def gelu_tanh(x: Interval) -> Interval:
    cubic = times(times(times(x, x), x), interval(Fraction(0.044715)))
    inner = times(add(x, cubic), interval(Fraction(0.7978845608028654)))
    return half(times(x, add(ONE, tanh(inner))))


FUNCTIONS: dict[str, Callable[[Interval], Interval]] = {
    "relu": lambda x: (max(x[0], 0), max(x[1], 0)), "tanh": tanh, "gelu": gelu,
    "gelu_tanh": gelu_tanh,
}  # fmt: skip


def vector(row: Sequence[Any]) -> Vector:
    return [interval(exact(number)) for number in row]


def affine(x: Vector, part: dict[str, Any]) -> Vector:
    """W·x + b, the bias with what float64 left out of it."""
    if "rows" not in part:
        low = part.get("low", [0.0] * len(part["bias"]))
        part["rows"] = [vector(row) for row in part["weight"]]
        part["sum"] = [interval(exact(one) + exact(rest))
                       for one, rest in zip(part["bias"], low, strict=True)]  # fmt: skip
    return [add(dot(row, x), bias) for row, bias in zip(part["rows"], part["sum"], strict=True)]


def attend(rows: list[Vector], step: dict[str, Any], causal: bool) -> list[Vector]:
    found = [vector(step["bias"]) for _ in rows]
    for head in step["heads"]:
        queries, keys, values = ([affine(x, head[role]) for x in rows]
                                 for role in ("query", "key", "value"))  # fmt: skip
        scale = root(interval(Fraction(head["squared"])))
        if "columns" not in head:
            head["columns"] = [vector(row) for row in head["out"]]
        for place, query in enumerate(queries):
            seen = range(place + 1 if causal else len(rows))
            scores = [over(dot(query, keys[other]), scale) for other in seen]
            top = max(score[1] for score in scores)
            powers = [exp((low - top, high - top)) for low, high in scores]
            total = (sum(low for low, _ in powers), sum(high for _, high in powers))
            mixed = [over(dot(powers, [values[other][unit] for other in seen]), total)
                     for unit in range(len(values[0]))]  # fmt: skip
            found[place] = [add(x, dot(row, mixed))
                            for x, row in zip(found[place], head["columns"], strict=True)]  # fmt: skip
    return found


def normalise(x: Vector, step: dict[str, Any]) -> Vector:
    count = (len(x) << BITS, len(x) << BITS)
    mean = over((sum(low for low, _ in x), sum(high for _, high in x)), count)
    centred = [add(each, negative(mean)) for each in x]
    squares = [(0 if a <= 0 <= b else min(a * a, b * b) >> BITS, -(-max(a * a, b * b) >> BITS))
               for a, b in centred]  # fmt: skip
    variance = over((sum(low for low, _ in squares), sum(high for _, high in squares)), count)
    spread = root(add(variance, interval(exact(step["epsilon"]))))
    scaled = [over(each, spread) for each in centred]
    if "gain" not in step:
        return scaled
    return [add(times(each, gain), shift) for each, gain, shift
            in zip(scaled, vector(step["gain"]), vector(step["shift"]), strict=True)]  # fmt: skip


def walk(steps: list[dict[str, Any]], rows: list[Vector], causal: bool) -> list[Vector]:
    for step in steps:
        match step["kind"]:
            case "affine":
                rows = [affine(x, step) for x in rows]
            case "attend":
                rows = attend(rows, step, causal)
            case "normalise":
                rows = [normalise(x, step) for x in rows]
            case "activate":
                rows = [[FUNCTIONS[step["function"]](each) for each in x] for x in rows]
            case "pool":
                total = [(sum(low for low, _ in unit), sum(high for _, high in unit))
                         for unit in zip(*rows, strict=True)]  # fmt: skip
                count = (len(rows) << BITS, len(rows) << BITS)
                rows = [total if step["by"] == "sum" else [over(each, count) for each in total]]
            case "residual":
                changes = walk(step["steps"], rows, causal)
                rows = [[add(*pair) for pair in zip(*both, strict=True)]
                        for both in zip(rows, changes, strict=True)]  # fmt: skip
    return rows


def margin(logits: Vector, wanted: int, codes: list[Fraction]) -> Fraction:
    """A lower bound on the lead of the class wanted."""
    if codes:
        (low, high), leads = logits[0], [Fraction(1 << 60)]
        if wanted > 0:
            leads.append(Fraction(low, 1 << BITS) - (codes[wanted - 1] + codes[wanted]) / 2)
        if wanted + 1 < len(codes):
            leads.append((codes[wanted] + codes[wanted + 1]) / 2 - Fraction(high, 1 << BITS))
        return min(leads)
    others = [logit[1] for place, logit in enumerate(logits) if place != wanted]
    return Fraction(logits[wanted][0] - max(others, default=-1 << 60), 1 << BITS)


def check(sample: dict[str, Any], data: dict[str, Any]) -> Fraction:
    """The least margin of a sample; positions where any answer will do are left out."""
    network = data["network"]
    rows = []
    for place, number in enumerate(sample["ids"]):
        parts = [network["tokens"][number]]
        parts += [network["positions"][place]] if network["positions"] else []
        parts += [network["shift"]] if network["shift"] else []
        rows.append([interval(sum(map(exact, unit), Fraction(0)))
                     for unit in zip(*parts, strict=True)])  # fmt: skip
    logits = walk(network["steps"], rows, network["causal"])
    codes = [exact(code) for code in data["codes"]]
    return min(margin(logits[place], wanted, codes)
               for place, wanted in zip(sample["read"], sample["classes"], strict=True)
               if wanted != -1)  # fmt: skip


def main() -> int:
    global BITS, ONE
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("proof")
    parser.add_argument("--inputs", type=int, default=10, help="how many samples (default: 10)")
    parser.add_argument("--bits", type=int, default=BITS)
    arguments = parser.parse_args()
    BITS = arguments.bits
    ONE = (1 << BITS, 1 << BITS)
    with open(arguments.proof, encoding="utf-8") as file:
        data = json.load(file)
    digest = hashlib.sha256(json.dumps(data["network"], sort_keys=True).encode()).hexdigest()
    if digest != data["network_hash"]:
        print("WRONG: the network in the file is not the one that was proved")
        return 1
    failed = 0
    for sample in data["samples"][: arguments.inputs]:
        least = check(sample, data)
        holds = least > 0 and least >= Fraction(sample["margin"])
        failed += not holds
        word = "right" if holds else "WRONG"
        print(f"{word}  {sample['input']}  margin ≥ {float(least):.9g}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
