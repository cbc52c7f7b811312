"""Tests of comparing two maps."""
