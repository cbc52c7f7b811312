"""Mapshelf: a self-hosted catalogue of mind maps."""
