"""Which canonical paths a folder had before links were left in its path."""

import os
from pathlib import Path

import pytest

from mapshelf.importer.moved_folders import former_paths


def test_a_folder_without_links_had_no_other_path(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "maps"
    folder.mkdir(parents=True)
    assert former_paths(folder) == []
    assert former_paths(folder / ".." / "maps") == []


@pytest.mark.parametrize("moved", ["a", "a/maps"])
def test_a_folder_may_have_been_where_a_link_is(tmp_path: Path, moved: str) -> None:
    folder = tmp_path / "a" / "maps"
    folder.mkdir(parents=True)
    away = (tmp_path / moved).rename(tmp_path / "away")
    (tmp_path / moved).symlink_to(away)
    assert former_paths(folder) == [os.fsencode(folder)]
    # Links that were there before do not matter.
    (tmp_path / "link").symlink_to(tmp_path)
    given = tmp_path / "link" / "a" / "maps"
    assert former_paths(given) == [os.fsencode(given), os.fsencode(folder)]
