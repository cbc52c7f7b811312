"""Collections over HTTP: who may change them, and which maps each user sees in them."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from mapshelf.model import MOST_COLLECTED, DecisionKind, MapDraft
from tests.api.openapi import check
from tests.api.publishing import ADMINISTRATOR, OTHER, OWNER, People
from tests.harness import Service, Shelf, copied_shelf, outline_of

PRIVATE = "private, no-store"
TITLES = "abcde"
DRAFTS = [
    MapDraft(id=f"map{name}", title=name, owner="zoe", outline=outline_of(name, "topic"))
    for name in TITLES
]


@pytest.fixture
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with copied_shelf(tmp_path_factory.mktemp("collections"), *DRAFTS) as shelf:
        yield shelf


@pytest.fixture
def people(shelf: Shelf) -> Iterator[People]:
    with Service(shelf.settings, "") as service:
        yield People(shelf, service)


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    """Users of a shared catalogue whose requests must all be refused."""
    with (
        copied_shelf(tmp_path_factory.mktemp("refused"), *DRAFTS) as shelf,
        Service(shelf.settings, "") as service,
    ):
        yield People(shelf, service)


def made(people: People, name: str = OWNER, maps: str = "", **said: Any) -> str:
    """Create a collection of the maps with these titles; return its ID."""
    body = {"title": "Java", "maps": [f"map{one}" for one in maps], **said}
    answer = people.send(name, "POST", "/collections", json=body)
    assert answer.status_code == 201, answer.text
    check(answer)
    return str(answer.json()["id"])


def titles(people: People, name: str, collection: str) -> str:
    answer = people.get(name, f"/collections/{collection}")
    assert answer.status_code == 200, answer.text
    check(answer)
    return "".join(one["Title"] for one in answer.json()["maps"])


def listed(people: People, name: str, query: str = "") -> list[str]:
    answer = people.get(name, f"/collections{query}")
    check(answer)
    return [one["title"] for one in answer.json()]


def test_a_collection_from_beginning_to_end(people: People, shelf: Shelf) -> None:
    public_id = made(people, maps="ba", text="Two\r\nlines")
    path = f"/collections/{public_id}"
    found = people.get(OWNER, path).json()
    assert (found["text"], found["visibility"], found["count"]) == ("Two\nlines", "private", 2)
    assert found["url"].endswith(f"/collected/{public_id}/java")
    for method, maps, order in (("POST", "cb", "bac"), ("PUT", "cdc", "cd"), ("POST", "", "cd")):
        answer = people.send(OWNER, method, f"{path}/maps", json=[f"map{one}" for one in maps])
        check(answer)
        assert "".join(one["Title"] for one in answer.json()["maps"]) == order
    answer = people.send(OWNER, "DELETE", f"{path}/maps/mapc")
    check(answer)
    assert answer.status_code == 204
    assert people.send(OWNER, "DELETE", f"{path}/maps/mapc").status_code == 404
    assert titles(people, OWNER, public_id) == "d"
    answer = people.send(OWNER, "PATCH", path, json={"visibility": "published", "title": " T "})
    check(answer)
    assert (answer.json()["title"], answer.json()["text"]) == ("T", "Two\nlines")
    answer = people.send(OWNER, "DELETE", path)
    check(answer)
    assert answer.status_code == 204
    assert people.get(OWNER, path).status_code == 404
    events = [one.entry.event for one in shelf.store.audit_records(0, 0, 100)]
    assert [event for event in events if event.startswith("collection")] == [
        *("collection.made", "collection.changed", "collection.removed"),
    ]


@pytest.mark.slow
def test_permissions_for_collections(people: People) -> None:
    ids = {kind: made(people, visibility=kind) for kind in ("published", "unlisted", "private")}
    for kind, public_id in ids.items():
        path = f"/collections/{public_id}"
        seen = 404 if kind == "private" else 200
        for name, status in ((OWNER, 200), (ADMINISTRATOR, 200), (OTHER, seen)):
            answer = people.get(name, path)
            check(answer)
            assert answer.status_code == status
            if status == 200 and kind == "private":
                assert answer.headers["Cache-Control"] == PRIVATE
            assert people.get(name, f"{path}/picture.png").status_code == status
        assert people.get("", f"{path}/picture.png").status_code == seen
        assert people.get("", path).status_code == 401
        refused = 404 if kind == "private" else 403
        for method, rest, body in (
            ("PATCH", "", {"title": "x"}),
            ("DELETE", "", None),
            ("PUT", "/maps", []),
            ("POST", "/maps", []),
            ("DELETE", "/maps/mapa", None),
        ):
            answer = people.send(OTHER, method, path + rest, json=body)
            check(answer)
            assert answer.status_code == refused
        assert people.send(ADMINISTRATOR, "PATCH", path, json={"text": "x"}).status_code == 200
    assert listed(people, OTHER) == ["Java"]
    assert len(listed(people, OWNER)) == 3
    assert len(listed(people, ADMINISTRATOR)) == 1


@pytest.mark.slow
def test_nobody_sees_a_map_that_they_may_not_see(people: People) -> None:
    """Neither the kind of collection nor the user who added the map makes a difference."""
    maps = {
        (owner, kind): people.published(owner, title=f"{owner} {kind}", visibility=kind)
        for owner in (OWNER, OTHER)
        for kind in ("published", "unlisted", "private")
    }
    collections = {}
    for kind in ("published", "unlisted", "private"):
        seen = [one for (owner, of), one in maps.items() if owner == OWNER or of != "private"]
        collections[kind] = made(people, visibility=kind)
        path = f"/collections/{collections[kind]}/maps"
        assert people.send(OWNER, "PUT", path, json=seen).status_code == 200
        answer = people.send(OWNER, "POST", path, json=[maps[OTHER, "private"]])
        assert answer.status_code == 400
        assert people.send(ADMINISTRATOR, "POST", path, json=[*maps.values()]).status_code == 200

    def shown(name: str, kind: str) -> set[str]:
        answer = people.get(name, f"/collections/{collections[kind]}")
        return {one["Title"] for one in answer.json()["maps"]}

    everything = {f"{owner} {kind}" for owner, kind in maps}
    published = {f"{owner} published" for owner in (OWNER, OTHER)}
    others = {f"{OTHER} {kind}" for kind in ("unlisted", "private")}
    for kind in collections:
        assert shown(OWNER, kind) == everything - {f"{OTHER} private"}
        assert shown(ADMINISTRATOR, kind) == everything
    assert shown(OTHER, "published") == published | others
    assert shown(OTHER, "unlisted") == published | others | {f"{OWNER} unlisted"}


@pytest.mark.process
def test_a_map_that_is_hidden_later_is_shown_no_longer(people: People) -> None:
    own = people.published(OTHER, title="Plan")
    public_id = made(people, visibility="published")
    people.send(OWNER, "POST", f"/collections/{public_id}/maps", json=[own])
    assert titles(people, ADMINISTRATOR, public_id) == "Plan"
    people.edit(OTHER, own, visibility="private")
    assert titles(people, OWNER, public_id) == ""
    assert titles(people, OTHER, public_id) == "Plan"
    # A map that the user cannot see in it cannot be removed by ID.
    path = f"/collections/{public_id}/maps/{own}"
    assert people.send(OWNER, "DELETE", path).status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "not valid JSON"),
        (b"[]", 400, "JSON object"),
        (b"{}", 400, "needs a title"),
        (b'{"title": ""}', 400, "1 to 200 characters"),
        (b'{"title": " \\n\\u202e "}', 400, "1 to 200 characters"),
        (b'{"title": "%b"}' % (b"x" * 201), 400, "1 to 200 characters"),
        (b'{"title": "\\u0000"}', 400, "NUL"),
        (b'{"title": 7}', 400, "title value"),
        (b'{"title": "x", "text": "%b"}' % (b"x" * 5001), 400, "up to 5000 characters"),
        (b'{"title": "x", "visibility": "removed"}', 400, "published, unlisted, private"),
        (b'{"title": "x", "pinned": true}', 400, "some of title, text"),
        (b'{"title": "x", "maps": "mapa"}', 400, "array of the IDs"),
        (b'{"title": "x", "maps": [1]}', 400, "array of the IDs"),
        (b'{"title": "x", "maps": ["<b>"]}', 400, "one of these IDs"),
        (b'{"title": "x", "maps": ["none"]}', 400, "ID none"),
    ],
)
def test_invalid_requests_get_an_error_message(
    refused: People, body: bytes, status: int, message: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = refused.send(OWNER, "POST", "/collections", content=body, headers=headers)
    check(answer)
    assert (answer.status_code, message in answer.text) == (status, True), answer.text
    assert listed(refused, OWNER) == []


def test_hostile_titles_stay_text(people: People) -> None:
    title = "<script>alert(1)</script> \"' \u202e %s {x} ../.. 予定"
    public_id = made(people, title=title, text="<b>\u202ex</b>", visibility="published")
    found = people.get(OTHER, f"/collections/{public_id}").json()
    assert found["title"] == title.replace(" \u202e", "")
    assert found["text"] == "<b>x</b>"
    assert found["url"].isascii()


def test_the_number_of_collections_is_limited(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_id = made(people)
    ids = [f"x{number}" for number in range(MOST_COLLECTED + 1)]
    answer = people.send(OWNER, "PUT", f"/collections/{public_id}/maps", json=ids)
    check(answer)
    assert (answer.status_code, "at most 200 maps" in answer.text) == (409, True)
    monkeypatch.setattr("mapshelf.store.map_collections.MOST_COLLECTIONS", 1)
    answer = people.send(OWNER, "POST", "/collections", json={"title": "x"})
    check(answer)
    assert (answer.status_code, "the most you can have" in answer.text) == (409, True)
    assert made(people, OTHER)


def test_lists_have_pages_and_owners(people: People) -> None:
    for number in range(5):
        made(people, (OWNER, OTHER)[number % 2], title=str(number), visibility="published")
    answer = people.get(OTHER, "/collections?limit=2&offset=2")
    check(answer)
    assert answer.headers["X-Total-Count"] == "5"
    assert 'collections?limit=2&offset=4>; rel="next"' in answer.headers["Link"]
    assert len(answer.json()) == 2
    again = {"If-None-Match": answer.headers["ETag"]}
    path = "/collections?limit=2&offset=2"
    assert people.send(OTHER, "GET", path, headers=again).status_code == 304
    assert sorted(listed(people, OWNER, "?owner=BOB")) == ["1", "3"]
    assert listed(people, OWNER, "?owner=nobody") == []
    assert people.get(OWNER, "/collections?limit=51").status_code == 400


@pytest.mark.slow
def test_the_picture_shows_the_first_maps(people: People) -> None:
    public_id = made(people, visibility="published")
    path = f"/collections/{public_id}"
    keys = []
    for maps in ("", "a", "ab", "abcde", "bacde", "bacd"):
        ids = [f"map{one}" for one in maps]
        assert people.send(OWNER, "PUT", f"{path}/maps", json=ids).status_code == 200
        answer = people.get("", f"{path}/picture.png?w=320")
        check(answer)
        assert answer.headers["Cache-Control"] == "public, max-age=300"
        with Image.open(BytesIO(answer.content)) as picture:
            assert picture.size == (320, 240)
        keys.append(answer.headers["ETag"])
    assert len(set(keys)) == 5
    assert keys[-1] == keys[-2], "only the first four maps are in the picture"
    dark = people.get("", f"{path}/picture.png?w=1280&theme=dark")
    with Image.open(BytesIO(dark.content)) as picture:
        assert picture.size == (1280, 960)
        assert picture.convert("RGB").getpixel((2, 2)) == (0x15, 0x1B, 0x23)
    for wrong in ("w=321", "theme=pink"):
        assert people.get("", f"{path}/picture.png?{wrong}").status_code == 400


@pytest.mark.process
def test_the_picture_shows_only_maps_that_the_reader_may_see(people: People) -> None:
    own = people.published(OWNER, title="Secret", visibility="private")
    public_id = made(people, maps="a", visibility="published")
    path = f"/collections/{public_id}/picture.png"
    before = people.get("", path).headers["ETag"]
    people.send(OWNER, "PUT", f"/collections/{public_id}/maps", json=[own, "mapa"])
    assert people.get("", path).headers["ETag"] == before
    assert people.get(OWNER, path).headers["ETag"] == before
    people.send(OWNER, "PATCH", f"/collections/{public_id}", json={"visibility": "private"})
    answer = people.get(OWNER, path)
    assert answer.headers["ETag"] != before
    assert answer.headers["Cache-Control"] == PRIVATE


@pytest.mark.slow
def test_collections_are_reported(people: People, shelf: Shelf) -> None:
    public_id, private = made(people, visibility="published"), made(people)
    path = f"/collections/{public_id}/reports"
    answer = people.send(OTHER, "POST", path, json={"reason": "spam", "note": "Buy"})
    check(answer)
    assert (answer.status_code, answer.json()) == (201, {"reason": "spam", "note": "Buy"})
    for name, where, body, status in (
        (OWNER, path, {"reason": "spam"}, 403),
        (OTHER, path, {"reason": "none"}, 400),
        (OTHER, f"/collections/{private}/reports", {"reason": "spam"}, 404),
        (OTHER, "/collections/none/reports", {"reason": "spam"}, 404),
    ):
        answer = people.send(name, "POST", where, json=body)
        check(answer)
        assert answer.status_code == status
    (one,) = shelf.store.reported_collections(9)
    assert (one.collection.id, one.reports[0].reporter) == (public_id, OTHER)
    (user,) = (user for user in shelf.store.users() if user.name == ADMINISTRATOR)
    shelf.store.decide_about_collection(public_id, DecisionKind.HIDE, user.id)
    assert people.get(OTHER, f"/collections/{public_id}").status_code == 404
    for name in (OWNER, ADMINISTRATOR):
        answer = people.send(
            name, "PATCH", f"/collections/{public_id}", json={"visibility": "published"}
        )
        check(answer)
        assert answer.status_code == 409
