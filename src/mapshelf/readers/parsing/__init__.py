"""Parsing under limits: what the readers of several formats share."""
