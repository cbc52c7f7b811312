"""The readers: one module for each supported format."""
