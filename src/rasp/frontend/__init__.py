"""TREE or PYTHON -> GRAPH: elaboration, sessions, the library, and the handles Python holds.

From text: a `session` runs statement after statement, by `elaborate`: `values` is what a name can
be, `operations` what operators do with these, `containers` looks into them; `builtins` are
the language's own functions, `library` those that are written in RASP, and `calls` binds arguments;
`notes` keeps names and places, `loader` finds loaded files, `commands` are words to the REPL.
`checking` collects every mistake; `missing` and `hints` say what an unknown name was meant to be.
`show` prints results.

From Python: `embedding` is the language as Python writes it, `handles` are what it holds and
`expressions` their operators; `namespace` and `functions` are a text's names as Python sees them,
`tabulating` makes a table of a Python function, `batches` evaluates many inputs, `writing` prints a
program as text. `places` are lines of Python, `refusals` and `library_refusals` say what went wrong
there.

Nothing is imported here: a command that only runs a program needs no handles, and starts sooner.
"""
