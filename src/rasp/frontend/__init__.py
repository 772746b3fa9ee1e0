"""TREE or PYTHON -> GRAPH: elaboration, sessions, the library, and the handles Python holds.

Nothing is imported here: a command that only runs a program needs no handles, and starts sooner.
"""
