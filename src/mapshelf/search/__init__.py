"""Search without an index: parse a query text, highlight its terms in a text, pick snippets.

``query_parser`` says what a query asks for. Three modules say when a text matches it:
``snapshot.read.text_queries`` in terms of index fields, to find maps, ``matching`` for a few maps
without an index, and ``highlight`` for one text, to show why a map was found.
``tests/test_highlight.py`` and ``tests/snapshot/test_matching.py`` check that they agree.
"""
