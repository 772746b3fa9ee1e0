"""The finished model: run it, describe it, certify it, keep it in files.

The files in the order data flows: `forward` is the forward pass and `transformer` what users hold,
`vocabulary_inputs` are those that it is for; `describe` puts the program's words on each part and
finds the circuit, `certificate` is the statement that the checker makes of it, with what else it
says of the robust style; `store` is the folder on disk: `tensors` are the arrays in it, and `forms`
writes and reads values as the types of their fields say. `verify` checks a model that is read from
there.
"""
