"""Formulas on the pages of small and large maps, with valid and hostile LaTeX."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mapshelf.model import MapDraft, Topic
from mapshelf.render import formula_worker
from mapshelf.render.formula_markup import ELEMENTS
from mapshelf.render.formulas import drawings, is_drawable
from mapshelf.sandbox.pool import ConfinedChild
from mapshelf.site import site_routes
from tests.harness import Service, serve, shelf_with
from tests.render.test_formulas import DRAWN, HOSTILE, WRITTEN
from tests.site.shelves import encoded
from tests.site.test_pages import get, read

pytestmark = pytest.mark.process

IDS = ("Small001", "Large001")
STORED = [one for one in (*DRAWN, *HOSTILE.values()) if one.isprintable()]


def draft(public_id: str, filling: int) -> MapDraft:
    """Return a map with ordinary and hostile formulas, and that number of other topics."""
    topics = [Topic("", f"f{at}", formula=one) for at, one in enumerate(STORED)]
    topics += [Topic(f"Filling {number}", f"t{number}") for number in range(filling)]
    root = Topic("Mathematics", "r", children=topics)
    return MapDraft(id=public_id, title="Mathematics", owner="emmy", outline=encoded(root))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    drafts = (draft(IDS[0], 0), draft(IDS[1], 2000))
    with (
        shelf_with(tmp_path_factory.mktemp("formulas"), *drafts) as shelf,
        serve(shelf, site_routes) as running,
    ):
        yield running


@pytest.mark.parametrize("public_id", IDS)
def test_formulas_are_on_the_page_of_a_map(site: Service, public_id: str) -> None:
    page = read(get(site, f"/mindmaps/{public_id}/mathematics"))
    assert not page.wrong
    written = [names["alttext"] for tag, names in page.found if tag == "math"]
    assert set(WRITTEN) <= set(written)
    ordinary = {"math", *(tag for tag, _ in read(get(site, "/")).found)}
    assert {tag for tag, _ in page.found if tag[0] == "m"} <= ELEMENTS | ordinary | {"main", "meta"}
    for tag, names in page.found:
        if tag in ELEMENTS:
            assert not {"href", "style", "class", "id"} & names.keys()
    scripts = [names for tag, names in page.found if tag == "script"]
    assert len(scripts) <= 3
    assert "alert(1)" in page.text


@pytest.mark.parametrize("public_id", IDS)
def test_formulas_are_in_the_data_of_a_map(site: Service, public_id: str) -> None:
    data = get(site, f"/site/maps/{public_id}.json").json()
    wanted = drawings(filter(is_drawable, STORED))
    assert {one: path for one, (path, _) in data["formulas"].items()} == {
        one: drawing.path for one, drawing in wanted.items()
    }
    topics = data["sheets"][0]["topics"]
    pieces = [piece for *_, more in topics[1 : len(DRAWN) + 1] for piece in more["p"]]
    assert [(kind, name) for kind, name, *_ in pieces] == [("formula", one) for one in DRAWN]


def test_a_page_without_its_formulas_is_not_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formula_worker, "TRIED_AGAIN_AFTER", 0.0)
    page, data = f"/mindmaps/{IDS[0]}/mathematics", f"/site/maps/{IDS[0]}.json"
    root = Topic("Mathematics", "r", children=[Topic("", "f", formula="x^2")])
    few = MapDraft(id=IDS[0], title="Mathematics", outline=encoded(root))
    with shelf_with(tmp_path, few) as shelf, serve(shelf, site_routes) as running:
        with monkeypatch.context() as patched:
            patched.setattr(ConfinedChild, "call", too_slow)
            first = [get(running, path) for path in (page, data)]
        later = [get(running, path) for path in (page, data)]
    assert "<math" not in first[0].text
    assert not first[1].json()["formulas"]
    assert {one.headers["Cache-Control"] for one in first} == {"no-store"}
    assert "<math" in later[0].text
    assert later[1].json()["formulas"]
    assert "no-store" not in {one.headers["Cache-Control"] for one in later}


def too_slow(*_: object) -> bytes:
    raise TimeoutError
