"""The files of a snapshot, as the builder writes and the workers read them."""
