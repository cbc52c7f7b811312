"""Which links of an outline may lead to maps, and to which files."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.formats.map_links import (
    LONGEST_NAME,
    MOST_BYTES,
    MOST_LINKS,
    SHARED_SUFFIXES,
    FilesOfName,
    linked_name,
    linked_paths,
    map_links,
    name_of_file,
    spellings,
    topic_of,
)
from mapshelf.model import MapLink, Outline, Sheet, Topic
from mapshelf.readers import READERS

DECOMPOSED = unicodedata.normalize("NFD", "Übersicht.mm")


def outline_with(*links: str) -> Outline:
    return Outline((Sheet(Topic("root", "r", links=links)),))


def test_extensions_that_maps_share_are_those_of_the_readers() -> None:
    assert {suffix for reader in READERS for suffix in reader.shared} == SHARED_SUFFIXES


@pytest.mark.parametrize(
    ("link", "name", "topic"),
    [
        ("other.mm", "other.mm", ""),
        ("../a%20b/Other%20Map.XMIND#ID_7", "other map.xmind", "ID_7"),
        ("x.mm#a%20b", "x.mm", "a b"),
        ("sub\\other.mmap", "other.mmap", ""),
        ("C:\\maps\\x.mm", "x.mm", ""),
        ("file:///home/ann/x.mm", "x.mm", ""),
        ("notes.md", "notes.md", ""),
        (DECOMPOSED, "Übersicht.mm", ""),
        ("%DCbersicht.mm", "\ufffdbersicht.mm", ""),
        ("100%.mm", "100%.mm", ""),
        ("%zz%4.mm", "%zz%4.mm", ""),
        ("https://example.org/x.mm", "", ""),
        ("javascript:x.mm", "", ""),
        ("data:text/x.mm", "", ""),
        ("notes.pdf", "", ""),
        ("mm", "", ""),
        (".mm", "", ""),
        ("x.mm/", "", ""),
        ("a%00b.mm", "", ""),
        ("a" * 253 + ".mm", "", ""),
        ("\u0958" * 252 + ".mm", "", ""),
        ("", "", ""),
    ],
)
def test_names_and_topics_of_links(link: str, name: str, topic: str) -> None:
    assert linked_name(link) == name
    if name:
        assert topic_of(link) == topic


@pytest.mark.parametrize(
    ("link", "path"),
    [
        ("x.mm", "/maps/a/x.mm"),
        ("./b/../x.mm", "/maps/a/x.mm"),
        ("../x%20y.mm#ID", "/maps/x y.mm"),
        ("../../../../../etc/x.mm", "/etc/x.mm"),
        ("../" * 2000 + "x.mm", "/x.mm"),
        ("//x.mm", "/x.mm"),
        ("file:///home/x.mm", "/home/x.mm"),
        ("C:\\x.mm", "/maps/a/C:/x.mm"),
    ],
)
def test_paths_of_links(link: str, path: str) -> None:
    assert linked_paths(link, ["/maps/a/own.mm"]) == (path,)
    assert linked_paths(link, []) == ()


def test_every_place_of_the_map_counts_once() -> None:
    places = ["/a/own.mm", "/b/own.mm", "/a/other.mm"]
    assert linked_paths("x.mm", places) == ("/a/x.mm", "/b/x.mm")


def test_a_link_means_the_path_then_another_spelling_then_the_only_name() -> None:
    files = FilesOfName()
    assert files.meant(["/a/x.mm"]) == ""
    files.add("/elsewhere/x.mm", "one")
    assert files.meant(["/a/x.mm"]) == "one"
    files.add("/copy/x.mm", "one")
    assert files.meant(["/a/x.mm"]) == "one"
    files.add("/A/X.mm", "two")
    assert files.meant(["/a/x.mm"]) == "two"
    assert files.meant(["/b/x.mm"]) == ""
    files.add("/a/x.mm", "three")
    assert files.meant(["/a/x.mm"]) == "three"
    assert files.meant(["/a/X.mm"]) == "", (
        "two and three differ only in case, so the link is ambiguous"
    )
    assert files.meant(["/b/x.mm", "/elsewhere/x.mm"]) == "one"


def test_an_incomplete_list_of_files_has_no_only_name() -> None:
    files = FilesOfName()
    files.add("/elsewhere/x.mm", "one")
    files.complete = False
    assert files.meant(["/a/x.mm"]) == ""
    assert files.meant(["/elsewhere/x.mm"]) == "one"


def test_accents_may_be_written_in_two_ways() -> None:
    (composed, apart) = spellings(name_of_file("Übersicht.MM"))
    assert (composed, apart) == ("Übersicht.mm", unicodedata.normalize("NFD", "Ü").lower()
                                 + "bersicht.mm")  # fmt: skip
    assert name_of_file(DECOMPOSED) == composed
    files = FilesOfName()
    files.add(f"/a/{DECOMPOSED}", "one")
    files.add("/b/Übersicht.mm", "two")
    assert files.meant(["/a/Übersicht.mm"]) == "one"


def test_links_of_an_outline_are_bounded_and_each_is_there_once_per_topic() -> None:
    links = ("a.mm", "https://example.org", "a.mm", "b.mm#x", "#r", "c.pdf")
    topics = [Topic("t", "t", links=("a.mm",))]
    found = map_links(Outline((Sheet(Topic("root", "r", links=links), floating=tuple(topics)),)))
    assert found == (
        MapLink("r", "a.mm", "a.mm"),
        MapLink("r", "b.mm#x", "b.mm"),
        MapLink("t", "a.mm", "a.mm"),
    )
    many = map_links(outline_with(*(f"{n}.mm" for n in range(MOST_LINKS + 1))))
    assert len(many) == MOST_LINKS
    long = map_links(outline_with(*(f"{n:04}/".ljust(4000, "x") + "/a.mm" for n in range(1000))))
    assert 50 < len(long) < MOST_BYTES / 4000
    topic = Topic("t", "t" * 4000, links=tuple(f"{n}.mm" for n in range(1000)))
    assert 50 < len(map_links(Outline((Sheet(topic),)))) < MOST_BYTES / 4000
    named = map_links(outline_with(*(f"{n:04}{chr(0x20000) * 200}.mm" for n in range(1000))))
    assert 100 < len(named) < MOST_BYTES / 1600


@given(st.text() | st.text().map("{}.mm".format) | st.text(alphabet="./\\%0#:aCm\udc80\0"))
def test_any_text_is_a_link(link: str) -> None:
    name = linked_name(link)
    assert len(name) <= LONGEST_NAME
    assert "/" not in name
    assert "\0" not in name
    assert name_of_file(name) == name
    (path,) = linked_paths(link, ["/maps/\udcff/own.mm"])
    assert path.startswith("/")
    assert "/../" not in path
    files = FilesOfName()
    files.add(path, "it")
    assert files.meant([path]) == "it"
