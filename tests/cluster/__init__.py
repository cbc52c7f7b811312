"""Several servers and nodes together, under load, while one after the other breaks."""
