"""Text or Python → graph → values.

`operators` is the table of operators and `words` are the words of the language; `syntax` turns text
into a tree, `meaning` turns the tree into a program `graph`, and `evaluator` gives its values.
Python builds the same graph through `embedding`.
"""
