"""An `and` or `or` of conditions that are too many to be looked at jointly is moved as a count."""

from __future__ import annotations

import pytest
from agreement import assert_agrees

import rasp
from rasp.base.errors import RaspUnsupportedError
from rasp.models.compiler import compile

AVERAGES = "".join(
    f'm{letter} = aggregate(select(tokens, "{letter}", ==), indices);\n' for letter in "abc"
)
ALL = AVERAGES + "c = ma > 1 and mb > 1 and mc < 3;\n"
SOME = AVERAGES + "c = ma > 1 or mb > 1 or mc > 3;\n"
COMPILED = [
    ALL + "out = c;",
    ALL + 'out = c and tokens == "a";',
    ALL + "out = c or not c;",
    ALL + "out = c;",
    ALL + "out = not c;",
    SOME + 'out = "y" if c else "n";',
    AVERAGES + "out = ma > 1 and mb > 1 and ma < 3 and mc > 0;",
    AVERAGES + "out = (ma > 1 or mb > 1) or (mc > 3 or ma < 1);",
    ALL + "out = aggregate(select(indices, 0, ==), indicator(c));",
    ALL + "out = aggregate(select(indices, indices - 1, ==), c, True);",
    ALL + "out = aggregate(select(tokens, tokens, ==), c);",
    SOME + "out = aggregate(select(tokens, tokens, ==), indicator(c)) == 0;",
    SOME + "out = aggregate(select(tokens, tokens, <), 2 * indicator(c), 0) > 0;",
    SOME + "out = aggregate(select(tokens, tokens, <), indicator(c), 1) <= 0;",
    SOME + "out = aggregate(select(tokens, tokens, <), indicator(c), -3) != 0;",
    SOME + 'out = aggregate(select(indices, indices - 1, ==), "y" if c else "n", "x");',
    SOME
    + """one = aggregate(select(indices, indices - 1, ==), 3 if c else 5, 5);
    out = one + aggregate(select(indices, indices - 1, ==), 3 if c else 0, 7);""",
]
REFUSED = [
    (ALL + 'out = tokens if c else "-";', "too many combinations of values"),
    (
        ALL + "out = aggregate(select(tokens, tokens, ==), indicator(c)) == 0;",
        "its values depend on too many combinations",
    ),
    (AVERAGES + "out = ma * mb * mc;", "116 × 116 × 116 = 1560896"),
]


@pytest.mark.slow
@pytest.mark.parametrize("text", COMPILED)
def test_a_moved_count_says_as_much_as_the_condition(text: str) -> None:
    node = rasp.run(text)["out"].node
    model = compile({"out": node}, vocabulary="abc", max_length=7, style="compact")
    assert_agrees(model, node)


@pytest.mark.parametrize(("text", "part"), REFUSED)
def test_a_count_that_does_not_say_enough_is_refused(text: str, part: str) -> None:
    with pytest.raises(RaspUnsupportedError) as caught:
        compile(rasp.run(text)["out"], vocabulary="abc", max_length=7, style="compact")
    assert part in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("values", ["-indicator(c)", "True if c else 0", '"y" if c else 0'])
def test_a_count_does_not_stand_for_what_is_not_above_zero(values: str) -> None:
    text = (
        AVERAGES
        + f"""c = ma == 6.5 or mb == 6.5 or mc == 6.5;
    out = aggregate(select(tokens, tokens, ==), {values}) <= 0;"""
    )
    with pytest.raises(RaspUnsupportedError, match="its values depend on too many combinations"):
        compile(rasp.run(text)["out"], vocabulary="abcdefgh", max_length=8, style="compact")
