"""Our own formats: encoded outlines, and records of maps as NDJSON."""
