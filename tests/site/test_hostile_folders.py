"""Folders with hostile names: people and programs can open them, and no name runs as a script."""

import os
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote

import pytest

from mapshelf.site import site_routes
from tests.cli.process import Mapshelf
from tests.harness import Service, shelf_with
from tests.site.shelves import STRIKES

NAMES = (
    *(
        "x" * 255,
        "100%",
        "a%2Fb",
        "%00",
        "a?b&c=d#e",
        '"quoted" it\'s',
        "<b>&amp;",
        "a+b",
        " spaced ",
    ),
    *("C:\\dir", "folder:x tag:y", "-minus", "new\nline", "bell\x07", "\u202eevil"),
    *("عربي", "e\u0301te\u0301", "日本", "👨\u200d👩\u200d👧", "no\xa0break", "می\u200cخواهم", "ǅ"),
    *(one.replace("/", "\u2044") for one in STRIKES),
)
UNDECODABLE = b"\xff\xfe latin \xe9"
"""A name in another encoding than UTF-8, as old systems wrote them."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data, maps = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("maps")
    for name in (*map(os.fsencode, NAMES), UNDECODABLE):
        inner = os.path.join(os.fsencode(maps), name, b"inner")
        os.makedirs(inner)
        for number in range(2):
            with open(os.path.join(inner, b"m%d.md" % number), "w") as file:
                file.write(f"---\nmarkmap: {{}}\n---\n# Map {number}\n\n- leaf\n")
    with shelf_with(data) as shelf:
        Mapshelf(shelf.settings.data, shelf.settings.database).run("import", maps)
        shelf.publish()
        with Service(shelf.settings, shelf.token(), site_routes) as service:
            yield service


def page(site: Service, path: str) -> str:
    answer = site.request("GET", path, signed=False)
    assert answer.status_code == 200, (path, answer.text[:300])
    assert "<script>window" not in answer.text
    return answer.text


@pytest.mark.slow
def test_every_folder_is_listed_and_counts_its_maps(site: Service) -> None:
    top = site.get("/folders").json()
    assert len(top) == len(NAMES) + 1
    assert {one["count"] for one in top} == {2}
    for one in top:
        assert all(letter.isprintable() or letter in "\xa0\u200c\u200d" for letter in one["name"])
        (inner,) = site.get(f"/folders?below={quote(one['path'], safe='')}").json()
        assert (inner["name"], inner["count"]) == ("inner", 2)
        listed = site.get(f"/maps?folder={quote(inner['path'], safe='')}")
        assert listed.headers["X-Total-Count"] == "2"
        facets = site.get(f"/facets?folder={quote(one['path'], safe='')}").json()
        assert [found["path"] for found in facets["folder"]] == [inner["path"]]


@pytest.mark.process
def test_readable_folder_names_are_not_changed(site: Service) -> None:
    names = {one["name"] for one in site.get("/folders").json()}
    assert {"عربي", "日本", "👨\u200d👩\u200d👧", "no\xa0break", "می\u200cخواهم", "100%"} <= names
    assert {"new\\nline", "bell\\x07", "\\u202eevil", "\\xff\\xfe latin \\xe9"} <= names


@pytest.mark.slow
def test_every_folder_can_be_opened_from_the_page_of_all(site: Service) -> None:
    assert 'href="/browse/folders"' in page(site, "/"), "no link to all folders"
    shown = page(site, "/browse/folders")
    links = {unescape(one) for one in re.findall(r'href="(/\?folder=[^"]*)"', shown)}
    assert len(links) == len(NAMES) + 1
    for link in links:
        within = page(site, link)
        assert "2 maps" in within
        (address, *_) = re.findall(r'<h2 class="name"><a href="([^"]*)"', within)
        above = re.findall(r'href="(/\?folder=[^"]*)"', page(site, address).split("<h1")[0])
        assert len(above) == 2
        assert all("2 maps" in page(site, unescape(one)) for one in above)


@pytest.mark.slow
def test_the_page_of_folders_takes_any_parameters(site: Service) -> None:
    for below in ("100%", "a?b&c=d#e", "\\u202eevil"):
        shown = page(site, f"/browse/folders?below={quote(below, safe='')}")
        assert "1 folder<" in shown
        assert ">inner<" in shown
    for asked in ("below=nowhere", "below=a%2F..%2Fb", "offset=x", "offset=-1", f"offset={9**40}"):
        page(site, f"/browse/folders?{asked}")
    assert "There are no folders in it." in page(site, "/browse/folders?below=100%25/inner")
