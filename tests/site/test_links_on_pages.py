"""Links from topics to other maps, and the list of maps that link to a map."""

import html
import re
from collections.abc import Iterator

import pytest

from mapshelf.model import MapDraft
from mapshelf.site import site_routes
from mapshelf.site.messages import counted, say
from tests.harness import Service, Shelf, serve
from tests.linked import linking, place
from tests.site.shelves import LINKS

OWN = "/mindmaps/A/map-a"


@pytest.fixture
def site(shelf: Shelf) -> Iterator[Service]:
    shelf.put(linking("A", "/m/a.mm", "b.mm#ID_7", "#r"))
    shelf.publish()
    with serve(shelf, site_routes) as running:
        yield running


def page(site: Service, path: str = OWN) -> str:
    response = site.request("GET", path, signed=False)
    assert response.status_code == 200, path
    return response.text


def outgoing(site: Service, path: str = OWN) -> list[tuple[str, str]]:
    """Return address and text of each link in a topic."""
    (listed,) = re.findall('<ul class="more links"[^>]*>(.*?)</ul>', page(site, path))
    found = re.findall('<a href="([^"]*)"[^>]*>(.*?)</a>', listed)
    return [(html.unescape(address), html.unescape(text)) for address, text in found]


def linked_from(site: Service, path: str) -> list[tuple[str, str]]:
    found = re.search('<section class="panel" aria-labelledby="linked">(.*?)</section>', page(
        site, path), re.DOTALL)  # fmt: skip
    if not found:
        return []
    assert say("map.linked") in found[1]
    return re.findall('<a href="([^"]*)" dir="auto">(.*?)</a>', found[1])


@pytest.mark.slow
def test_links_lead_to_the_pages_of_maps_under_their_titles(site: Service, shelf: Shelf) -> None:
    assert outgoing(site) == [("#t=r", "root")]
    shelf.put(linking("B", "/m/b.mm", "a.mm", title="Béa & <b>"))
    shelf.publish()
    site.wait_until(lambda: len(outgoing(site)) == 2)
    (address, text), _ = outgoing(site)
    assert text == "Béa & <b>"
    assert address.endswith("#t=ID_7")
    path = address.partition("#")[0]
    assert 'title="b.mm#ID_7"' in page(site)
    assert linked_from(site, path) == [(f"{OWN}#t=t", "Map A")]
    assert linked_from(site, OWN) == [(f"{path}#t=t", "Béa &amp; &lt;b&gt;")]


@pytest.mark.slow
def test_no_page_has_a_dead_link(site: Service, shelf: Shelf) -> None:
    """Pages follow what happens to the other map: they are built again for each snapshot."""
    dead = [("#t=r", "root")]
    shelf.put(linking("B", "/m/b.mm"))
    assert outgoing(site) == dead, "the link target has no page yet"
    shelf.publish()
    site.wait_until(lambda: outgoing(site)[0][0] == "/mindmaps/B/map-b#t=ID_7")
    shelf.put(linking("B", "/m/b.mm", title="Other name"))
    shelf.publish()
    site.wait_until(lambda: outgoing(site)[0] == ("/mindmaps/B/other-name#t=ID_7", "Other name"))
    shelf.store.move_source(b"/m/b.mm", place("/m/c.mm"))
    shelf.publish()
    site.wait_until(lambda: outgoing(site) == dead)
    shelf.store.move_source(b"/m/c.mm", place("/m/b.mm"))
    shelf.publish()
    site.wait_until(lambda: len(outgoing(site)) == 2)
    shelf.store.delete_maps(["B"])
    assert site.request("GET", "/mindmaps/B/other-name", signed=False).status_code == 404, "at once"
    shelf.publish()
    site.wait_until(lambda: outgoing(site) == dead)
    assert site.request("GET", "/mindmaps/B", signed=False).status_code == 404


