"""``GET /maps/{ID}/links``, and the target maps of links in ``outline.json``."""

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from mapshelf.api import map_links as map_links_module
from mapshelf.model import MapDraft, Source
from tests.api import openapi
from tests.conftest import Serving
from tests.examples import examples
from tests.harness import Service, Shelf, serve, shelf_with
from tests.linked import linking, place


def links(service: Service, public_id: str) -> dict[str, list[dict[str, str]]]:
    response = service.get(f"/maps/{public_id}/links")
    openapi.check(response)
    assert response.status_code == 200
    found: dict[str, list[dict[str, str]]] = response.json()
    return found


def leads(service: Service, public_id: str) -> dict[str, str]:
    """Return the target of each link of a map."""
    return {link["target"]: link["map"] for link in links(service, public_id)["out"]}


def from_where(service: Service, public_id: str) -> list[str]:
    return [link["map"] for link in links(service, public_id)["in"]]


def in_outline(service: Service, public_id: str) -> list[dict[str, str]]:
    outline: dict[str, Any] = service.get(f"/maps/{public_id}/outline.json").json()
    found: list[dict[str, str]] = outline["sheets"][0]["root"]["children"][0]["links"]
    return found


def test_links_are_given_in_both_directions(serving: Serving) -> None:
    service = serving(
        linking("A", "/m/a.mm", "b.mm#ID_7", "gone.mm", "https://example.org", "x.pdf", "#r"),
        linking("B", "/m/b.mm", "a.mm", "sub/c.mm", "b.mm"),
        linking("C", "/m/sub/c.mm", "../b.mm"),
        MapDraft(id="D", title="from a record"),
    )
    assert links(service, "A") == {
        "out": [
            {"topic": "t", "target": "b.mm#ID_7", "map": "B"},
            {"topic": "t", "target": "gone.mm", "map": ""},
        ],
        "in": [{"map": "B", "topic": "t"}],
    }
    assert leads(service, "B") == {"a.mm": "A", "sub/c.mm": "C", "b.mm": "B"}
    assert from_where(service, "B") == ["A", "B", "C"]
    assert links(service, "D") == {"out": [], "in": []}
    assert in_outline(service, "A") == [
        {"target": "b.mm#ID_7", "kind": "map", "map": "B"},
        {"target": "gone.mm", "kind": "map", "map": ""},
        {"target": "https://example.org", "kind": "web", "map": ""},
        {"target": "x.pdf", "kind": "file", "map": ""},
        {"target": "#r", "kind": "topic", "map": ""},
    ]


def test_a_link_means_its_path_or_else_the_only_file_of_that_name(serving: Serving) -> None:
    service = serving(
        linking(
            "A", "/m/x/a.mm",
            "b.mm", "../b.mm", "B.MM", "/m/b.mm", "file:///m/b.mm", "file://host/m/x/b.mm",
            "C:\\Users\\Ann\\c%20d.xmind", "other/e.mm", "/e.mm", "%C3%BC.mm", "u%CC%88.mm",
        ),
        linking("B", "/m/x/b.mm"),
        linking("B2", "/m/b.mm"),
        linking("C", "/elsewhere/C d.xmind"),
        linking("E", "/1/e.mm"),
        linking("E2", "/2/e.mm"),
        linking("U", "/umlaut/u\u0308.mm"),
    )  # fmt: skip
    expected = {
        "b.mm": "B", "../b.mm": "B2", "B.MM": "B", "/m/b.mm": "B2", "file:///m/b.mm": "B2",
        "file://host/m/x/b.mm": "B", "C:\\Users\\Ann\\c%20d.xmind": "C", "other/e.mm": "",
        "/e.mm": "", "%C3%BC.mm": "U", "u%CC%88.mm": "U",
    }  # fmt: skip
    assert leads(service, "A") == expected
    for public_id in ("B", "B2", "C", "E", "E2", "U"):
        count = list(expected.values()).count(public_id)
        assert from_where(service, public_id) == ["A"] * count


def test_a_text_file_is_a_map_only_if_it_is_in_the_catalogue(serving: Serving) -> None:
    service = serving(linking("A", "/m/a.mm", "readme.md", "plan.md"), linking("P", "/m/plan.md"))
    assert leads(service, "A") == {"plan.md": "P"}
    assert [(one["kind"], one["map"]) for one in in_outline(service, "A")] == [
        ("file", ""),
        ("map", "P"),
    ]


HOSTILE = (
    "../../../../../../b.mm",
    "../" * 1300 + "etc/passwd.mm",
    "x/" * 2040 + "long.mm",
    "%2e%2e%2f%2e%2e%2fpasswd.mm",
    "%00b.mm",
    "b.mm%00",
    "\x00/none.mm",
    "%zz%%.mm",
    "%FF%FE.mm",
    "javascript:alert(1)//b.mm",
    "JaVaScRiPt:/m/b.mm",
    "data:,b.mm",
    "file://[broken/c.mm",
    "'; DROP TABLE links; --.mm",
    "%25.mm",
    "_.mm",
    "\u202emm.b.mm",
    ".mm",
    "..mm",
    "/.mm/..",
)


def test_hostile_links_lead_nowhere(serving: Serving) -> None:
    drafts = [
        linking("A", "/m/a.mm", *HOSTILE),
        *(linking(f"O{n}", f"/{folder}/other.mm") for n, folder in enumerate("ab")),
        linking("B", "/m/b.mm"),
        linking("B2", "/n/b.mm"),
    ]
    service = serving(*drafts)
    found = leads(service, "A")
    assert set(found.values()) == {""}
    assert not any(link.lower().startswith(("javascript", "data")) for link in found)
    assert from_where(service, "B") == from_where(service, "B2") == []
    assert {one["map"] for one in in_outline(service, "A")} == {""}


