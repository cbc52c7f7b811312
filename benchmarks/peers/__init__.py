"""Mapshelf beside what people would use instead: the same maps, the same questions, one run.

Each peer is built from the same store, started alone on the same core, warmed up alike and asked
the same questions in the same order. ``comparison`` does that; each peer has a module that says
how it was set up, so that whoever knows it better can say what we did wrong.
"""
