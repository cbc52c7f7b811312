"""Tests of the HTTP interface: what clients may rely on, asked the way they ask."""
