"""COMPILED MODELS -> A TEST BED: transformers to study, whose circuits are known and checked.

`dials` makes a model harder to read without changing what it answers: idle heads and units, empty
layers, a rotation of the residual stream, noise. `edges` are the circuit that the arrays allow,
and its names in three formats; `patching` runs a model with chosen edges taken from elsewhere;
`truth` finds out which edges matter, each with a witness. `superposition` trains a model with fewer
dimensions than it had. `folder` writes one model with all that, for the libraries of `exports`, and
`folder_check` says what is not true of such a folder; `attribution` scores methods that guess
circuits. `many` makes a whole set.

Nothing is imported here: running models with edges patched needs PyTorch.
"""
