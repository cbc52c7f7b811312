"""Tests of the command line, mostly run as scripts run it."""
