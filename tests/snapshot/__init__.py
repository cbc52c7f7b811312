"""Tests of snapshots: whatever happens to them, responses agree with the store."""
