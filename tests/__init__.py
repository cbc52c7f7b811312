"""Tests of Mapshelf. A package, so that tests of one folder can share their builders."""
