"""What can each s-op hold? A graph in, for every node its values and what they depend on out.

The files in the order data flows: `task` is what an analysis is asked, with the `blocks` that a
model may have besides its heads. `variables` are the things that elementwise work at one position
can depend on, `linear` the functions of what the residual stream can hold. `values` walks the graph
and gives each s-op a table over variables (`tables`, `branches`, `joint_tables`), or finds that it
is one of the `weighted_sums`; `joint_states` says what several can hold together, with
`subset_sums` and `linear_ranges` for the numbers that sums and means can be, and `kinds` for what
kind of number. `formulas` are selectors as comparisons, `comparison_tables` their truth. The rest
is one analysis, in which each file knows what those before it do: `selectors` as formulas,
`promised_picks`, `selector_facts` (never empty, causal), `unique_picks`, `head_ranges`, and
`disguised_sums`, the aggregates that are sums, whatever their text says.
"""
