"""The programs of the gallery that are refused at their own vocabulary and length 20, and why.

A reason is a part of the message. Most of them take an average of positions or of large numbers
for which nothing but a large table would do; the others multiply what heads have averaged.
"""

from __future__ import annotations

COMBINATIONS = "combinations of values"
SUMS = "the sum of its values can be one of"
MEANS = "the mean of its values can be one of"
MARGIN = "has no margin left"

SLOW = ("sort_by_distance_from_mean",)
"""Not refused, but not done within a minute either: tables of averages of positions."""
REFUSED = {
    "variance": COMBINATIONS,
    "product_so_far": COMBINATIONS,
    "long_multiplication": COMBINATIONS,
    "decimal_value": SUMS,
    "binary_to_decimal": SUMS,
    "find_needle": SUMS,
    "smallest_period": SUMS,
    "burrows_wheeler": SUMS,
    "match_three": SUMS,
    "suffix_ranks": MEANS,
}
