"""Tests of the readers: every format, every limit, and what real files do."""
