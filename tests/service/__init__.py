"""``mapshelf serve`` as operators run it: real processes, real signals."""
