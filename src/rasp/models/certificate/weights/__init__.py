"""ARRAYS + TABLES -> WHAT THE STREAM HOLDS, after every block, and how wrong it is.

What each file proves, in the order to read them:

rounding.py      sums in float32 are exact, or at most so far off
arrays.py        each array is in its place, and none is left over
precision.py     what rounding does in arithmetic that is coarser than float32
reading.py       rows of weights read these numbers, at most so far off
stream.py        the residual stream is the sum of its sources, at most so far off
terms.py         what each source adds to what is read
splitting.py     terms are a sum of functions of single variables, but for an error
explaining.py    a reading is a function of the claimed variables, but for an error
stand_ins.py     the same for counts of conditions, and for choices
pairs.py         how matches and all else score, for every pair of a query and a key
scores.py        what must be picked scores so far above all else
sink.py          the sink holds what it should, and what queries that pick nothing get
channels.py      what heads send
attention.py     what comes out of the softmax, at most so far off
writing.py       the stream holds it afterwards
feed_forward.py  what hidden units add, in every state of what they read
readout.py       the answer is the program's in every state
gradients.py     how much all of it can change with the embedded input
"""
