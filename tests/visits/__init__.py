"""Tests of how visits are counted."""
