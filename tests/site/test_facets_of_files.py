"""Facets and cards of the library, for maps imported from files in folders."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from mapshelf.site import site_routes
from tests.cli.process import Mapshelf
from tests.harness import Service, Shelf, shelf_with

pytestmark = pytest.mark.process

NODE = '<node TEXT="{text}">{inner}</node>'
NOTE = '<richcontent TYPE="NOTE"><html><body><p>remember</p></body></html></richcontent>'


def freemind(title: str, inner: str = "", topics: int = 1) -> str:
    others = "".join(NODE.format(text=f"topic {number}", inner="") for number in range(topics))
    return f'<map version="1.0.1">{NODE.format(text=title, inner=inner + others)}</map>'


def markdown(title: str, front: str) -> str:
    return f"---\n{front}\nmarkmap: {{}}\n---\n# {title}\n\n- leaf\n"


FILES = {
    "Garden/Herbs/mint.md": markdown("Mint", "tags: [Tea, Kitchen garden]"),
    "Garden/Herbs/sage.md": markdown("Sage", "keywords: tea, healing"),
    "Garden/Trees/plum.md": markdown("Plum", "tags:\n  - Kitchen garden\n  - jam"),
    "Garden/plain.md": markdown("Plain", "title: Plain"),
    "Work/plan.mm": freemind("Plan", NOTE, topics=40),
    "Work/Old/plan.mm": freemind("Plan", topics=2),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder, maps = tmp_path_factory.mktemp("facets"), tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        path = maps / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with shelf_with(folder) as shelf:
        imported(shelf, maps)
        with Service(shelf.settings, "", site_routes) as service:
            yield service


def imported(shelf: Shelf, maps: Path) -> None:
    Mapshelf(shelf.settings.data, shelf.settings.database).run("import", maps)
    shelf.publish()


def page(site: Service, path: str) -> str:
    answer = site.request("GET", path, signed=False)
    assert answer.status_code == 200, (path, answer.text[:300])
    return unescape(answer.text)


def facet(site: Service, path: str, title: str) -> dict[str, tuple[int, str]]:
    """Return the values of a facet, each with its number of maps and its link."""
    sections = page(site, path).split('<section class="facet">')[1:]
    (section,) = (one for one in sections if f"<h2>{title}</h2>" in one)
    found = re.findall(
        r'<a href="([^"]*)"[^>]*><bdi>([^<]*)</bdi> <span class="count">(\d+)<', section
    )
    return {name: (int(count), address) for address, name, count in found}


def titles(site: Service, path: str) -> list[str]:
    return re.findall(r'<h2 class="name"><a [^>]*>([^<]*)</a>', page(site, path))


def test_tags_of_front_matter_are_a_facet_that_leads_to_their_maps(site: Service) -> None:
    tags = facet(site, "/?order_by=alpha", "Tags")
    assert {name.casefold(): count for name, (count, _) in tags.items()} == {
        "tea": 2,
        "kitchen garden": 2,
        "healing": 1,
        "jam": 1,
    }
    found = {name.casefold(): address for name, (_, address) in tags.items()}
    assert titles(site, found["tea"]) == ["Mint", "Sage"]
    assert titles(site, found["kitchen garden"]) == ["Mint", "Plum"]
    assert site.request("GET", "/browse/tags", signed=False).text.count('class="chip"') == 4
    shown = page(site, re.findall(r'href="(/mindmaps/[^"]*/mint)"', page(site, "/"))[0])
    assert '<a class="chip" href="/?tag=Kitchen+garden"><bdi>Kitchen garden</bdi></a>' in shown


def test_each_facet_counts_and_leads_to_as_many_maps(site: Service) -> None:
    seen = 0
    for title in ("Folders", "Tags", "Size", "Notes", "Made with"):
        for name, (count, address) in facet(site, "/?versions=all", title).items():
            assert len(titles(site, address)) == count, (title, name)
            seen += 1
    assert seen == 11


def test_folders_lead_to_subfolders_and_back(site: Service) -> None:
    top = facet(site, "/", "Folders")
    assert {name: count for name, (count, _) in top.items()} == {"Garden": 4, "Work": 2}
    garden = top["Garden"][1]
    below = facet(site, garden, "Folders")
    assert {name: count for name, (count, _) in below.items()} == {"Herbs": 2, "Trees": 1}
    herbs = below["Herbs"][1]
    shown = page(site, herbs)
    assert "In this folder and below" in shown
    steps = shown.split('<ol class="steps">')[1].split("</ol>")[0]
    assert re.findall(r'<a href="([^"]*)"', steps) == ["/", garden, herbs]
    assert sorted(titles(site, herbs)) == ["Mint", "Sage"]


def test_filters_are_listed_and_can_be_removed(site: Service) -> None:
    shown = page(site, "/?tag=tea&folder=Garden/Herbs&with_notes=false")
    removals = dict(re.findall(r'<a class="chip on" href="([^"]*)" aria-label="([^"]*)"', shown))
    assert set(removals.values()) == {"Remove the filter Garden/Herbs", "Remove the filter Tea"}
    assert "/?folder=Garden%2FHerbs&with_notes=false" in removals


def places(site: Service, path: str) -> list[str]:
    return sorted(re.findall(r'<p class="place" dir="auto">(.*)</p>', page(site, path)))


def test_cards_show_how_maps_differ(site: Service) -> None:
    cards = page(site, "/?order_by=alpha").split('<article class="card">')[1:]
    of = {re.findall(r'<h2 class="name"><a [^>]*>([^<]*)</a>', card)[0]: card for card in cards}
    assert places(site, "/?order_by=alpha") == ["Work/<wbr>Old/<wbr>plan.mm", "Work/<wbr>plan.mm"]
    assert places(site, "/?folder=Work") == ["Old/<wbr>plan.mm", "plan.mm"], "not relative"
    assert '<a href="/?folder=Garden%2FHerbs"><bdi>Garden/<wbr>Herbs</bdi></a>' in of["Mint"]
    assert '<a href="/?folder=Garden%2FHerbs"><bdi>Herbs</bdi></a>' in page(site, "/?folder=Garden")
    assert "<bdi>Herbs</bdi></a></span>" not in page(site, "/?folder=Garden/Herbs")
    assert "place" not in of["Mint"], "the card repeats its title"
    assert "system" not in of["Mint"]
    assert "Uncategorised" not in of["Mint"]


@pytest.mark.slow
def test_a_missing_owner_or_category_is_not_shown(site: Service) -> None:
    (mint,) = set(re.findall(r'href="([^"]*/mint)"', page(site, "/")))
    for path in ("/", "/?view=table", "/?query=mint", mint):
        shown = page(site, path)
        assert "Mint" in shown
        assert not re.search(r"\b(system|Uncategorised)\b", shown), path


def test_sizes_are_shown_as_ranges_of_topics(site: Service) -> None:
    assert {name: count for name, (count, _) in facet(site, "/?versions=all", "Size").items()} == {
        "Up to 30 topics": 5,
        "31 to 100 topics": 1,
    }


def test_a_list_with_several_filters_is_not_called_all_maps(site: Service) -> None:
    assert '<h1 dir="auto">All maps</h1>' in page(site, "/")
    assert '<h1 dir="auto">Work</h1>' in page(site, "/?folder=Work")
    assert '<h1 dir="auto">Filtered maps</h1>' in page(site, "/?folder=Work&size=medium")
