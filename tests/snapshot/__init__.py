"""Tests of the snapshots: whatever happened on the way, the answers are those of the store."""
