"""The HTTP interface: the operations of the specification, answered from a snapshot."""

from mapshelf.api.app import create_app

__all__ = ["create_app"]
