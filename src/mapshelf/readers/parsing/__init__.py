"""Parsing under resource limits: code shared by the readers of several formats."""
