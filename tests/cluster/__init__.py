"""Tests of several servers and nodes under load, while one after another fails."""
