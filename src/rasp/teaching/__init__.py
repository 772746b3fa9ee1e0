"""Programs to learn from, and their judges.

The `gallery`, `#>` tests (`testing`), a `sandbox` for programs of strangers, and `grading`.
"""
