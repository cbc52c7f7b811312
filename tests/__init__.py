"""Tests of Mapshelf. They are a package, so that tests of a folder can share helpers."""
