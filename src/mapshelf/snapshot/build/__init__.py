"""Building snapshots from the store."""
