"""Tests of the stores: a contract that every backend passes, and tests of each backend."""
