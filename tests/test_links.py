"""Kinds and targets of links of topics."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.formats.links import MAP_SUFFIXES, file_path, target_kind
from mapshelf.readers import READERS

TOPICS = {"ID_1", "a b"}


@pytest.mark.parametrize(
    ("link", "kind", "path"),
    [
        ("https://example.org/x.mm", "web", ""),
        ("HTTP://example.org", "web", ""),
        ("mailto:a@example.org", "mail", ""),
        ("#ID_1", "topic", ""),
        ("#a b", "topic", ""),
        ("#ID_2", "file", ""),
        ("other.mm", "map", "other.mm"),
        ("../a%20b/Other.XMIND#ID_7", "map", "../a b/Other.XMIND"),
        ("sub\\other.mmap", "map", "sub/other.mmap"),
        ("file:///home/ann/x.mm", "map", "/home/ann/x.mm"),
        ("file://server/share/x.mm#ID_1", "map", "/share/x.mm"),
        ("file:///C:/maps/x.mm", "map", "C:/maps/x.mm"),
        ("file:/home/x.pdf", "file", "/home/x.pdf"),
        ("C:\\maps\\x.mm", "map", "C:/maps/x.mm"),
        ("notes.pdf", "file", "notes.pdf"),
        ("readme.md", "file", "readme.md"),
        ("onenote:x.mm", "file", ""),
        ("file://[broken/x.mm", "map", "/x.mm"),
        ("", "file", ""),
    ],
)
def test_kinds_and_paths(link: str, kind: str, path: str) -> None:
    assert (target_kind(link, TOPICS).value, file_path(link)) == (kind, path)


def test_files_that_are_maps_are_those_of_the_readers() -> None:
    """Files of shared extensions may be maps; that ``mm.md`` is one, the last suffix hides."""
    named = {suffix for reader in READERS for suffix in reader.suffixes}
    assert {suffix for suffix in named if suffix.count(".") == 1} == MAP_SUFFIXES


@given(st.text() | st.text().map("file:".__add__))
def test_any_text_is_a_link(link: str) -> None:
    target_kind(link)
    file_path(link)
