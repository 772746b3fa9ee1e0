"""The fast evaluator: exact, batched, O(n log n) for almost every program.

The files in the order data flows: `algebra` writes a selector as a signed sum of conjunctions,
`plan` gives each conjunction a strategy and `explain` prints it; `columns` hold sequences as
arrays, `arithmetic` and `elementwise` compute with them, `coding` turns them into numbers that
compare as they do; `layout`, `sums`, `dominance` and `blocked` find counts and sums over what a
selector picks, `highest` and `best` the best of it, `means` makes aggregates of them, and
`evaluate` visits the nodes.

Nothing is imported here: planning works without numpy.
"""
