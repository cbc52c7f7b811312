"""Words of any language: normalized, stemmed, and the language they are in."""
