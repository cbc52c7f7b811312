"""What operators watch: the counts of all workers of a node, and the state of store and snapshot.

Each worker counts in plain numbers of its own, and writes them to a small file every second
(``count_files.py``). Whoever wants to know (``GET /metrics``, ``mapshelf status``) adds up the
files of all workers, and asks store and snapshot (``overview.py``).

``prometheus_client`` can do the first part, but counting one request with it takes microseconds
(it locks, and packs numbers into a mapped file), which ``GET /maps`` has not to spare. Besides, a
write to a mapped file on a full disk ends the process.
"""
