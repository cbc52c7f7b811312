"""Tests of the HTTP interface, through requests as clients send them."""