@pytest.mark.slow
def test_links_follow_maps_that_come_move_and_go(shelf: Shelf, live: Service) -> None:
    shelf.put(linking("A", "/m/a.mm", "b.mm"))
    shelf.publish()
    live.wait_until(lambda: live.get("/maps/A").status_code == 200)
    assert leads(live, "A") == {"b.mm": ""}
    shelf.put(linking("B", "/m/b.mm"))
    assert leads(live, "A") == {"b.mm": ""}, "the target is in no snapshot yet"
    shelf.publish()
    live.wait_until(lambda: leads(live, "A") == {"b.mm": "B"})
    assert in_outline(live, "A")[0]["map"] == "B"
    assert from_where(live, "B") == ["A"]
    known = live.get("/maps/A/links").headers["ETag"]
    shelf.store.move_source(b"/m/b.mm", place("/m/c.mm"))
    shelf.publish()
    live.wait_until(lambda: leads(live, "A") == {"b.mm": ""})
    assert live.get("/maps/A/links", If_None_Match=known).status_code == 200
    assert from_where(live, "B") == []
    shelf.store.move_source(b"/m/c.mm", place("/other/b.mm"))
    shelf.publish()
    live.wait_until(lambda: leads(live, "A") == {"b.mm": "B"})
    shelf.put(linking("B2", "/third/b.mm"))
    shelf.publish()
    live.wait_until(lambda: leads(live, "A") == {"b.mm": ""})
    shelf.store.delete_maps(["B2"])
    shelf.publish()
    live.wait_until(lambda: leads(live, "A") == {"b.mm": "B"})
    shelf.put(linking("A", "/m/a.mm", "c.mm"))
    shelf.publish()
    live.wait_until(lambda: from_where(live, "B") == [])
    shelf.store.delete_maps(["B"])
    shelf.publish()
    live.wait_until(lambda: live.get("/maps/B/links").status_code == 404)


@pytest.mark.slow
def test_links_of_a_large_map_follow_changes_too(shelf: Shelf, live: Service) -> None:
    shelf.put(linking("A", "/m/a.mm", "b.mm", more=3000))
    shelf.publish()
    live.wait_until(lambda: live.get("/maps/A").status_code == 200)
    assert in_outline(live, "A")[0]["map"] == ""
    shelf.put(linking("B", "/m/b.mm"))
    shelf.publish()
    live.wait_until(lambda: in_outline(live, "A")[0]["map"] == "B")


@pytest.mark.parametrize("path", ["/maps/A/links"])
def test_permissions_and_caching_are_those_of_the_map(serving: Serving, path: str) -> None:
    service = serving(linking("A", "/m/a.mm", "b.mm"))
    response = service.get(path)
    for name in ("Cache-Control", "Vary", "Access-Control-Allow-Origin"):
        assert response.headers[name] == service.get("/maps/A").headers[name]
    known = service.get(path, If_None_Match=response.headers["ETag"])
    assert (known.status_code, known.content) == (304, b"")
    head = service.request("HEAD", path)
    assert (head.content, head.headers["ETag"]) == (b"", response.headers["ETag"])
    assert service.request("GET", path, signed=False).status_code == 401
    assert service.request("POST", path, signed=False).status_code == 405
    assert service.get("/maps/none/links").status_code == 404
    assert service.get("/maps/none/links").json()["error"] == "not_found"
    assert service.get(f"{path}/").status_code == 404


def test_files_of_the_same_name_are_distinguished_by_path(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_links_module, "MOST_ALIKE", 3)
    service = serving(
        *(linking(f"I{n}", f"/m/{n}/index.mm", f"../{(n + 1) % 9}/index.mm") for n in range(9)),
        linking("A", "/m/a.mm", "index.mm", "7/index.mm", "7/INDEX.mm"),
    )
    for n in range(9):
        assert leads(service, f"I{n}") == {f"../{(n + 1) % 9}/index.mm": f"I{(n + 1) % 9}"}
        assert f"I{n - 1 if n else 8}" in from_where(service, f"I{n}")
    assert leads(service, "A")["7/index.mm"] == "I7"
    assert leads(service, "A")["index.mm"] == ""
    assert "A" in from_where(service, "I7")


@pytest.mark.slow
def test_a_map_read_from_two_places_is_found_from_both(serving: Serving) -> None:
    service = serving(
        linking("A", "/1/a.mm", "b.mm"),
        MapDraft(id="A", source=Source(b"/2/a.mm", "a.mm", 1, 1, b"2")),
        linking("B", "/2/b.mm"),
        linking("B3", "/3/b.mm"),
    )
    assert leads(service, "A") == {"b.mm": "B"}
    assert from_where(service, "B") == ["A"]


@pytest.mark.slow
def test_the_most_links_take_little_time(tmp_path: Path) -> None:
    """Ten thousand links, all to a file name that very many maps have."""
    wanted, often = [f"{n}/index.mm" for n in range(10_000)], examples(5_000)
    drafts = [linking(f"I{n}", f"/m/{n}/index.mm", "../a.mm") for n in range(often)]
    drafts.append(linking("A", "/m/a.mm", *wanted))
    with shelf_with(tmp_path, *drafts) as shelf, serve(shelf) as service:
        tracemalloc.start()
        # Checking so many links against the schema takes ten times as long as the request.
        response = service.get("/maps/A/links")
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
        tracemalloc.stop()
        found = response.json()
        assert sum(bool(link["map"]) for link in found["out"]) == often
        assert len(found["in"]) == often
        assert from_where(service, "I4") == ["A"]
