"""Moderate weights that bear noise: values in, arrays and claims out, in the robust style.

What an s-op holds, and which heads there are, is found as in the compact style, by the chapters of
analysis and of heads. But everything that a head or a read-out looks at is a
one-hot block of the residual stream: the token, the index, what a head has picked, what a
feed-forward has worked out. `blocks` keeps these blocks, and makes any function of them a row of
weights. `attention` compares two blocks by the table of truth between them; `numbers` are what
heads average or add up, and `lines` makes one of several; `grids` splits a function of numbers and
blocks into cubes, and `steps` makes a block of it again, by steps that are flat around every value,
so that errors do not add up over the layers. `boxes` reads values off several blocks at once.
`plan` goes from the last layer to the first and asks for what is needed, which `plan_parts` are
made of. Then `narrow` holds each block in as few dimensions as its readers allow, by one of the
`codings`. `arrays` writes the weights and says what they do.
"""
