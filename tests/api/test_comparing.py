"""``GET /maps/{ID}/diff/{OTHER}`` compares two maps, or two versions of one."""

from collections.abc import Iterator
from typing import Any

import pytest

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Outline, Topic, sheets_of
from mapshelf.site import site_routes
from tests.api import openapi
from tests.api.publishing import ADMINISTRATOR, OTHER, OWNER, People, plan
from tests.harness import Service, Shelf, full_queue, shelf_with

pytestmark = pytest.mark.process

SAME: dict[str, list[Any]] = {"added": [], "removed": [], "moved": [], "changed": []}


def map_of(public_id: str, *topics: Topic, more: int = 0) -> MapDraft:
    below = [*topics, *(Topic(f"{'x' * 90} {number}") for number in range(more))]
    outline = Outline(sheets_of((Topic("Plan", "plan", children=below),)))
    return MapDraft(id=public_id, title=f"Map {public_id}", outline=encode_outline(outline))


BEFORE = map_of("Before01", Topic("Dates", "dates", note="soon"), Topic("Budget", "budget"))
AFTER = map_of(
    "After001",
    Topic("Money", "money", children=[Topic("Budget", "budget")]),
    Topic("Dates \x00and places", "dates", tags=("new",)),
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    drafts = (
        BEFORE,
        AFTER,
        map_of("Large001", Topic("one"), more=400),
        map_of("Large002", Topic("two"), more=400),
        MapDraft(id="Bare0001", title="from a record"),
    )
    with shelf_with(tmp_path_factory.mktemp("comparing"), *drafts) as shelf:
        yield shelf


@pytest.fixture(scope="module")
def people(shelf: Shelf) -> Iterator[People]:
    with Service(shelf.settings, "", site_routes) as service:
        yield People(shelf, service)


def diff(people: People, path: str, name: str = OWNER) -> dict[str, Any]:
    answer = people.get(name, f"/maps/{path}")
    openapi.check(answer)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_differences_are_named_with_their_places(people: People) -> None:
    assert diff(people, "Before01/diff/After001") == {
        "added": [{"text": "Money", "topic": "money", "path": ["Plan"], "place": 1, "topics": 1}],
        "removed": [],
        "moved": [
            {
                "topic": "budget",
                "text": "Budget",
                "before": {"topic": "budget", "path": ["Plan"], "place": 2},
                "after": {"topic": "budget", "path": ["Plan", "Money"], "place": 1},
            }
        ],
        "changed": [
            {
                "topic": "dates",
                "path": ["Plan"],
                "place": 2,
                "before": {"topic": "dates", "text": "Dates", "note": "soon", "tags": []},
                "after": {
                    "topic": "dates",
                    "text": "Dates and places",
                    "note": "",
                    "tags": ["new"],
                },
            }
        ],
    }
    assert diff(people, "Before01/diff/Before01") == SAME
    back = diff(people, "After001/diff/Before01")
    assert [one["text"] for one in back["removed"]] == ["Money"]


def test_large_maps_are_compared_in_the_child_process(people: People) -> None:
    found = diff(people, "Large001/diff/Large002")
    assert [one["text"] for one in found["added"]] == ["two"]
    assert [one["text"] for one in found["removed"]] == ["one"]
    answer = people.get(OWNER, "/maps/Large001/diff/Large002")
    headers = {"If-None-Match": answer.headers["ETag"]}
    again = people.send(OWNER, "GET", "/maps/Large001/diff/Large002", headers=headers)
    assert again.status_code == 304


def test_pages_of_large_maps_do_not_wait_for_comparisons(people: People) -> None:
    """Anybody may request comparisons, and there are as many as pairs of maps."""
    with full_queue(people.service, "comparisons"):
        assert people.get(OWNER, "/maps/Large002/diff/Large001").status_code == 503
        assert people.get("", "/mindmaps/Large002/map-large002").status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("Before01/diff/None0000", 404),
        ("None0000/diff/Before01", 404),
        ("Before01/diff/Bare0001", 404),
        ("Before01/diff/x%2Fy", 404),
        ("Before01/diff/%25", 404),
        ("Before01/diff/After001?version=1", 404),
        ("Before01/diff/After001?other_version=" + "9" * 5000, 404),
        ("Before01/diff/After001?version=0", 400),
        ("Before01/diff/After001?version=\u00b2", 400),
        ("Before01/diff/After001?version=1&version=2", 400),
    ],
)
def test_missing_maps_and_bad_parameters_are_errors(people: People, path: str, status: int) -> None:
    answer = people.send(ADMINISTRATOR, "GET", f"/maps/{path}", headers={"Accept": "text/html"})
    if "%2F" not in path:  # not a path of the API
        openapi.check(answer)
    assert answer.status_code == status


