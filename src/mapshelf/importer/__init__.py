"""Import map files and records into the store, and export records.

This package imports none of its modules, so that exporting records loads no map readers.
"""
