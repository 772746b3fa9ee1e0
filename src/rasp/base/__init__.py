"""What every floor uses: errors and source places, atoms, limits, files, terminal text.

`errors` are data with a place in a `source`; `tracebacks` shows the caller's lines, `spelling`
finds what was meant. `atoms` are the values of the language, `input_text` reads lists of them.
`limits` are all budgets, `meter` counts against them, `progress` says how far work is.
`file_reading` and `file_writing` touch files with care, `terminal_text` escapes what a terminal
would obey, `installing` says how to install an extra, and `cluster` connects to Ray.
"""