def test_versions_are_compared_by_those_who_may_list_them(people: People) -> None:
    own = people.published(OWNER, plan("a", "b"))
    replaced = people.send(
        OWNER, "PUT", f"/maps/{own}/file", files={"map": ("plan.mm", plan("a", "b", "c"))}
    )
    assert replaced.status_code == 200
    path = f"{own}/diff/{own}?version=1"
    for name in (OWNER, ADMINISTRATOR):
        assert [one["text"] for one in diff(people, path, name)["added"]] == ["c"]
    found = diff(people, f"{own}/diff/{own}?version=2&other_version=0000000001")
    assert [one["text"] for one in found["removed"]] == ["c"]
    assert people.get(OTHER, f"/maps/{path}").status_code == 404
    answer = people.get(OWNER, f"/maps/{path}")
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert people.get(OWNER, f"/maps/{own}/diff/{own}?version=3").status_code == 404


def test_the_reader_must_be_allowed_to_see_both_maps(people: People) -> None:
    private = people.published(OWNER, plan("secret"), visibility="private")
    unlisted = people.published(OWNER, plan("hidden"), visibility="unlisted")
    for path in (f"{private}/diff/{unlisted}", f"{unlisted}/diff/{private}"):
        answer = people.get(OWNER, f"/maps/{path}")
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "private, no-store")
        assert people.get(OTHER, f"/maps/{path}").status_code == 404
    answer = people.get(OTHER, f"/maps/Before01/diff/{unlisted}")
    assert (answer.status_code, answer.headers["X-Robots-Tag"]) == (200, "noindex")
    page = f"/mindmaps/Before01/any/compare/{private}"
    assert people.get("", page).status_code == 404
    assert people.get("", f"{page}.svg").status_code == 404


def test_the_page_lists_differences_and_the_drawing_marks_them(people: People) -> None:
    page = people.get("", "/mindmaps/Before01/map-before01/compare/After001")
    assert page.status_code == 200
    for words in ("1 branch added", "1 topic moved", "1 topic changed", "<del", "Dates and places"):
        assert words in page.text
    assert "removed</h2>" not in page.text
    assert 'href="/mindmaps/After001/map-after001#t=money"' in page.text
    address = "/mindmaps/Before01/map-before01/compare/After001.svg"
    assert address in page.text
    drawing = people.get("", f"{address}?theme=dark")
    assert drawing.headers["Content-Type"] == "image/svg+xml"
    for words in ("+ Money", "\u2192 Budget", "\u2248 Dates and places"):
        assert words in drawing.text
    back = people.get("", "/mindmaps/After001/map-after001/compare/Before01.svg")
    assert "\u2212 Money" in back.text
    assert people.get("", f"{address}?theme=pink").status_code == 400
    large = people.get("", "/mindmaps/Large001/map-large001/compare/Large002")
    assert "1 branch added" in large.text
    same = people.get("", "/mindmaps/Large001/map-large001/compare/Large001")
    assert "Both have the same topics." in same.text
