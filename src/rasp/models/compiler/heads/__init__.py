"""Which heads does a program take, and what does each put out? Selectors in, `PlannedHead`s out.

Both styles of model begin here. The files in the order data flows: `analyse` asks what every s-op
holds, and `head_analysis` answers for aggregates: which head computes one, as a mean, as a sum, or
without a sink as shares (`width_shares`). For that, `selectors` are formulas of comparisons, with
what the values of their sides decide, and `pick_counts` is how many keys they pick, at least and at
most, also by what a promise about inputs says. `head_ranges` are the numbers that heads can make,
and `disguised_sums` the aggregates that are sums, whatever their text says. `truth_tables` are what
keys and queries of a formula can hold, with its truth for each pair, and `scorers` how far apart a
select_best scores. `model_plan` is what the plans of both styles have in common.
"""
