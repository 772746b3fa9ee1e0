"""`rasp lsp`: the language in every editor that speaks the Language Server Protocol.

A program runs in a process of its own with budgets (`editor_processes`, which asks `analysis`);
what can be read off the text alone (bindings in their scopes) is answered at once. A `document`
keeps both. `editor_answers`, `completion` and `renaming` are what an editor asks for, `positions`
how it counts; `language_server` is the only part that knows pygls.
"""
