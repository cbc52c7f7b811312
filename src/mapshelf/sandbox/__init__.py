"""Child processes with limits, for work on what strangers wrote."""
