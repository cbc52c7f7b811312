"""Tests of thumbnails and drawings of maps."""
