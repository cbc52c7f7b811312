"""Lists without JavaScript: page numbers, letters, tables, search, actions on several maps."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDetails, MapDraft, Outline, Topic, Visibility, sheets_of
from mapshelf.site import bulk_actions, site_routes
from mapshelf.site.choices import Choice
from mapshelf.site.list_navigation import numbered
from tests.examples import examples
from tests.harness import Service, Shelf, shelf_with
from tests.person import Person, member, until, user_named
from tests.store.drafts import source, upload

LETTERS = "abcdefghijklm"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    drafts = [
        MapDraft(
            id=f"map{letter}{number}",
            title=f"{letter} {number}",
            owner=("zoe", "joe")[number % 2],
            source=source(f"{letter}/{number}.mm", path=f"/{letter}{number}.mm".encode()),
            content=zlib.compress(f"file {letter}{number}".encode()),
            size=1234,
        )
        for letter in LETTERS
        for number in range(10)
    ]
    with shelf_with(tmp_path_factory.mktemp("around"), *drafts) as shelf:
        yield shelf


@pytest.fixture(scope="module")
def site(shelf: Shelf) -> Iterator[Service]:
    with Service(shelf.settings, "", site_routes) as service:
        yield service


@pytest.fixture(autouse=True)
def _cheap(cheap: None) -> None:
    """Make password hashes cheap."""


def get(site: Service, path: str, status: int = 200) -> str:
    answer = site.request("GET", path, signed=False)
    assert answer.status_code == status, answer.text[:500]
    return answer.text


def nav(page: str, name: str) -> list[tuple[str, str]]:
    """Return address and text of each link in a part of a page."""
    (part,) = re.findall(rf'<(?:nav|ul) class="{name}"[^>]*>(.*?)</(?:nav|ul)>\n', page, re.DOTALL)
    found = re.findall(r'<a href="([^"]*)"[^>]*>(?:<bdi>)?([^<]*)', part)
    return [(one.replace("&amp;", "&"), words) for one, words in found]


def test_pages_have_numbers(site: Service) -> None:
    page = get(site, "/?offset=48")
    assert nav(page, "numbers") == [
        (f"/?offset={24 * (n - 1)}" if n > 1 else "/", str(n)) for n in range(1, 7)
    ]
    assert 'href="/?offset=48" aria-current="page" aria-label="Page 3">3</a>' in page


@pytest.mark.parametrize(
    ("page", "pages", "shown"),
    [
        (1, 1, "1"),
        (1, 9, "1 2 3 … 9"),
        (4, 9, "1 2 3 4 5 6 … 9"),
        (5, 9, "1 2 3 4 5 6 7 8 9"),
        (50, 99, "1 … 48 49 50 51 52 … 99"),
        (99, 99, "1 … 97 98 99"),
    ],
)
def test_which_page_numbers_are_shown(page: int, pages: int, shown: str) -> None:
    found = numbered(page, pages, lambda one: f"/{one}")
    assert " ".join(one.name for one in found) == shown
    assert [one.name for one in found if one.chosen] == [str(page)]
    assert all(one.address == ("" if one.name == "…" else f"/{one.name}") for one in found)
    assert Choice("…", "") not in found[:1]


def test_letters_lead_to_their_first_map(site: Service) -> None:
    assert 'class="letters"' not in get(site, "/")
    for path in ("/?order_by=alpha", "/owners/zoe?order_by=alpha&view=table"):
        letters = nav(get(site, path), "letters")
        assert [words for _, words in letters] == list(LETTERS.upper())
        for address, letter in letters:
            there, _, anchor = address.partition("#")
            place = re.search(
                rf'id="{anchor or "n1"}".*?dir="auto">(. \d)<', get(site, there), re.S
            )
            assert place
            first = "1" if "joe" in path else "0"
            assert place[1] == f"{letter.lower()} {first}"


def test_a_list_is_shown_as_a_table(site: Service) -> None:
    cards = get(site, "/owners/zoe?order_by=alpha")
    (_, table) = nav(cards, "views")
    assert table == ("/owners/zoe?order_by=alpha&view=table", "Table")
    page = get(site, table[0])
    assert page.count("<tr id=") == 24
    for heading in ("Title", "Folder", "Owner", "Edited", "Added", "Topics", "Size"):
        assert f">{heading}</th>" in page
    assert "12.34 KB" in page
    # All links keep the view, except those for programs.
    assert all("view=table" in address for address, _ in nav(page, "numbers"))
    assert all("view=table" in address for address, _ in nav(page, "orders"))
    assert '<input type="hidden" name="view" value="table">' in page
    assert 'rel="canonical" href="/owners/zoe?order_by=alpha"' in page
    assert all("view" not in one for one in re.findall(r'"(/feed.atom[^"]*)"', page))
    assert "<tr id=" in get(site, "/site/search?view=table&query=a")
    get(site, "/?view=chairs", 400)


def test_chosen_maps_are_downloaded_together(
    site: Service, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = get(site, "/?order_by=alpha")
    assert '<form class="choosing" method="get" action="/download">' in page
    assert '<input type="checkbox" name="map" value="mapa0">' in page

    def names(path: str) -> dict[str, bytes]:
        answer = site.request("GET", path, signed=False)
        assert answer.status_code == 200, answer.text
        assert answer.headers["Content-Type"] == "application/zip"
        assert answer.headers["Cache-Control"] == "no-store"
        with zipfile.ZipFile(BytesIO(answer.content)) as packed:
            assert packed.testzip() is None
            return {name: packed.read(name) for name in packed.namelist()}

    assert names("/download?map=mapb1&map=mapa0&map=none&map=mapb1") == {
        "b 1.mm": b"file b1",
        "a 0.mm": b"file a0",
    }
    shelf.put(
        MapDraft(id="twin1", title="a/0", content=zlib.compress(b"1"), source=source("1.mm")),
        MapDraft(id="twin2", title="A\\0", content=zlib.compress(b"2"), source=source("2.mm")),
        MapDraft(id="bare1", title="..", source=None),
    )
    found = names("/download?map=twin1&map=twin2&map=mapa0&map=bare1")
    assert {"a 0.mm", "A 0 (2).mm", "a 0 (3).mm", "left-out.txt"} == set(found)
    assert found["left-out.txt"].splitlines()[2:] == [b".."]
    monkeypatch.setattr(bulk_actions, "MOST_BYTES", 10)
    assert set(names("/download?map=mapc1&map=mapc2")) == {"c 1.mm", "left-out.txt"}
    for path in ("/download", "/download?map=", "/download?map=<b>"):
        get(site, path, 400)
    get(site, "/download?map=none", 404)
    many = "&".join(f"map=x{n}" for n in range(101))
    get(site, f"/download?{many}", 400)


def test_nobody_downloads_what_they_may_not_see(site: Service, shelf: Shelf) -> None:
    ann = member(site, shelf, "ann")
    store, user = shelf.store, user_named(shelf, "ann")
    details = MapDetails(title="Secret", visibility=Visibility.PRIVATE)
    own, _ = store.publish(upload("mine"), details, user.id, None)
    path = f"/download?map={own.id}"
    get(site, path, 404)
    assert ann.get(path).headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(BytesIO(ann.get(f"{path}&map=mapa0").content)) as packed:
        assert len(packed.namelist()) == 2


def test_chosen_maps_are_tagged_together(site: Service, shelf: Shelf) -> None:
    bob: Person = member(site, shelf, "bob")
    store, user = shelf.store, user_named(shelf, "bob")
    own = [
        store.publish(upload(text), MapDetails(title=text, tags=("Old", text)), user.id, None)[0]
        for text in ("one", "two")
    ]
    page = f"/tag?map={own[0].id}&map={own[1].id}&map=mapa0"
    assert "1 map is left out, because you cannot change it." in bob.get(page).text
    answer = bob.fill(page, add="New, OLD", remove="Two")
    assert answer.status_code == 303
    assert "The tags have been saved." in bob.get(answer.headers["Location"]).text
    tags = {one.title: one.tags for one in store.maps_of(user.id, 0, 9)}
    assert tags == {"one": ("Old", "one", "New"), "two": ("Old", "New")}
    for said in ({}, {"add": "x" * 51}, {"add": ",".join(map(str, range(18)))}):
        answer = bob.fill(page, **said)
        assert answer.status_code == 400
        assert "Separate tags with commas" in answer.text
    assert {one.title: one.tags for one in store.maps_of(user.id, 0, 9)} == tags
    assert bob.status("/tag?map=mapa0") == 403
    assert bob.status("/tag?map=none") == 404


def choices(page: str) -> dict[str, tuple[str, bool]]:
    """Return the checkboxes beside the search box: name, value, and whether each is checked."""
    found = re.findall(r'type="checkbox" name="(\w+)" value="([^"]*)"( checked)?>', page)
    return {name: (value, bool(made)) for name, value, made in found if name != "map"}


def test_a_search_is_narrowed_beside_its_box(site: Service) -> None:
    assert choices(get(site, "/")) == {
        "title_only": ("true", False),
        "with_notes": ("true", False),
    }
    page = get(site, "/?folder=b&title_only=1&with_notes=TRUE&query=x&order_by=alpha")
    assert choices(page) == {
        "folder": ("b", True),
        "title_only": ("true", True),
        "with_notes": ("true", True),
    }
    assert "In “b” and below" in page
    hidden = re.findall(r'type="hidden" name="(\w+)"', page.split("</form>")[0])
    assert hidden == ["order_by"], "a checkbox also has a hidden field"
    assert 'aria-label="Remove the filter Titles only"' in page
    assert 'aria-label="Remove the filter Titles only"' not in get(site, "/?title_only=1")
    assert len(re.findall('id="n[0-9]+"', get(site, "/?folder=b&query=b"))) == 10
    get(site, "/?title_only=perhaps", 400)


TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200),
    st.lists(
        st.sampled_from(
            ["folder:", "tag:", "title:", "-", '"', "\u201c", "\u201d", "a", " ", "/", ":", "日"]
        ),
        max_size=30,
    ).map("".join),
)


@settings(max_examples=examples(60))
@given(text=TEXTS)
def test_any_query_is_accepted(site: Service, text: str) -> None:
    asked = quote(text)
    for path in (
        "/?query=",
        "/site/search?title_only=true&query=",
        "/mindmaps/mapa0/a-0/find?query=",
    ):
        answer = site.request("GET", f"{path}{asked}", signed=False)
        assert answer.status_code == 200, (path, text)


def test_topics_of_one_map_are_found_without_a_script(site: Service, shelf: Shelf) -> None:
    texts = ("tea <b>", "black tea", "coffee", "tea <b>", "tea house")
    topics = [Topic(text, id=f"t{number}") for number, text in enumerate(texts)]
    outline = Outline(sheets_of([Topic("Drinks", id="r", children=topics)]))
    shelf.put(MapDraft(id="drinks", title="Drinks", outline=encode_outline(outline)))
    page = get(site, "/mindmaps/drinks/drinks")
    assert 'formaction="/mindmaps/drinks/drinks/find">In this map</button>' in page
    assert "/find" not in get(site, "/mindmaps/mapa0/a-0")
    found = get(site, "/mindmaps/drinks/drinks/find?query=tea")
    there = re.findall(r'<a href="/mindmaps/drinks/drinks#t=([^"]+)"', found)
    assert there == ["t0", "t1", "t3", "t4"], "links go to other topics than those that match"
    assert "<mark>tea</mark> &lt;b&gt;" in found
    assert 'href="/?query=tea"' in found
    assert 'value="tea"' in found
    both = get(site, "/mindmaps/drinks/drinks/find?query=black+tea")
    assert both.count("#t=") == 1, "a topic without both words was found"
    assert "No topic of this map matches." in get(site, "/mindmaps/drinks/drinks/find?query=xyz")
    assert "#t=" not in get(site, "/mindmaps/drinks/drinks/find")
    shelf.publish()
    until(site, lambda: "Drinks" in get(site, "/?query=tea"))
    (more,) = re.findall(r'href="([^"]+)" rel="nofollow">All matches', get(site, "/?query=tea"))
    assert more == "/mindmaps/drinks/drinks/find?query=tea"
    get(site, "/mindmaps/none/x/find?query=tea", 404)
