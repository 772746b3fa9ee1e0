"""Which construction realises each head and feed-forward? Values and heads in, a plan out.

The files in the order data flows: `plan` goes from the last layer to the first: what the outputs
read (`outputs`), then what each layer must compute for that. `attention` says what a head's
queries, keys and values read, and `scores` how a selector becomes a score. `features` are the
functions that feed-forwards compute, of one number each (`mixed_radix`); `piecewise` says with
which kinks, as they are emitted. `dimensions` is the basis of the residual stream for all that,
and the constants in which it rounds.
"""
