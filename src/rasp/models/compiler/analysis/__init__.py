"""What can each s-op hold? A graph in, for every node its values and what they depend on out.

The files in the order data flows: `task` is what an analysis is asked, with the layers that a
schedule becomes, and `times` says when each part of a layer reads and writes. `variables` are the
things that elementwise work at one position can depend on, `linear` the functions of what the
residual stream can hold, and `values` what an s-op holds: a table over variables, or a `Linear`.
(`tables` makes such tables simpler, for the chapters that follow.) `value_analysis` says of each
node what it holds. For elementwise s-ops it asks `elementwise`, which finds `weighted_sums` and
choices, and applies operators to what operands hold together:
`joint_states`, by `joint_tables` of the `possible_states`. `kinds` says of what kind numbers are,
and `rounding` how far off float32 makes them. `formulas` are selectors as comparisons. Aggregates
are left to the next chapter, that of heads.
"""
