"""Define the file formats of a snapshot, which the builder writes and the workers read."""
