"""Tests of the pictures of maps."""
