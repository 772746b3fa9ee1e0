"""`rasp lsp`: the language in every editor that speaks the Language Server Protocol.

A program runs in a process of its own with budgets (`running`); what can be read off
the text alone (`bindings`) is answered at once. `server` is the only part that knows pygls.
"""