@pytest.mark.slow
def test_the_list_of_linking_maps_is_updated(site: Service, shelf: Shelf) -> None:
    assert linked_from(site, OWN) == []
    assert say("map.linked") not in page(site)
    shelf.put(linking("A", "/m/a.mm", "a.mm"), linking("B", "/m/b.mm", "a.mm", "a.mm#r"))
    shelf.publish()
    expected = [("/mindmaps/B/map-b#t=t", "Map B")]
    site.wait_until(lambda: linked_from(site, OWN) == expected)
    shelf.put(linking("B", "/m/b.mm"))
    shelf.publish()
    site.wait_until(lambda: linked_from(site, OWN) == [])


@pytest.mark.slow
def test_only_some_of_many_linking_maps_are_shown(site: Service, shelf: Shelf) -> None:
    shelf.put(*(linking(f"M{n:02}", f"/m/{n}.mm", "a.mm") for n in range(21)))
    shelf.publish()
    site.wait_until(lambda: len(linked_from(site, OWN)) == 20)
    assert linked_from(site, OWN)[19] == ("/mindmaps/M19/map-m19#t=t", "Map M19")
    assert counted("map.linked.more", 1) in page(site)
    shelf.put(linking("N", "/m/n.mm", "a.mm"))
    shelf.publish()
    site.wait_until(lambda: counted("map.linked.more", 2) in page(site))


@pytest.mark.slow
def test_links_on_pages_of_large_maps_are_updated(site: Service, shelf: Shelf) -> None:
    shelf.put(linking("A", "/m/a.mm", "b.mm", more=3000))
    shelf.publish()
    site.wait_until(lambda: "m2999" in page(site))
    shelf.put(linking("B", "/m/b.mm", "a.mm"))
    shelf.publish()
    site.wait_until(lambda: linked_from(site, OWN) == [("/mindmaps/B/map-b#t=t", "Map B")])
    assert outgoing(site) == [("/mindmaps/B/map-b", "Map B")]


@pytest.mark.slow
def test_links_of_an_embedded_map_open_a_new_tab(site: Service, shelf: Shelf) -> None:
    """Pages without ``embed`` refuse to be framed."""
    shelf.put(linking("B", "/m/b.mm"))
    shelf.publish()
    site.wait_until(lambda: len(outgoing(site)) == 2)
    assert 'ID_7" target="_blank"' not in page(site).replace('title="b.mm#', "")
    (link,) = re.findall("<a [^>]*>Map B</a>", page(site, f"{OWN}?embed=1"))
    assert 'target="_blank" rel="noopener"' in link


@pytest.mark.slow
def test_hostile_links_and_titles_stay_text(site: Service, shelf: Shelf) -> None:
    strike = '"><script>window.struck=1</script>.mm'
    shelf.put(
        linking("A", "/m/a.mm", *LINKS, strike, "b.mm#\"'><script>window.struck=1</script>"),
        linking("B", "/m/b.mm", "a.mm", title="<script>window.struck=1</script>"),
        linking("S", f"/m/{strike}"),
    )
    shelf.publish()
    site.wait_until(lambda: len(outgoing(site)) >= 2)
    for path in (OWN, f"{OWN}?embed=1"):
        text = page(site, path)
        assert "<script>window" not in text
        assert not re.findall('href="(?!https?:|/|#)[^"]*"', text)


@pytest.mark.parametrize("owner", ["a/b", "/", "..", "ann", "a b&c"])
def test_each_owner_has_a_page(site: Service, shelf: Shelf, owner: str) -> None:
    shelf.put(MapDraft(id="owned", title="Owned", owner=owner))
    shelf.publish()
    site.wait_until(lambda: ">Owned<" in page(site, "/"))
    (address,) = re.findall(
        rf'<a [^>]*href="([^"]*)"[^>]*>{html.escape(owner)}</a>',
        page(site, "/mindmaps/owned/owned"),
    )
    assert ">Owned<" in page(site, html.unescape(address))
