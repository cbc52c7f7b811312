"""Changing maps over HTTP: who sees them, who may change them, and which votes count."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from mapshelf.api import editing, map_finder
from mapshelf.api.csrf import form_token
from mapshelf.api.current_snapshot import CurrentSnapshot
from mapshelf.clock import milliseconds
from mapshelf.model import MAP_KEYS, UNDOABLE, DecisionKind, Map, MapDraft, Source
from mapshelf.site import site_routes
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.read import Snapshot
from mapshelf.store import Store
from mapshelf.tokens import ACCOUNT, MAPS
from tests.api import openapi
from tests.api.publishing import ADMINISTRATOR, OTHER, OWNER, People, plan
from tests.harness import BASE_URL, Service, outline_of, shelf_with

pytestmark = pytest.mark.process

FOLDER_MAP: Final = "Fo1derMp"
BELOW: Final = (
    "/maps/{}",
    "/maps/{}/outline.md",
    "/maps/{}/outline.json",
    "/maps/{}/file",
    "/maps/{}/links",
    "/maps/{}/drawing.svg",
    "/thumbnails/{}.png",
    "/thumbnails/{}.svg?theme=dark",
    "/mindmaps/{}/plan",
    "/mindmaps/{}/plan.md",
    "/mindmaps/{}/plan/original",
    "/site/maps/{}.json",
)
NEEDS_TOKEN: Final = BELOW[:5]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    in_folder = MapDraft(
        id=FOLDER_MAP,
        title="In a folder",
        owner=OWNER,
        outline=outline_of("a"),
        source=Source(b"/maps/a.mm", "a.mm", 3, 1, b"d" * 32),
    )
    with (
        shelf_with(tmp_path_factory.mktemp("publishing"), in_folder) as shelf,
        Service(shelf.settings, "", site_routes) as service,
    ):
        yield People(shelf, service)


# -- who sees what -------------------------------------------------------------------------------


def seen(people: People, name: str, public_id: str) -> set[int]:
    """Return the statuses of all ``GET`` requests for a map by a user."""
    paths = [path for path in BELOW if name or path not in NEEDS_TOKEN]
    return {people.get(name, path.format(public_id)).status_code for path in paths}


def test_a_published_map_is_at_its_address_at_once(people: People) -> None:
    public_id = people.published(OWNER, title="Plan")
    assert public_id not in people.get(OTHER, "/maps").text
    for name in ("", OWNER, OTHER, ADMINISTRATOR):
        assert seen(people, name, public_id) == {200}
    page = people.get("", f"/mindmaps/{public_id}/plan")
    assert "x-robots-tag" not in page.headers
    before = people.get(OTHER, f"/maps/{public_id}")
    people.shelf.publish()
    people.service.wait_until(lambda: public_id in people.get(OTHER, "/maps").text)
    after = people.get(OTHER, f"/maps/{public_id}")
    assert (after.content, after.headers["etag"]) == (before.content, before.headers["etag"])


@pytest.mark.parametrize(
    ("visibility", "caching", "everybody"),
    [("unlisted", "private, no-cache", 200), ("private", "private, no-store", 404)],
)
def test_unpublished_maps_are_visible_to_some(
    people: People, visibility: str, caching: str, everybody: int
) -> None:
    public_id = people.published(OWNER, title="Plan", visibility=visibility)
    people.shelf.publish()
    assert seen(people, OWNER, public_id) == seen(people, ADMINISTRATOR, public_id) == {200}
    assert seen(people, OTHER, public_id) == seen(people, "", public_id) == {everybody}
    for path in BELOW:
        answer = people.get(OWNER, path.format(public_id))
        assert answer.headers["cache-control"] == caching, path
        assert answer.headers["x-robots-tag"] == "noindex", path
        if path.startswith(("/maps", "/thumbnails")):
            openapi.check(answer)
    for path in ("/maps?limit=50", "/search?query=plan", "/suggest?query=plan", "/"):
        assert public_id not in people.get(OWNER, path).text


def test_owners_see_their_private_maps_with_a_session(people: People) -> None:
    public_id = people.published(OWNER, title="Plan", visibility="private", tags="session")
    for name, status in ((OWNER, 200), (OTHER, 404)):
        cookie = {"Cookie": f"__Host-mapshelf_session={people.shelf.session(name)}"}
        for path in (f"/mindmaps/{public_id}/plan", f"/thumbnails/{public_id}.png"):
            assert people.send("", "GET", path, headers=cookie).status_code == status


def test_a_wrong_token_counts_as_none_where_none_is_needed(people: People) -> None:
    public_id = people.published(OWNER, title="Plan", visibility="private", tags="wrong")
    narrow = people.shelf.token(OWNER, scopes=ACCOUNT)
    for token in ("msh_wrong", narrow):
        headers = {"Authorization": f"Bearer {token}"}
        path = f"/thumbnails/{public_id}.png"
        assert people.send("", "GET", path, headers=headers).status_code == 404


def test_a_map_that_is_made_private_disappears_everywhere(people: People) -> None:
    public_id = people.published(OWNER, title="Plan", tags="leaves")
    people.shelf.publish()
    people.service.wait_until(lambda: public_id in people.get(OTHER, "/maps?limit=50").text)
    assert people.edit(OWNER, public_id, visibility="private").status_code == 200
    people.shelf.publish()
    people.service.wait_until(lambda: public_id not in people.get(OTHER, "/maps?limit=50").text)
    assert seen(people, OTHER, public_id) == {404}
    assert seen(people, OWNER, public_id) == {200}


@pytest.mark.parametrize("visibility", ["private", "unlisted"])
def test_no_shared_cache_is_told_that_an_unpublished_map_is_unchanged(
    people: People, visibility: str
) -> None:
    """It would show what it still has to everybody again, as nginx does."""
    public_id = people.published(OWNER, title="Plan", tags=f"keeps {visibility}")
    people.shelf.publish()
    people.service.wait_until(lambda: public_id in people.get(OTHER, "/maps?limit=50").text)
    before = {path: people.get(OWNER, path.format(public_id)) for path in BELOW}
    people.edit(OWNER, public_id, visibility=visibility)
    people.shelf.publish()
    people.service.wait_until(lambda: public_id not in people.get(OTHER, "/maps?limit=50").text)
    shared = set()
    for path, answer in before.items():
        if answer.headers["Cache-Control"].startswith("private"):
            continue
        shared.add(path)
        known = {"If-None-Match": answer.headers["ETag"]}
        now = people.send(OWNER, "GET", path.format(public_id), headers=known)
        assert now.status_code == 200, path
        known = {"If-None-Match": now.headers["ETag"]}
        again = people.send(OWNER, "GET", path.format(public_id), headers=known)
        assert (again.status_code, again.headers["X-Robots-Tag"]) == (304, "noindex"), path
    assert shared >= {"/thumbnails/{}.png", "/maps/{}/drawing.svg", "/mindmaps/{}/plan"}


@pytest.fixture(scope="module")
def others(people: People) -> Iterator[People]:
    """The same people with another worker of the same node."""
    with Service(people.shelf.settings, "", site_routes) as service:
        yield People(people.shelf, service)


def in_lists(people: People, *titles: str) -> str:
    """Publish maps with these titles, and a snapshot of them; return the ID of the first."""
    ids = [people.published(OWNER, title=title) for title in titles]
    people.shelf.publish()
    return ids[0]


def wait_for(workers: Sequence[People], name: str, path: str, status: int) -> None:
    for one in workers:
        one.service.wait_until(lambda one=one: one.get(name, path).status_code == status)  # type: ignore[misc]


def hide(people: People, public_id: str) -> None:
    store = people.shelf.store
    found = store.find_map(public_id)
    (root,) = (user.id for user in store.users() if user.name == ADMINISTRATOR)
    assert found
    store.decide(found.file_id, DecisionKind.HIDE, root)


WITHDRAWING: Final[Mapping[str, Callable[[People, str], object]]] = {
    "made private": lambda people, one: people.edit(OWNER, one, visibility="private"),
    "removed": lambda people, one: people.send(OWNER, "DELETE", f"/maps/{one}"),
    "hidden": hide,
}


@pytest.mark.parametrize("how", WITHDRAWING)
def test_a_withdrawn_map_disappears_from_every_worker_before_the_next_snapshot(
    people: People, others: People, how: str
) -> None:
    public_id = in_lists(people, f"Gone {how}", f"Beside {how}")
    workers = (people, others)
    page = f"/mindmaps/{public_id}/gone-{how.replace(' ', '-')}"
    own = (
        *(
            path.format(public_id).replace("/plan", f"/gone-{how.replace(' ', '-')}")
            for path in BELOW
        ),
        f"/mindmaps/{public_id}",
        f"{page}?embed=1",
        f"/oembed?url={BASE_URL}{page}",
        f"/maps/{public_id}/diff/{FOLDER_MAP}",
        f"/maps/{FOLDER_MAP}/diff/{public_id}",
        f"/maps/{public_id}/drawing.png",
        f"{page}/compare/{FOLDER_MAP}",
    )
    wait_for(workers, OTHER, f"{page}?embed=1", 200)
    for one in workers:  # so that these responses are cached
        statuses = {path: one.get(OTHER, path).status_code for path in own}
        assert set(statuses.values()) <= {200, 301, 308}, statuses
        assert f'"Gone {how}"' in one.get(OTHER, "/maps?limit=50").text
    WITHDRAWING[how](people, public_id)
    wait_for(workers, OTHER, own[0], 404)
    for one in workers:
        statuses = {path: one.get(OTHER, path).status_code for path in own}
        assert set(statuses.values()) == {404}, statuses
        kept = one.send(OTHER, "GET", own[0], headers={"If-None-Match": "*"})
        assert kept.status_code == 404
        assert one.get(OWNER, own[0]).status_code == (404 if how == "removed" else 200)
        assert f'"Gone {how}"' in one.get(OTHER, "/maps?limit=50").text, "lists change later"
        assert one.get(OTHER, f"/maps/{FOLDER_MAP}").status_code == 200


def test_a_restored_map_appears_before_the_next_snapshot(people: People, others: People) -> None:
    public_id = in_lists(people, "To and fro")
    path, workers = f"/maps/{public_id}", (people, others)
    wait_for(workers, OTHER, path, 200)
    for visibility, status in (("private", 404), ("unlisted", 200), ("private", 404)):
        people.edit(OWNER, public_id, visibility=visibility)
        wait_for(workers, OTHER, path, status)
    people.edit(OWNER, public_id, visibility="published")
    wait_for(workers, OTHER, path, 200)
    people.shelf.publish()
    people.edit(OWNER, public_id, visibility="private")
    wait_for(workers, OTHER, path, 404)
    people.shelf.put(MapDraft(title="Something else"))
    people.shelf.publish()  # this snapshot does not have the map
    for one in workers:
        one.service.wait_until(lambda one=one: "To and fro" not in one.get(OTHER, "/maps").text)  # type: ignore[misc]
        assert one.get(OTHER, path).status_code == 404
        assert one.get(OWNER, path).status_code == 200


def test_a_snapshot_from_before_a_map_was_withdrawn_does_not_bring_it_back(people: People) -> None:
    """A builder may have started it while the map was still visible."""
    public_id = in_lists(people, "Behind")
    directory = SnapshotDirectory(people.shelf.settings.snapshots)
    revision = Snapshot(directory.folder(directory.current())).revision
    for withdrawn, shown in ((revision + 1, False), (revision, True)):
        current = CurrentSnapshot(directory)
        current.withdraw({public_id: withdrawn})
        current.refresh()
        assert (current.get().find(public_id, b"") is not None) is shown
        current.withdraw({public_id: revision})
        assert (current.get().find(public_id, b"") is not None) is shown
        assert current.withdrawals_after == max(withdrawn, revision)
        current.close()


def test_invented_ids_are_looked_up_in_the_store_only_once(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    store = people.service.application.application.context.store.get()
    find = type(store).find_map

    def noted(self: Store, public_id: str) -> Map | None:
        asked.append(public_id)
        return find(self, public_id)

    monkeypatch.setattr(type(store), "find_map", noted)
    for _ in range(5):
        assert people.get(OTHER, "/maps/inv3nted").status_code == 404
        assert people.get(OTHER, "/maps/not-an-id").status_code == 404
    assert asked == ["inv3nted"]
    monkeypatch.setattr(map_finder, "MISSING_FOR", 0.0)
    assert people.get(OTHER, "/maps/inv3nte2").status_code == 404
    assert people.get(OTHER, "/maps/inv3nte2").status_code == 404
    assert asked == ["inv3nted", "inv3nte2", "inv3nte2"]


# -- who changes what ----------------------------------------------------------------------------


def orders(people: People, name: str, public_id: str) -> list[int]:
    """Return the statuses of requests that only some users may send."""
    at = f"/maps/{public_id}"
    file = {"map": ("b.mm", plan("another"))}
    return [
        people.edit(name, public_id, description="changed").status_code,
        people.get(name, f"{at}/versions").status_code,
        people.send(name, "PUT", f"{at}/file", files=file).status_code,
        people.send(name, "POST", f"{at}/versions/1/restore").status_code,
        people.send(name, "DELETE", at).status_code,
    ]


@pytest.mark.parametrize("public_id", ["%00", "a%00b", "%ed%a0%80", "%ff", "a'b", "x" * 40])
def test_malformed_ids_are_not_found(people: People, public_id: str) -> None:
    path = f"/maps/{public_id}"
    answers = (
        people.get(OWNER, path),
        people.get(OWNER, f"{path}/versions"),
        people.send(OWNER, "PATCH", path, json={"title": "x"}),
        people.send(OWNER, "DELETE", path),
        people.send(OWNER, "POST", f"{path}/versions/1/restore"),
        people.send(OWNER, "PUT", f"{path}/vote", json={"vote": "up"}),
    )
    assert {answer.status_code for answer in answers} == {404}


@pytest.mark.parametrize("visibility", ["published", "unlisted", "private"])
def test_only_owners_and_administrators_change_a_map(people: People, visibility: str) -> None:
    public_id = people.published(OWNER, title="Mine", visibility=visibility)
    assert orders(people, "", public_id) == [401] * 5
    hidden = visibility == "private"
    assert orders(people, OTHER, public_id) == [404 if hidden else 403] * 5
    reading = people.shelf.token(OWNER, scopes=f"{ACCOUNT} {MAPS}")
    people.tokens["reading"] = reading
    assert orders(people, "reading", public_id) == [403, 200, 403, 403, 403]
    for name in (OWNER, ADMINISTRATOR):
        own = people.published(OWNER, plan(name, visibility), title="Mine", visibility=visibility)
        assert orders(people, name, own) == [200, 200, 200, 200, 204]
        assert people.get(name, f"/maps/{own}/versions").status_code == 404
        assert orders(people, name, own) == [404] * 5


def test_details_can_be_changed_one_by_one(people: People) -> None:
    public_id = people.published(OWNER, title="Before", description="words")
    before = people.get(OWNER, f"/maps/{public_id}").json()
    for values, changed in (
        ({"title": " After\n that "}, {"Title": "After that"}),
        ({"description": ""}, {"Description": ""}),
        ({"category": 21}, {"Category": "Science", "CategoryID": "21"}),
        ({"category": "6"}, {"Category": "Education", "CategoryID": "6"}),
        ({"category": "mathematics"}, {"Category": "Mathematics", "CategoryID": "17"}),
        ({"licence": 3}, {"LicenceTypeID": "3"}),
        ({"licence": "CC BY-SA"}, {"LicenceTypeID": "4"}),
        ({"licence": None}, {"LicenceTypeID": ""}),
        ({"licence": 3}, {"LicenceTypeID": "3"}),
        ({"licence": ""}, {"LicenceTypeID": ""}),
        ({"tags": ["a", "b c"]}, {}),
        ({"tags": "x, y"}, {}),
        ({"template": True}, {}),
        ({"template": "false"}, {}),
        ({}, {}),
    ):
        answer = people.edit(OWNER, public_id, **values)
        openapi.check(answer)
        before |= changed
        if "Title" in changed:
            before["URL"] = f"{BASE_URL}/mindmaps/{public_id}/after-that"
        assert answer.json() == before
        assert tuple(answer.json()) == MAP_KEYS
        assert people.get(OWNER, f"/maps/{public_id}").json() == before
    assert people.shelf.store.find_map(public_id).tags == ("x", "y")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "values",
    [
        {"title": ""},
        {"title": " \n "},
        {"title": "\u200b\u3164\ufe0f"},
        {"title": "x" * 501},
        {"title": None},
        {"title": 5},
        {"description": "x" * 10_001},
        {"description": "a\0b"},
        {"category": ""},
        {"category": 99},
        {"category": "Nonsense"},
        {"category": True},
        {"category": 2**70},
        {"licence": "Nonsense"},
        {"tags": ["a,b"]},
        {"tags": [1]},
        {"tags": "x" * 51},
        {"tags": [f"t{n}" for n in range(21)]},
        {"template": "maybe"},
        {"template": 1},
        {"visibility": "removed"},
        {"visibility": "secret"},
        {"owner": "bob"},
        {"Title": "case"},
    ],
)
def test_invalid_details_change_nothing(people: People, values: dict[str, object]) -> None:
    before = people.shelf.store.find_map(FOLDER_MAP)
    answer = people.edit(OWNER, FOLDER_MAP, **values)
    openapi.check(answer)
    assert answer.status_code == 400
    assert next(iter(values)) in answer.json()["error_description"] or "keys" in answer.text
    assert people.shelf.store.find_map(FOLDER_MAP) == before


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b'{"title": "\\ud800"}', b"\xff"])
def test_bodies_that_are_not_objects_are_refused(people: People, body: bytes) -> None:
    for path, method in ((f"/maps/{FOLDER_MAP}", "PATCH"), (f"/maps/{FOLDER_MAP}/vote", "PUT")):
        headers = {"Content-Type": "application/json"}
        answer = people.send(OWNER, method, path, content=body, headers=headers)
        openapi.check(answer)
        assert answer.status_code == 400


def test_details_from_a_file_in_a_folder_stay(people: People) -> None:
    refused = people.edit(OWNER, FOLDER_MAP, title="Another")
    openapi.check(refused)
    assert (refused.status_code, refused.json()["error"]) == (409, "conflict")
    assert people.edit(OWNER, FOLDER_MAP, description="said").status_code == 200
    replaced = people.send(
        OWNER, "PUT", f"/maps/{FOLDER_MAP}/file", files={"map": ("b.mm", plan("b"))}
    )
    openapi.check(replaced)
    assert replaced.status_code == 409
    assert people.get(OWNER, f"/maps/{FOLDER_MAP}/versions").json() == []


# -- votes ---------------------------------------------------------------------------------------


def test_one_vote_of_each_person_counts(people: People) -> None:
    public_id = people.published(OWNER, title="Rated")
    for name, vote, counts in (
        (OTHER, "up", ("1", "0")),
        (OTHER, "up", ("1", "0")),
        (ADMINISTRATOR, "down", ("1", "1")),
        (OTHER, "down", ("0", "2")),
        (ADMINISTRATOR, "none", ("0", "1")),
        (ADMINISTRATOR, "none", ("0", "1")),
        (OTHER, "none", ("0", "0")),
    ):
        answer = people.vote(name, public_id, vote)
        openapi.check(answer)
        assert (answer.json()["ThumbsUp"], answer.json()["ThumbsDown"]) == counts
    own = people.vote(OWNER, public_id, "up")
    openapi.check(own)
    assert (own.status_code, own.json()["error"]) == (403, "forbidden")
    for wrong in ("Up", "", None, 1, ["up"]):
        assert people.vote(OTHER, public_id, wrong).status_code == 400
    hidden = people.published(OWNER, title="Rated", visibility="private")
    assert people.vote(OTHER, hidden, "up").status_code == 404


def test_sessions_need_the_csrf_token_to_write(people: People) -> None:
    public_id = people.published(OWNER, title="Rated by a page")
    secret = people.shelf.session(OTHER)
    cookie = {"Cookie": f"__Host-mapshelf_session={secret}", "Origin": BASE_URL}
    path, vote = f"/maps/{public_id}/vote", {"vote": "up"}
    assert people.send("", "PUT", path, json=vote, headers=cookie).status_code == 403
    headers = {**cookie, "X-CSRF-Token": form_token(secret)}
    assert people.send("", "PUT", path, json=vote, headers=headers).json()["ThumbsUp"] == "1"


# -- what is stored ------------------------------------------------------------------------------


def test_a_removed_map_disappears_from_lists_and_its_address(people: People) -> None:
    public_id = people.published(OWNER, title="Gone", tags="gone")
    people.shelf.publish()
    people.service.wait_until(lambda: public_id in people.get(OTHER, "/maps?limit=50").text)
    answer = people.send(OWNER, "DELETE", f"/maps/{public_id}")
    openapi.check(answer)
    assert (answer.status_code, answer.content) == (204, b"")
    people.shelf.publish()
    people.service.wait_until(lambda: seen(people, OWNER, public_id) == {404})
    assert people.upload(OWNER, plan("a", "Gone", "gone"), title="Gone").status_code == 201


@pytest.mark.parametrize("visibility", ["published", "unlisted", "private"])
def test_a_removal_can_be_undone(people: People, visibility: str) -> None:
    public_id = people.published(OWNER, title="Back", tags=visibility, visibility=visibility)
    path = f"/maps/{public_id}/restore"
    assert people.send(OWNER, "POST", path).status_code == 404
    before = people.get(OWNER, f"/maps/{public_id}").json()
    people.send(OWNER, "DELETE", f"/maps/{public_id}")
    assert people.get(OWNER, f"/maps/{public_id}").status_code == 404
    assert people.send("", "POST", path).status_code == 401
    assert people.send(OTHER, "POST", path).status_code == 404
    answer = people.send(OWNER, "POST", path)
    openapi.check(answer)
    assert (answer.status_code, answer.json()) == (200, before)
    assert people.get(OWNER, f"/maps/{public_id}").json() == before
    assert people.get(OTHER, f"/maps/{public_id}").status_code == (
        404 if visibility == "private" else 200
    )
    assert people.send(OWNER, "POST", path).status_code == 404


def test_only_administrators_restore_what_an_administrator_removed(people: People) -> None:
    public_id = people.published(OWNER, title="Taken down", tags="taken")
    path = f"/maps/{public_id}/restore"
    people.send(ADMINISTRATOR, "DELETE", f"/maps/{public_id}")
    refused = people.send(OWNER, "POST", path)
    openapi.check(refused)
    assert refused.status_code == 403
    assert people.send(OTHER, "POST", path).status_code == 404
    assert people.send(ADMINISTRATOR, "POST", path).status_code == 200


def test_a_removal_can_be_undone_for_thirty_days(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_id = people.published(OWNER, title="Long gone", tags="long")
    people.send(OWNER, "DELETE", f"/maps/{public_id}")
    now = milliseconds()
    for name in (OWNER, ADMINISTRATOR):
        with monkeypatch.context() as later:
            later.setattr(editing, "milliseconds", lambda: now + UNDOABLE + 1)
            answer = people.send(name, "POST", f"/maps/{public_id}/restore")
            assert answer.status_code == 404
    with monkeypatch.context() as later:
        later.setattr(editing, "milliseconds", lambda: now + UNDOABLE - 60_000)
        assert people.send(OWNER, "POST", f"/maps/{public_id}/restore").status_code == 200


def test_without_the_store_maps_of_the_snapshot_are_still_served(tmp_path: Path) -> None:
    with shelf_with(tmp_path, MapDraft(id="Q7xK2mZp", title="Plan")) as shelf:
        token = shelf.token()
        with Service(shelf.settings, token) as service:
            assert service.get("/maps/Q7xK2mZp").status_code == 200
            service.application.application.context.store.get().close()
            assert service.get("/maps/Q7xK2mZp").status_code == 200
            assert service.get("/maps/unkn0wn0").status_code == 503
