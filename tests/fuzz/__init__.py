"""Fuzzing of every reader, outside the test suite: see docs/fuzzing.md."""
