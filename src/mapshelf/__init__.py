"""Mapshelf: a self-hosted catalogue of mind maps."""

from importlib.metadata import version

__version__ = version("mapshelf")
