"""Metrics for operators: counters of all workers of a node, and the state of store and snapshot.

Each worker counts in plain numbers, and writes them to a small file every second
(``count_files.py``). Readers (``GET /metrics``, ``mapshelf status``) add up the files of all
workers, and query store and snapshot (``overview.py``).

``prometheus_client`` could do the first part, but it needs microseconds to count one request (it
locks, and packs numbers into a mapped file), too much for ``GET /maps``. Also, a write to a mapped
file on a full disk kills the process.
"""
