"""Tests of what is left after a power cut, and of what happens when a disk fails."""
