"""Our own formats: outlines as bytes, maps as lines of JSON."""
