"""Imports map files and records into the store, and exports records.

Nothing is imported here: to export records, no reader of map files has to be loaded.
"""
