"""Numbers: a plan in, arrays and claims out, with an estimate of how exact they are.

The files in the order data flows: `weights` writes the arrays and `claims` what the checker is told
about them. `bounds` estimates before the checker is asked whether float32 is exact enough, and
which comparison is to blame where it is not: `stream_errors` is the error of each dimension,
`score_ranges` and `bilinear` look at scores, `rounding` at feed-forwards. `next_token` gives
outputs the ids of tokens.
"""
