"""Tests of power cuts and failing disks."""
