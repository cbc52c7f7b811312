"""Tests of ``mapshelf serve`` as operators run it, with real processes and signals."""
