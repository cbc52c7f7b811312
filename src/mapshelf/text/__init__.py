"""Words of any language: normalization, stemming and language detection."""
