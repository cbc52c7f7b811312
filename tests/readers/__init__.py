"""Tests of the readers: every format, every limit, and real files."""
