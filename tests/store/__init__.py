"""Tests of the stores: one contract, which every backend passes, and what is its own."""
