"""The programs of the gallery that are refused at their own vocabulary and length 20, and why.

For each: a part of the message, and why: what it computes, as it is written. A compiled model is
exact for *every* input over its vocabulary, so what counts is what any input of 20 tokens can
make a program compute, and not what a typical one does.
"""

from __future__ import annotations

COMBINATIONS = "combinations of values"
SUMS = "the sum of its values can be one of"
MEANS = "the mean of its values can be one of"
NUMBERS = "numbers from 11457 different inputs"

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
    "sort_by_distance_from_mean": (NUMBERS, "a distance from a mean is one of 5,121 fractions, and "
                                   "one feed-forward makes 82 numbers from 11,457 such"),
}  # fmt: skip
