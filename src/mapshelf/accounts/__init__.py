"""People: passwords, sessions, one-time links, and who may do what.

Nothing here knows HTTP. The functions that hash a password take long and much memory: callers run
them in a bounded queue of threads, never in an event loop.
"""
