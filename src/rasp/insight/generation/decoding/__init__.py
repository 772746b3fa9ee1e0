"""The evaluator for decode loops: many inputs, each a token longer at every step.

The files in the order data flows: `plan` says what is computed and how, and what never changes when
an input grows; `domains` number the atoms that occur, `tables` compute with the numbers; `machine`
holds what a program has learnt, `selections` and `step` compute one step of a batch, `rows` hold
the batch, and `together` is what callers use.

Nothing is imported here.
"""
