"""The fast evaluator: exact, batched, O(n log n) for almost every program.

The files in the order data flows: `conjunctions` are comparisons that hold at once, `algebra`
writes a selector as a signed sum of them, `key_plan` gives each a strategy and `plan_text` prints
it; `columns` hold sequences as arrays, in a `workspace` for each batch; `arithmetic` and
`elementwise` compute with them, `coding` turns them into numbers that compare as they do;
`key_layout`, `range_sums`, `dominance` and `blocked` find counts and sums over what a selector
picks, `highest` and `best` the best of it; `selections` asks these, `means` makes aggregates of the
answers. `prepared` keeps what is known of a program before it sees an input; `evaluate` visits the
nodes, and drops what is no longer needed.

Nothing is imported here: planning works without numpy.
"""
