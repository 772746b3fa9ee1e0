"""ARRAYS + TABLES -> WHAT THE STREAM HOLDS, after every block, and how wrong it is.

arrays.py        the arrays in their places
precision.py     arithmetic that is coarser than float32
reading.py       rows of weights times the stream: numbers by states, with errors and rounding
stream.py        the residual stream as a sum over its sources
splitting.py     a reading as a sum of functions of single variables
explaining.py    of which claimed variables a reading is a function
stand_ins.py     variables that stand for others: counts and choices
pairs.py         every pair of a query's state and a key's
scores.py        how far what must be picked scores above all else
sink.py          the position that queries attend to which pick nothing
channels.py      what heads send, and what that adds to the stream
attention.py     what comes out of the softmax
feed_forward.py  hidden units, run in every state of what they read
readout.py       the answer in every state, compared with the program's
gradients.py     how much all of it can change with the embedded input
"""
