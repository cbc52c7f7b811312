"""Reading a snapshot: lists, searches, facets."""
