"""Child processes with limits, for work on untrusted files."""
