"""What people start.

The command line (`cli`), the `repl`, the `notebook`, the `playground`, and the language server
(`lsp`). `fuzzing` compares every back end on random programs.
"""
