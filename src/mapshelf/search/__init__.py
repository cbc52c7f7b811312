"""Search without an index: parse queries, highlight matches, and extract snippets.

``query_parser`` parses a query. Three modules implement the matching rules:
``snapshot.read.text_queries`` with index fields, to find maps; ``matching`` for a few maps without
an index; and ``highlight`` for a single text, to show why a map was found.
``tests/test_highlight.py`` and ``tests/snapshot/test_matching.py`` check that they agree.
"""
