"""What can each s-op hold? A graph in, for every node its values and what they depend on out.

The files in the order data flows: `variables` are the things that elementwise work at one position
can depend on, `linear` the functions of what the residual stream can hold. `values` walks the graph
and gives each s-op a table over variables (`tables`, `branches`, `joint_tables`), or finds that it
is one of the `weighted_sums`; `joint_states` and `head_states` say what several can hold together,
with `subset_sums` and `linear_ranges` for the numbers that sums and means can be, and `kinds` for
what kind of number. `formulas` are selectors as comparisons, `comparison_tables` their truth;
`selector_facts` are what is provably true of one, and `disguised_sums` the aggregates that are
sums, whatever their text says.
"""
