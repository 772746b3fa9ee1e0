"""PROGRAM + CLAIMS -> TABLES: what every variable can be, and s-ops as functions of variables.

tables.py       combinations of states, columns of atoms over them, exact weighted sums
values.py       `Values` answers all questions below, and keeps the answers
outputs.py      everything that a head can put out, and that weighted sums of it can be
reach.py        the sums and means of so many numbers
together.py     which states of several variables no input has at once
columns.py      an s-op over a space, by the operator table or by another rule
linear.py       s-ops that are weighted sums
kinds.py        1, 1.0 and True: one number to a model, three atoms to a program
cases.py        every case of the comparisons in a selector
picks.py        what is certain about what selectors pick: something, one key, one value
orders.py       selectors that put positions in an order
aggregates.py   why an aggregate is what heads put out
head_claims.py  what is said of a head, whatever its arrays are
choices.py      an s-op that is one of several others
promise.py      inputs that keep a promise
total.py        whether a program has a value on every input
"""
