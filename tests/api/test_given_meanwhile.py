"""Maps that get another owner while their former owner changes them.

An import of records with ``Owner`` may give them to somebody else, who makes them private. Reading
an uploaded file takes seconds.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx
import pytest

from mapshelf.api import editing, map_writing
from mapshelf.api.upload_reader import PatientReader
from mapshelf.model import MapDetails, MapDraft, Visibility
from tests.api import openapi
from tests.api.publishing import ADMINISTRATOR, OTHER, OWNER, People, plan
from tests.harness import Service, shelf_with

pytestmark = pytest.mark.process

SECRET: Final = "Confidential"

Send = Callable[[People, str, str], httpx.Response]

FILE: Final = {"content-type": "application/octet-stream"}
FILES: Final[dict[str, Send]] = {
    "a file": lambda people, name, public_id: people.send(
        name, "PUT", f"/maps/{public_id}/file", content=plan("Late"), headers=FILE
    ),
    "a former version": lambda people, name, public_id: people.send(
        name, "POST", f"/maps/{public_id}/versions/1/restore"
    ),
}
CHANGES: Final[dict[str, Send]] = {
    **FILES,
    "an edit": lambda people, name, public_id: people.edit(name, public_id, title="Late"),
    "a removal": lambda people, name, public_id: people.send(name, "DELETE", f"/maps/{public_id}"),
}


@pytest.fixture
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    with (
        shelf_with(tmp_path_factory.mktemp("given")) as shelf,
        Service(shelf.settings, "") as service,
    ):
        yield People(shelf, service)


def give(people: People, public_id: str, visibility: Visibility = Visibility.PRIVATE) -> None:
    """Do what an import and the new owner do."""
    people.shelf.put(MapDraft(id=public_id, owner=OTHER))
    found = people.shelf.store.find_map(public_id)
    if found is not None:
        details = MapDetails(description=SECRET, visibility=visibility)
        people.shelf.store.edit_map(found.file_id, details)


def giving_after(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, give_it: Callable[[], None]
) -> None:
    """Let a map be given away once, right after a function of the service."""
    do = getattr(place, name)
    given: list[bool] = []

    def done(*values: Any, **named: Any) -> Any:
        result = do(*values, **named)
        if not given:
            given.append(True)
            give_it()
        return result

    monkeypatch.setattr(place, name, done)


def with_versions(people: People) -> str:
    public_id = people.published(OWNER, plan("First"), title="Plan")
    file = people.send(
        OWNER, "PUT", f"/maps/{public_id}/file", content=plan("Second"), headers=FILE
    )
    assert file.status_code == 200
    return public_id


def state(people: People, public_id: str) -> tuple[object, ...]:
    """Return what a change could change."""
    found = people.shelf.store.find_map(public_id)
    assert found is not None
    store = people.shelf.store
    return found, store.versions(found.file_id), store.content(found.file_id)


@pytest.mark.parametrize("change", CHANGES)
def test_a_map_that_gets_another_owner_is_not_changed_by_the_former_one(
    people: People, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    public_id = with_versions(people)
    before: list[tuple[object, ...]] = []

    def give_it() -> None:
        give(people, public_id)
        before.append(state(people, public_id))

    if change in FILES:
        giving_after(monkeypatch, PatientReader, "read", give_it)
    else:
        giving_after(monkeypatch, map_writing, "visible_map", give_it)
    answer = CHANGES[change](people, OWNER, public_id)
    openapi.check(answer)
    assert answer.status_code == 404
    assert SECRET not in answer.text
    assert [state(people, public_id)] == before
    assert CHANGES[change](people, ADMINISTRATOR, public_id).is_success


def test_who_still_sees_the_map_is_told_that_it_belongs_to_somebody_else(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_id = with_versions(people)
    giving_after(
        monkeypatch,
        PatientReader,
        "read",
        lambda: give(people, public_id, Visibility.PUBLISHED),
    )
    answer = CHANGES["a file"](people, OWNER, public_id)
    openapi.check(answer)
    assert answer.status_code == 403


def test_nobody_votes_for_a_map_that_became_private(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_id = with_versions(people)
    people.shelf.put(MapDraft(id=public_id, owner=ADMINISTRATOR))
    giving_after(monkeypatch, map_writing, "visible_map", lambda: give(people, public_id))
    answer = people.vote(OWNER, public_id, "up")
    openapi.check(answer)
    assert answer.status_code == 404
    assert SECRET not in answer.text
    assert people.vote(ADMINISTRATOR, public_id, "up").json()["ThumbsUp"] == "1"


def test_no_removal_is_undone_by_a_former_owner(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_id = with_versions(people)
    assert CHANGES["a removal"](people, OWNER, public_id).status_code == 204
    giving_after(monkeypatch, editing, "removed_maps", lambda: give(people, public_id))
    answer = people.send(OWNER, "POST", f"/maps/{public_id}/restore")
    openapi.check(answer)
    assert answer.status_code == 404
    assert people.shelf.store.find_map(public_id) is None
