"""Formats shared by readers, writers and stores: encoded outlines, NDJSON records, links, icons."""
