"""Content and headers of the pages, from the application in this process."""

import json
import re
import zlib
from collections.abc import Iterator, MutableMapping
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Source
from mapshelf.readers import Limits
from mapshelf.readers import read as read_file
from mapshelf.render.themes import DARK, LIGHT, Theme
from mapshelf.site import site_routes
from mapshelf.site.messages import ENGLISH, counted, say
from mapshelf.writers import WRITERS
from tests.harness import BASE_URL, Service, Shelf, serve, shelf_with
from tests.readers.samples import as_file, drawn, with_picture
from tests.site.shelves import ARABIC, BARE, CHINESE, GARDEN, encoded, filler, hostile, topic
from tests.test_examples import SAMPLES

PAGE = "/mindmaps/Garden01/a-kitchen-garden"
ATOM = "{http://www.w3.org/2005/Atom}"
STATIC = Path(__file__).parents[2] / "src/mapshelf/site/static"
IN_STYLE_SHEET = {
    "ground": "--paper",
    "text": "--ink",
    "quiet": "--quiet",
    "centre": "--centre",
    "on_centre": "--on-centre",
    "on_branch": "--on-branch",
}
"""The names in the style sheet for the colours of a theme."""
VOID = {"meta", "link", "input", "img", "br", "hr", "source", "base", "wbr"}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    drafts = (GARDEN, CHINESE, ARABIC, BARE, *filler(60), *hostile())
    with shelf_with(tmp_path_factory.mktemp("pages"), *drafts) as full:
        yield full


@pytest.fixture(scope="module")
def site(shelf: Shelf) -> Iterator[Service]:
    with serve(shelf, site_routes) as running:
        yield running


