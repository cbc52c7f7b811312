"""Saved searches over HTTP: creating, listing, changing and removing them, and their limits."""

from collections.abc import Iterator

import httpx
import pytest

from mapshelf.model import MOST_SEARCHES, MapDraft
from tests.api.openapi import check
from tests.api.publishing import ADMINISTRATOR, OTHER, OWNER, People
from tests.harness import BASE_URL, Service, Shelf, copied_shelf

AT = "/users/me/searches"
JAVA = MapDraft(title="Java")


@pytest.fixture
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with copied_shelf(tmp_path_factory.mktemp("searches"), JAVA) as shelf:
        yield shelf


@pytest.fixture
def people(shelf: Shelf) -> Iterator[People]:
    with Service(shelf.settings, "") as service:
        yield People(shelf, service)


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    """Users of a shared catalogue whose requests must all be refused."""
    with (
        copied_shelf(tmp_path_factory.mktemp("refused"), JAVA) as shelf,
        Service(shelf.settings, "") as service,
    ):
        yield People(shelf, service)


def saved(people: People, name: str = OWNER, **parameters: str) -> httpx.Response:
    body = {"name": "Java", "parameters": parameters}
    answer = people.send(name, "POST", AT, json=body)
    check(answer)
    return answer


def names(people: People, name: str = OWNER) -> list[str]:
    answer = people.get(name, AT)
    check(answer)
    assert answer.headers["Cache-Control"] == "private, no-cache"
    return [one["name"] for one in answer.json()]


def test_a_saved_search_from_beginning_to_end(people: People) -> None:
    given = {"query": 'tag:"a b" -x', "folder": "A/B", "order_by": "edited", "title_only": "true"}
    answer = saved(people, **given)
    assert answer.status_code == 201
    found = answer.json()
    assert (found["name"], found["parameters"]) == ("Java", given)
    assert answer.headers["Location"] == f"{BASE_URL}{AT}/{found['id']}"
    assert found["feed"] == f"{BASE_URL}/saved/{found['id']}/feed.atom"
    assert found["url"].startswith(f"{BASE_URL}/?")
    assert people.get(OWNER, f"/maps?{found['url'].partition('?')[2]}").status_code == 200
    path = f"{AT}/{found['id']}"
    for body, name, parameters in (
        ({"name": " Be\nans "}, "Be ans", given),
        ({"parameters": {"tag": "x", "limit": "1"}}, "", {}),
        ({"parameters": {"tag": "x", "owner": ""}}, "Be ans", {"tag": "x"}),
        ({}, "Be ans", {"tag": "x"}),
        ({"parameters": {}}, "Be ans", {}),
    ):
        answer = people.send(OWNER, "PATCH", path, json=body)
        check(answer)
        if not name:
            assert answer.status_code == 400
            continue
        assert answer.status_code == 200, answer.text
        assert (answer.json()["name"], answer.json()["parameters"]) == (name, parameters)
    assert names(people) == ["Be ans"]
    answer = people.send(OWNER, "DELETE", path)
    check(answer)
    assert answer.status_code == 204
    assert people.send(OWNER, "DELETE", path).status_code == 404
    assert names(people) == []


def test_nobody_else_sees_or_changes_it(people: People) -> None:
    public_id = saved(people, query="x").json()["id"]
    for name in (OTHER, ADMINISTRATOR):
        assert names(people, name) == []
        for method in ("PATCH", "DELETE"):
            answer = people.send(name, method, f"{AT}/{public_id}", json={"name": "Other"})
            check(answer)
            assert answer.status_code == 404
    assert names(people) == ["Java"]
    assert people.get("", AT).status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {"name": "Java"},
        {"parameters": {}},
        {"name": "", "parameters": {}},
        {"name": "\u200b", "parameters": {}},
        {"name": "x" * 201, "parameters": {}},
        {"name": 1, "parameters": {}},
        {"name": "a\0", "parameters": {}},
        {"name": "x", "parameters": []},
        {"name": "x", "parameters": {"query": 1}},
        {"name": "x", "parameters": {"view": "table"}},
        {"name": "x", "parameters": {"order_by": "newest"}},
        {"name": "x", "parameters": {"category": "x"}},
        {"name": "x", "parameters": {"tag": "\0"}},
        {"name": "x", "parameters": {"tag": "予" * 1000}},
        {"name": "x", "parameters": {"query": "x" * 501}},
        {"name": "x", "parameters": {}, "owner": "bob"},
        [],
    ],
)
def test_invalid_searches_are_not_saved(refused: People, body: object) -> None:
    answer = refused.send(OWNER, "POST", AT, json=body)
    check(answer)
    assert answer.status_code == 400
    assert names(refused) == []


def test_the_number_of_saved_searches_is_limited(people: People, shelf: Shelf) -> None:
    (owner,) = (user.id for user in shelf.store.users() if user.name == OWNER)
    for number in range(MOST_SEARCHES - 1):
        shelf.store.save_search(owner, str(number), "")
    assert saved(people).status_code == 201
    answer = saved(people)
    assert answer.status_code == 409
    assert str(MOST_SEARCHES) in answer.json()["error_description"]
    assert saved(people, OTHER).status_code == 201
    assert len(names(people)) == MOST_SEARCHES
