"""Tests of what operators watch."""
