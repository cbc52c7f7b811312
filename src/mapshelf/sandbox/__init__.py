"""Sandboxed child processes with resource limits, for processing untrusted files."""
