"""Numbers: a plan in, arrays and claims out.

`emitter` writes the arrays of a model, as the checker's `Weights`: each reader of the stream is one
of `rows`. It also says what the checker is told about them; `claims` are what both styles say
alike, and how they name variables; `wiring` reads off the arrays which part reads and writes what.
`next_token` checks that outputs are tokens where a model generates, and says their ids.
"""
