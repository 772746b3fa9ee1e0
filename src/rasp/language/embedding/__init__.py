"""PYTHON -> GRAPH: the language as Python writes it, and what Python holds.

`constructors` are the language's functions, `handles` what they return and `handle_operators` what
`+` or `==` does to these; `lib` is the library. `namespace` and `function_handles` are a text's
names as Python sees them, `tabulating` makes a table of a Python function, `batches` evaluates many
inputs, `program_text` prints a program as text. `python_places` are lines of Python, and
`handle_refusals` says what went wrong there.

Nothing is imported here: a command that only runs a program needs no handles, and starts sooner.
"""
