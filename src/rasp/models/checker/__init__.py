"""WEIGHTS + PROGRAM + CLAIMS -> VERDICT: a checker of robust models that trusts no compiler.

A *relation* is a finite set of rows of states: at every position of every input, the state is one
of the rows. A *slot* is some dimensions of the residual stream that one part of the model writes,
by the rows of a relation. Everything is tried in every row. In which order to read, and the rules:

    relations.py        onto, join, function_of: rows of states, and columns of atoms over them
    sumsets.py          reach: all sums that keys can add up to, one position after another
    lookups.py          every pair of a query's row and a key's: what selectors pick
    reached_sums.py     reach, for each of these: queries that get the same, and their own keys
    aggregated.py       reach, as atoms: outputs of heads beside aggregates of the program
    unique_keys.py      rank: keys that no two positions share
    claimed_variables.py  what claims name: variables, and what they are by the program's nodes
    program_spaces.py   ground, promise: what variables can be together
    program_facts.py    operator: s-ops as functions of variables; whether any can fail
    node_parts.py       (what an s-op is made of)
    float_errors.py     what float32 rounds; powers of e
    slots.py            read: what rows of weights read of the stream
    head_scores.py      scores: what is picked, and all else, and the sink
    head_outputs.py     softmax: means, lone picks, sums
    hidden_units.py     units: piecewise linear functions
    sink_row.py         sink: a position before all others
    answers.py          answer: the lead of the right one
    theorem.py          what is proved, and the walk through the model

Assumed, and proved nowhere: that numpy computes in float64 as it says; that the graph and the
operator table are what the program means; that the forward pass is that of docs/model-format.md,
and rounds as `float_errors` says. Nothing of the compiler is assumed, nor anything that claims say.

`rasp.models.certificate` still issues every certificate. This checker runs beside it in the tests,
until it follows all that the compiler writes; where the two disagree, one of them has a fault.
"""

from rasp.models.checker.theorem import ModelCheck as ModelCheck
from rasp.models.checker.theorem import check_model as check_model
