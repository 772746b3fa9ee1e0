"""What people start.

The command line (`cli`), the `repl`, the `notebook`, the `playground`, and the language server
(`lsp`); `shown_results` is what all of them say that a statement did.
"""
