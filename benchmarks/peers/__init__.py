"""Comparison of Mapshelf with alternatives: the same maps and the same searches in one run.

Each peer is built from the same store, started alone on the same core, warmed up in the same way,
and gets the same searches in the same order. ``comparison`` does that. The module of each peer
describes its setup, so that experts can tell us what to improve.
"""
