"""Which construction realises each head and feed-forward? Values and heads in, a plan out.

The files in the order data flows: `plan` goes from the last layer to the first: what the outputs
read (`outputs`, and `wide_outputs` for very many answers), then what each layer must compute for
that. `attention` says what a head's queries and keys read, `scores` how a selector becomes a score,
`best_scores` how a select_best does, and `moved_values` what keys send. `features` are the
functions that feed-forwards compute (taken apart by `branches`), of one number each
(`mixed_radix`); `piecewise` says with which kinks, as they are emitted. `dimensions` is the basis
of the residual stream for all that, and `rounded_sums` the constants in which it rounds.
"""
