"""What people start.

The command line (`cli`), the `repl`, the `notebook`, the `playground`, and the language server
(`lsp`).
"""