def get(site: Service, path: str, status: int = 200, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = site.request("GET", path, headers=named, signed=False)
    assert response.status_code == status, (path, response.status_code, response.text[:500])
    return response


class Reading(HTMLParser):
    """An HTML parser that collects the elements of a page, and those that are nested wrongly."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def read(response: httpx.Response) -> Reading:
    reading = Reading()
    reading.feed(response.text)
    reading.close()
    return reading


def links(site: Service, path: str) -> list[str]:
    return [attributes["href"] for tag, attributes in read(get(site, path)).found if tag == "a"]


def test_pages_need_no_token_and_the_api_still_does(site: Service) -> None:
    get(site, "/")
    get(site, PAGE)
    get(site, "/maps", 401)


def test_every_page_has_a_strict_content_security_policy(site: Service) -> None:
    for path in ("/", "/?query=garden", PAGE, f"{PAGE}?embed=1", "/owners/flora", "/mindmaps/none"):
        headers = site.request("GET", path, signed=False).headers
        policy = dict(
            part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["base-uri"] == "'none'"
        assert policy["frame-ancestors"] == ("*" if "embed" in path else "'none'")
        assert ("x-frame-options" in headers) == ("embed" not in path)
        assert headers["x-content-type-options"] == "nosniff"


def test_pages_load_nothing_from_other_hosts(site: Service) -> None:
    for path in ("/", PAGE, f"{PAGE}?embed=1"):
        for tag, attributes in read(get(site, path)).found:
            assert "style" not in attributes
            assert not [name for name in attributes if name.startswith("on")]
            if tag in ("script", "img", "source", "iframe"):
                loaded = attributes.get("src") or attributes.get("srcset") or "/"
                assert loaded.startswith("/")
            if tag == "script" and attributes["type"] == "module":
                assert get(site, attributes["src"]).headers["content-type"].startswith("text/java")


@pytest.mark.slow
def test_every_page_is_well_nested(site: Service, shelf: Shelf) -> None:
    paths = ["/", "/?query=struck", "/?query=nothing-at-all", PAGE, f"{PAGE}?embed=1", "/?limit=99"]
    paths += [f"/mindmaps/{found.id}" for found in shelf.store.maps(0, 200)]
    for path in paths:
        response = site.request("GET", path, signed=False)
        while response.status_code == 308:
            response = site.request("GET", response.headers["location"], signed=False)
        if response.headers["content-type"].startswith("text/html"):
            reading = read(response)
            assert not reading.wrong, path
            assert reading.open == [], path


@pytest.mark.parametrize("path", ["/mindmaps/Garden01", "/mindmaps/Garden01/old-name"])
def test_old_addresses_lead_to_the_present_one(site: Service, path: str) -> None:
    response = get(site, f"{path}?embed=1", 308)
    assert response.headers["location"] == f"{PAGE}?embed=1"
    assert response.headers["cache-control"] == "public, no-cache"


@pytest.mark.parametrize(
    ("sent", "query"),
    [
        ("Grün".encode(), b"Gr%C3%BCn"),
        (b"Gr%C3%BCn", b"Gr%C3%BCn"),
        (b"Gr%c3%bcn&embed=1", b"Gr%c3%bcn&embed=1"),
        (b"a+b%20c&d=/?:@!$'()*,;~", b"a+b%20c&d=/?:@!$'()*,;~"),
        (b"\xff\xc3(", b"%FF%C3("),
        (b"a\r\nSet-Cookie: b=c\x00\t\x7f", b"a%0D%0ASet-Cookie:%20b=c%00%09%7F"),
        (b"100%&%zz&%4", b"100%25&%25zz&%254"),
        (b'<"[\\]#{|}^`>', b"%3C%22%5B%5C%5D%23%7B%7C%7D%5E%60%3E"),
    ],
)
def test_a_redirect_keeps_the_query_whatever_bytes_it_has(
    site: Service, sent: bytes, query: bytes
) -> None:
    """The request bypasses the HTTP client, which would encode the query."""
    status, headers = site.run(asked_raw(site, b"/mindmaps/Garden01", b"q=" + sent))
    assert status == 308
    assert dict(headers)[b"location"] == PAGE.encode() + b"?q=" + query


async def asked_raw(
    site: Service, path: bytes, query_string: bytes
) -> tuple[int, list[tuple[bytes, bytes]]]:
    """Return status and headers of the response to a request with exactly these bytes."""
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "path": path.decode(),
        "raw_path": path, "query_string": query_string, "headers": [(b"host", b"localhost")],
    }  # fmt: skip
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await site.application(scope, receive, send)
    return sent[0]["status"], sent[0]["headers"]


def test_the_address_in_the_api_is_the_page(site: Service) -> None:
    for found in site.maps(limit=50, order_by="alpha").json():
        address = found["URL"]
        if address.startswith(BASE_URL):
            get(site, address.removeprefix(BASE_URL))


def test_a_page_says_all_that_is_in_the_map(site: Service) -> None:
    reading = read(get(site, PAGE))
    for text in ("A kitchen garden", "Sow in April", "They climb.", "flora", "FreeMind", "1,234"):
        assert text in reading.text
    ids = {attributes.get("id") for _, attributes in reading.found}
    assert {"t=carrots", "t=sow-in-april", "t=watering", "t=a-kitchen-garden"} <= ids


def test_a_page_gives_the_map_in_every_format(site: Service) -> None:
    found = links(site, PAGE)
    for writer in WRITERS:
        assert f"{PAGE}.{writer.suffix}" in found
        file = get(site, f"{PAGE}.{writer.suffix}")
        signed = site.get(f"/maps/Garden01/outline.{writer.suffix}")
        assert file.content == signed.content
        assert "attachment" in file.headers["content-disposition"]
    assert f"{PAGE}/original" in found
    assert get(site, f"{PAGE}/original").content == b"<map>"


def test_relative_links_in_notes_are_removed(tmp_path: Path) -> None:
    """A relative link to a file next to the map would become an address of the service."""
    note = "".join(
        f'<a href="{link}">{number}</a>'
        for number, link in enumerate(
            ("other.mm", "../x", "//evil.example/", "#stage", "/maps", "?a", "https://a.example/b")
        )
    )
    noted = topic("noted")
    noted.note_html = note
    draft = MapDraft(id="Notes000", title="Notes", outline=encoded(noted))
    with shelf_with(tmp_path, draft) as own, serve(own, site_routes) as running:
        response = get(running, "/mindmaps/Notes000/notes")
        inside = response.text.split('<div class="note" dir="auto">')[1].split("</div>")[0]
        assert re.findall('href="([^"]*)"', inside) == ["https://a.example/b"]
        assert [str(number) for number in range(7)] == re.findall(r">(\d)<", inside)


def test_a_map_without_topics_has_a_page(site: Service) -> None:
    response = get(site, "/mindmaps/Bare0001/only-a-title")
    assert say("map.no_outline") in response.text
    assert "data-drawing" not in response.text
    get(site, "/site/maps/Bare0001.json", 404)


def test_a_page_is_described_for_other_programs(site: Service) -> None:
    response = get(site, PAGE)
    found = read(response).found
    properties = {a["property"]: a["content"] for tag, a in found if "property" in a}
    assert properties["og:title"] == "A kitchen garden"
    assert properties["og:url"] == BASE_URL + PAGE
    assert properties["og:image"].startswith(f"{BASE_URL}/thumbnails/Garden01.png")
    data = re.search(r'<script type="application/ld\+json">(.*?)</script>', response.text)
    assert data
    described = json.loads(data[1])
    assert described["name"] == "A kitchen garden"
    assert described["author"]["name"] == "flora"
    (oembed,) = [a["href"] for _, a in found if a.get("type") == "application/json+oembed"]
    answer = get(site, oembed.removeprefix(BASE_URL) + "&maxwidth=300").json()
    assert (answer["version"], answer["type"], answer["width"]) == ("1.0", "rich", 300)
    assert f'src="{BASE_URL}{PAGE}?embed=1"' in answer["html"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("url=https://elsewhere.example/mindmaps/Garden01/x", 404),
        ("url=https://maps.example.org/maps", 404),
        ("url=https://[", 404),
        ("", 404),
        (f"url={BASE_URL}{PAGE}&format=xml", 400),
    ],
)
def test_oembed_knows_only_our_maps(site: Service, query: str, status: int) -> None:
    get(site, f"/oembed?{query}", status)


@pytest.mark.slow
def test_a_page_shows_the_picture_in_the_file(tmp_path: Path) -> None:
    file = with_picture(as_file(drawn()))
    outline = encode_outline(read_file(file, Limits()))
    source = Source(b"/c.xmind", "c.xmind", len(file), 1, b"c" * 32)
    draft = MapDraft(id="Carries0", title="C", outline=outline, content=zlib.compress(file))
    drafts = (replace(draft, source=source), GARDEN)
    with shelf_with(tmp_path, *drafts) as own, serve(own, site_routes) as running:
        page = read(get(running, "/mindmaps/Carries0/c"))
        pictures = [a["src"] for tag, a in page.found if tag == "img"]
        (small,) = [address for address in pictures if "source=file" in address]
        assert get(running, small).content.startswith(b"\x89PNG")
        assert "source=file" not in get(running, PAGE).text


def test_lists_have_one_address_each(site: Service) -> None:
    found = links(site, "/")
    assert "/owners/many" in found
    assert any(re.fullmatch(r"/categories/\d+", link) for link in found)
    owner = get(site, "/owners/many")
    assert counted("maps", 60) in owner.text
    assert 'rel="canonical" href="/owners/many"' in get(site, "/?owner=many").text
    assert "Map number 0<" in get(site, "/owners/many?order_by=alpha").text
    assert get(site, "/owners/nobody").status_code == 200
    get(site, "/categories/none", 404)


def test_every_map_is_on_exactly_one_page(site: Service) -> None:
    seen: list[str] = []
    path = "/owners/many"
    while path:
        reading = read(get(site, path))
        seen += [a["href"] for tag, a in reading.found if tag == "a" and a.get("dir") == "auto"]
        path = next((a["href"] for _, a in reading.found if a.get("rel") == "next"), "")
    assert len(seen) == len(set(seen)) == 60


def test_pages_past_the_end_lead_back(site: Service) -> None:
    response = get(site, "/owners/many?offset=9600")
    assert "This list has only 3 pages." in response.text
    assert "/owners/many?offset=48" in [a.get("href") for _, a in read(response).found]


def test_search_results_link_to_topics(site: Service) -> None:
    response = get(site, "/?query=april")
    assert "Sow in <mark>April</mark>" in response.text
    assert f'href="{PAGE}#t=sow-in-april"' in response.text
    part = get(site, "/site/search?query=april")
    assert "Sow in <mark>April</mark>" in part.text
    assert "<html" not in part.text


def test_facets_show_counts_and_can_be_removed(site: Service) -> None:
    found = links(site, "/owners/many")
    assert any(re.fullmatch(r"/owners/many\?category=\d+", link) for link in found)
    assert "/owners/flora" in found
    assert "/" in found


def test_a_list_has_a_feed(site: Service) -> None:
    feed = ElementTree.fromstring(get(site, "/feed.atom?owner=flora").text)
    titles = [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")]
    assert sorted(filter(None, titles)) == ["A kitchen garden", "Only a title"]
    assert 'href="/feed.atom?owner=flora"' in get(site, "/owners/flora").text
    everything = ElementTree.fromstring(get(site, "/feed.atom").text)
    dates = [entry.findtext(f"{ATOM}updated") or "" for entry in everything.iter(f"{ATOM}entry")]
    assert dates == sorted(dates, reverse=True)
    for word in ("script", "img", "%7B%7B"):  # well-formed XML in spite of hostile titles
        ElementTree.fromstring(get(site, f"/feed.atom?query={word}").text)


def test_pages_are_revalidated(site: Service) -> None:
    first = get(site, PAGE)
    get(site, PAGE, 304, If_None_Match=first.headers["etag"])


def test_static_files_are_cached_for_long(site: Service) -> None:
    (sheet,) = re.findall(r'rel="stylesheet" href="([^"]+)"', get(site, PAGE).text)
    for name in (
        *(path.name for path in STATIC.iterdir()),
        "regular.ttf",
        "bold.ttf",
        "italic.ttf",
    ):
        address = sheet.replace("site.css", name)
        assert "immutable" in get(site, address).headers["cache-control"]
    assert "immutable" not in get(site, "/static/old/site.css").headers["cache-control"]
    get(site, "/static/old/none.css", 404)
    get(site, "/static/old/..%2Fpages.py", 404)


def test_the_reference_has_a_policy_almost_as_strict(site: Service) -> None:
    response = get(site, "/docs")
    headers = response.headers
    strict = get(site, "/").headers["content-security-policy"]
    ours = headers["content-security-policy"]
    assert ours.replace("img-src 'self' data: blob:", "img-src 'self'") == strict
    assert headers["x-frame-options"] == "DENY"
    assert "unsafe" not in ours
    reading = read(response)
    assert not reading.wrong
    for tag, attributes in reading.found:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        if tag == "script":
            assert attributes["src"].startswith("/static/")
    assert "/docs" in links(site, "/")


def test_two_files_of_the_viewer_are_served(site: Service) -> None:
    (sheet,) = re.findall(r'"(/static/[^"]+/swagger.css)"', get(site, "/docs").text)
    for name in ("swagger.css", "swagger.js"):
        response = get(site, sheet.replace("swagger.css", name))
        assert "immutable" in response.headers["cache-control"]
        assert len(response.content) > 100_000
    folder = sheet.rpartition("/")[0]
    for name in (
        *("scalar.js", "redoc.js", "url.json", "__init__.py", "swagger_bundle.js", "templates.py"),
        *("..%2Furl.json", "..%2F..%2Foffapi%2Furl.json", "%2e%2e", "swagger.js%00", "swagger.js/"),
    ):
        get(site, f"{folder}/{name}", 404)


BUDGET = 200_000
"""The most bytes that the library may load in total."""


def sent(site: Service, path: str) -> int:
    """Return how many bytes of a response are sent to a browser."""
    response = get(site, path, Accept_Encoding="gzip, deflate, br")
    return int(response.headers["content-length"])


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/", "/?query=water", "/?order_by=alpha&offset=24"])
def test_the_library_stays_below_its_size_limits(examples: Service, path: str) -> None:
    """The page with everything it loads, including pictures further down, in light or dark mode."""
    page = get(examples, path)
    needed = set(re.findall(r'"(/static/[^"]+)"', page.text))
    found = read(page).found
    light = {a["src"] for tag, a in found if tag == "img" and a["src"].startswith("/thumbnails/")}
    dark = {a["srcset"] for tag, a in found if tag == "source"}
    for pictures in (light, dark):
        assert pictures
        assert sum(sent(examples, one) for one in {path, *needed, *pictures}) < BUDGET


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with two copies of each sample map, so that a page of the list is full."""
    with shelf_with(tmp_path_factory.mktemp("examples")) as full:
        for number, path in enumerate(sorted((*SAMPLES, *SAMPLES))):
            outline = encode_outline(read_file(path.read_bytes(), Limits(), name=path.name))
            title = path.name.split(".")[0]
            full.put(MapDraft(id=f"Sample{number:02}", title=title, outline=outline))
        full.publish()
        with serve(full, site_routes) as running:
            assert len(running.titles(limit=50)) > 30
            yield running


def test_pages_and_static_files_are_compressed(site: Service) -> None:
    (sheet,) = re.findall(r'"(/static/[^"]+/site.css)"', get(site, "/").text)
    folder = sheet.rpartition("/")[0]
    static = [f"{folder}/{name}" for name in ("site.css", "map.js", "swagger.js", "regular.ttf")]
    for path in ("/", PAGE, "/docs", "/feed.atom", "/site/maps/Garden01.json", *static):
        plain = get(site, path, Accept_Encoding="identity")
        packed = get(site, path, Accept_Encoding="br, gzip;q=0.5")
        assert packed.content == plain.content
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < 0.7 * int(plain.headers["content-length"])
        assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
        if "etag" in plain.headers:
            assert plain.headers["etag"] != packed.headers["etag"]
            known = packed.headers["etag"]
            again = get(site, path, 304, If_None_Match=known, Accept_Encoding="gzip")
            assert "content-encoding" not in again.headers


@pytest.mark.process
def test_the_api_and_pictures_are_not_compressed(site: Service) -> None:
    for path in ("/maps?limit=50", "/openapi.json", "/thumbnails/Garden01.svg?w=1280"):
        response = site.get(path, Accept_Encoding="gzip")
        assert response.status_code == 200
        assert "content-encoding" not in response.headers


@pytest.mark.slow
def test_a_changed_map_has_a_changed_page(tmp_path: Path) -> None:
    with shelf_with(tmp_path, GARDEN) as own, serve(own, site_routes) as running:
        get(running, PAGE)
        own.put(MapDraft(id="Garden01", title="A herb garden"))
        own.publish()
        running.wait_until(lambda: "A herb garden" in running.maps().text)
        moved = get(running, PAGE, 308).headers["location"]
        assert moved == "/mindmaps/Garden01/a-herb-garden"
        assert "A herb garden" in get(running, moved).text


def test_deep_maps_have_pages(tmp_path: Path) -> None:
    root = topic("bottom")
    for level in range(255):
        root = topic(f"level {level}", root)
    deep = MapDraft(id="DeepMap1", title="Deep", outline=encoded(root))
    with shelf_with(tmp_path, deep) as own, serve(own, site_routes) as running:
        reading = read(get(running, "/mindmaps/DeepMap1/deep"))
        assert not reading.wrong
        assert "bottom" in reading.text
        (sheet,) = get(running, "/site/maps/DeepMap1.json").json()["sheets"]
        assert len(sheet["topics"]) == 256


def test_an_empty_shelf_says_so(tmp_path: Path) -> None:
    with shelf_with(tmp_path) as own, serve(own, site_routes) as running:
        assert say("empty") in get(running, "/").text
        get(running, "/feed.atom")


def test_pages_can_live_below_a_path(shelf: Shelf) -> None:
    """A proxy removes the path from requests; links on pages have it."""
    proxied = "https://example.org"
    below = replace(shelf.settings, base_url="https://example.org/maps")
    with Service(below, shelf.token(), site_routes) as running:
        response = get(running, f"{proxied}{PAGE}")
        local = [a["href"] for tag, a in read(response).found if tag == "a"]
        assert all(link.startswith(("/maps/", "#", "https://")) for link in local)
        assert f'href="https://example.org/maps{PAGE}"' in response.text
        moved = get(running, f"{proxied}/mindmaps/Garden01", 308)
        assert moved.headers["location"] == f"/maps{PAGE}"
        answer = get(running, f"{proxied}/oembed?url=https://example.org/maps{PAGE}").json()
        assert f"https://example.org/maps{PAGE}?embed=1" in answer["html"]


def test_a_service_without_pages_serves_none(shelf: Shelf) -> None:
    with serve(shelf) as running:
        for path in ("/", PAGE, "/feed.atom", "/site/search"):
            get(running, path, 404)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_style_sheet_has_the_colours_of_pictures(theme: Theme) -> None:
    css = (STATIC / "site.css").read_text()
    block = re.findall(r":root {(.*?)}", css, re.DOTALL)[theme is DARK]
    declared = dict(re.findall(r"(--[\w-]+): ([^;]+);", block))
    shared = {f"--m{number}": colour for number, colour in enumerate(theme.branches)}
    for field in fields(theme):
        if field.name not in ("name", "branches"):
            shared[IN_STYLE_SHEET[field.name]] = getattr(theme, field.name)
    assert shared == {name: declared[name] for name in shared}
    assert len(theme.branches) == sum(bool(re.fullmatch(r"--m\d+", name)) for name in declared)


@pytest.mark.slow
def test_every_text_of_the_message_catalogue_is_used() -> None:
    """Every text of the message catalogue is used, and every text on a page comes from it."""
    sources = "".join(
        path.read_text() for path in STATIC.parent.rglob("*") if path.suffix in (".html", ".py")
    )
    for key in ENGLISH:
        stem = re.sub(r"\.(one|other)$", "", key)
        family = key.split(".")[0]
        used = f'"{stem}"' in sources or f'"{family}.' in sources or f"texts.{key}" in sources
        assert used, key
