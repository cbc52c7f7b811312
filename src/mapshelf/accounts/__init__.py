"""User accounts: authentication, sessions, one-time links and permissions.

This package does not depend on HTTP. Hashing a password is slow and needs much memory: callers run
it in a bounded thread pool, never in an event loop.
"""
