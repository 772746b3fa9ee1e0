"""Numbers: a plan in, arrays and claims out.

`weights` writes the arrays and `claims` what the checker is told about them. `next_token` gives
outputs the ids of tokens.
"""
