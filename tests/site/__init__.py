"""Tests of the website: over HTTP and in a real browser."""
