"""Graph ⇄ weights.

`compiler` writes a transformer that computes a program and `certificate` checks it, knowing nothing
of the compiler; `export` hands it to other libraries, `training` trains a model of the predicted
size, `testbed` makes models to study, and `proving` says whether any model
and a program are the same.
"""
