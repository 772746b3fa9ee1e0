"""Which construction realises each head and feed-forward? Values in, a plan out.

`plan` goes from the last layer to the first: what the outputs read (`wide_outputs` for very many
answers), then what each layer must compute for that. `heads` decides which head computes an
aggregate, as a mean or as a sum (`width_shares`: without a sink), `attention` what its queries,
keys and values read, `scores` how a selector becomes a score, over `truth_tables`. `features`
are functions that feed-forwards compute, of one number each (`mixed_radix`), in steps
(`piecewise`, `step_splitting`). `dimensions` is the basis of the residual stream for all that.
"""
