"""TREE -> GRAPH: what the text of a program means.

A `session` runs statement after statement, by `elaborate`: `value_kinds` is what a name can be,
`operations` what operators do with these, `containers` looks into them; `builtins` are the
language's own functions, `library` those that are written in RASP, `calls` binds arguments and says
how they are misused; `notes` keeps names and places, `loader` finds loaded files, `repl_settings`
are words to the REPL. `mistakes` collects every mistake; `hints` say what an unknown name was meant
to be, and `suspicions` warns of a text in place of an s-op. `shown_values` writes values for
people.

Nothing is imported here, so that a command starts soon.
"""
