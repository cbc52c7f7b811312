"""Search without an index: parse a query text, highlight its terms in a text, pick snippets.

``query_parser`` says what a query asks for. Two modules say when a text matches it:
``snapshot.read.text_queries`` in terms of index fields, to find maps, and ``highlight`` for one
text, to show why a map was found. ``tests/test_highlight.py`` checks that both agree.
"""
