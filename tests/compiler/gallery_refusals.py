"""The programs of the gallery that are refused at their own vocabulary and length 20, and why.

For each: a part of the message, and why: what it computes, as it is written. A compiled model is
exact for *every* input over its vocabulary, so what counts is what any input of 20 tokens can
make a program compute, and not what a typical one does.
"""

from __future__ import annotations

COMBINATIONS = "combinations of values"
SUMS = "the sum of its values can be one of"
MEANS = "the mean of its values can be one of"
MARGIN = "has no margin left"
MANY_STEPS = (
    "one feed-forward makes hundreds of steps from what attention moved, which is off by 2^-21 of "
    "its size: the large numbers of the steps round as they cancel, in the worst order by "
    "more than half a step"
)
AVERAGES = (
    "what it picks is one token, but nothing says so: it is an average of up to 20 numbers, one of "
    "thousands, from weights that are equal only up to the rounding of counts"
)

REFUSED = {
    "decimal_value": (SUMS, "its answer is one of 10^20 numbers"),
    "long_multiplication": (COMBINATIONS, "its product is a number of 19 digits, one of 10^17 "
                            "and more; float32 holds 7 digits"),
    "find_needle": (SUMS, "it packs 20 letters into one of 27^20 numbers; float32 has 2^32"),
    "smallest_period": (SUMS, "it packs 20 letters into one of 27^20 numbers; float32 has 2^32"),
    "burrows_wheeler": (SUMS, "it packs 20 letters into one of 27^20 numbers; float32 has 2^32"),
    "suffix_ranks": (MEANS, "it packs 20 letters into one of 27^20 numbers; float32 has 2^32"),
    "binary_to_decimal": (SUMS, "its value is one of 2^20 numbers, and the last digit changes with "
                          "each: 200,000 kinks, to be tried on 40 million states"),
    "variance": (COMBINATIONS, "its answer is one of 216,826 numbers, some of them equal in "
                 "float32, made from over ten million combinations of sums"),
    "distance_to_x": (MARGIN, MANY_STEPS),
    "divide_by_seven": (MARGIN, MANY_STEPS),
    "jaccard": (MARGIN, MANY_STEPS),
    "luhn": (MARGIN, MANY_STEPS),
    "match_three": (MARGIN, MANY_STEPS),
    "product_so_far": (MARGIN, "its answer is one of 53,362 numbers that four counts tell apart; "
                       "a code of all four is off by more than half its unit"),
    "remainders_by_seven": (MARGIN, MANY_STEPS),
    "roman_value": (MARGIN, MANY_STEPS),
    "rotate_by_first": (MARGIN, MANY_STEPS),
    "rotate_to_smallest": (MARGIN, MANY_STEPS),
    "sort_by_distance_from_mean": (MARGIN, MANY_STEPS),
    "sort_pairs": (MARGIN, MANY_STEPS),
    "substitute_variables": (MARGIN, MANY_STEPS),
    "token_frequency": (MARGIN, "a quotient of two counts has 255 values, the nearest of them "
                        "1/380 apart, and one feed-forward makes it of both"),
    "vigenere": (MARGIN, MANY_STEPS),
    "median": ("classes of values apart", AVERAGES),
    "second_largest": ("classes of values apart", AVERAGES),
    "set_inference_signed": ("classes of values apart", MANY_STEPS),
}  # fmt: skip
