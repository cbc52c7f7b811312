"""Tests of the quality of search: judged queries on a catalogue made for them."""
