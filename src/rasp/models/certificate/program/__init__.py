"""PROGRAM + CLAIMS -> TABLES: what every variable can be, and s-ops as functions of variables.

Nothing here looks at weights. What each file proves, in the order to read them:

tables.py       an operator applied to columns of atoms gives the column of its results
values.py       answers all questions about variables and s-ops, and keeps the answers
domains.py      a variable is always in one of its listed states
outputs.py      what a head puts out is among these numbers
sums.py         and so are weighted sums of it
reach.py        these are all sums and means of so many numbers
together.py     no input has the combinations of states that are left out
columns.py      an s-op has this atom in each combination of states
linear.py       an s-op is this weighted sum of tokens, indices and outputs
kinds.py        a number is of one of these kinds: 1, 1.0 and True are one to a model
cases.py        two selectors agree, since they do in every case of their comparisons
picks.py        a selector always picks something, one key at most, or one value
orders.py       a selector is a strict order of the positions
ranks.py        an s-op is different at every position, since it counts in such an order
aggregates.py   an aggregate follows from what heads put out
head_claims.py  what is said of a head holds whatever its arrays are
choices.py      an s-op is one of several others
promise.py      what is certain of inputs that keep a promise
well_founded.py claims tell of nothing by itself
total.py        a program has a value on every input
"""
