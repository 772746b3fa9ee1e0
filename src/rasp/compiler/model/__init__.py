"""The finished model: run it, describe it, certify it, keep it in files.

`transformer` is the forward pass and what users hold, `describe` the words on each part and the
circuit, `certificate` the statement that the checker makes of it, `store` the folder on disk and
`shape_checks` what must fit together in one that was read.
"""
