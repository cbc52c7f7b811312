"""Requests that only read, take long, and whose token or session ends meanwhile."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from mapshelf.api import editing, own_maps, visible_maps
from mapshelf.site import bulk_actions, data_export, pages
from mapshelf.tokens import MAPS, MAPS_WRITE
from tests.harness import Service, Shelf
from tests.person import Person, Start, member, user_named
from tests.site.people.test_feeds import made, status
from tests.site.people.test_publishing import id_in, published


@pytest.fixture(autouse=True)
def _versions_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mapshelf.store.sqlite.accounts.SQLiteAccounts.tokens_version_age", 0.0)


def while_reading(monkeypatch: pytest.MonkeyPatch, end: Callable[[], object]) -> None:
    """Let something end while the next list of own maps is read, and let that be late."""
    read = own_maps.OwnMaps.bodies

    def reading(*values: Any) -> Any:
        found = read(*values)
        end()
        return found

    monkeypatch.setattr(own_maps.OwnMaps, "bodies", reading)
    monkeypatch.setattr("mapshelf.api.browser_sessions.LATE_AFTER", 0.0)


def ending(
    monkeypatch: pytest.MonkeyPatch, place: tuple[Any, str], end: Callable[[], object]
) -> None:
    """Let something end once a function of the service has been called, and let that be late."""
    do = getattr(*place)

    def done(*values: Any, **named: Any) -> Any:
        result = do(*values, **named)
        end()
        return result

    monkeypatch.setattr(*place, done)
    monkeypatch.setattr("mapshelf.api.browser_sessions.LATE_AFTER", 0.0)


@pytest.fixture
def address(ann: Person) -> str:
    """The page of a private map of ann's."""
    return published(ann, "Secret", visibility="private")


@pytest.fixture
def ann(site: Service, shelf: Shelf) -> Person:
    person = member(site, shelf, "ann")
    published(person, "Plan", visibility="private")
    return person


@pytest.mark.process
def test_a_program_gets_nothing_that_took_long_once_its_token_has_ended(
    site: Service, shelf: Shelf, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Authorization": f"Bearer {shelf.token('ann', scopes=MAPS)}"}
    (token,) = shelf.store.tokens("ann")

    def ask() -> int:
        return site.run(site.client.get("/users/me/maps", headers=headers)).status_code

    while_reading(monkeypatch, lambda: None)
    assert ask() == 200
    while_reading(monkeypatch, lambda: shelf.store.revoke_token(token.id))
    assert ask() == 401


@pytest.mark.process
def test_a_page_that_took_long_is_not_shown_once_its_session_has_ended(
    shelf: Shelf, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = user_named(shelf, "ann")
    while_reading(monkeypatch, lambda: None)
    assert "Plan" in ann.get("/account/maps").text
    while_reading(monkeypatch, lambda: shelf.store.end_sessions(user.id, None))
    answer = ann.get("/account/maps", 303)
    assert answer.headers["Location"].startswith("/signin?next=")
    assert "Plan" not in answer.text


OF_THE_MAP: Final = {
    "/mindmaps/{}/secret": (visible_maps, "may_see"),
    "/mindmaps/{}/secret/original": (visible_maps, "may_see"),
    "/site/maps/{}.json": (visible_maps, "may_see"),
    "/maps/{}/drawing.svg": (visible_maps, "may_see"),
    "/download?map={}": (bulk_actions, "seen_maps"),
}
"""What a public catalogue shows of a private map, and the check after which the session ends."""


@pytest.mark.process
@pytest.mark.parametrize("path", OF_THE_MAP)
def test_nothing_of_a_private_map_that_took_long_is_sent_once_the_session_has_ended(
    shelf: Shelf, ann: Person, address: str, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    user, sent = user_named(shelf, "ann"), path.format(id_in(address))
    ending(monkeypatch, OF_THE_MAP[path], lambda: None)
    assert ann.get(sent).status_code == 200
    ending(monkeypatch, OF_THE_MAP[path], lambda: shelf.store.end_sessions(user.id, None))
    assert "Secret" not in ann.get(sent, 404).text


@pytest.mark.process
def test_no_export_that_took_long_is_sent_once_the_session_has_ended(
    shelf: Shelf, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, place = user_named(shelf, "ann"), (data_export, "export_data")
    ending(monkeypatch, place, lambda: None)
    assert ann.fill("/account/export").status_code == 200
    fields = ann.form("/account/export").fields
    ending(monkeypatch, place, lambda: shelf.store.end_sessions(user.id, None))
    answer = ann.post("/account/export", fields)
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/signin?next=")


@pytest.mark.process
def test_no_feed_that_took_long_is_sent_once_its_address_is_withdrawn(
    start: Start, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = start(private=True)
    path, place = made(member(site, shelf, "ann")), (pages, "feed_values")
    (token,) = shelf.store.tokens("ann")
    ending(monkeypatch, place, lambda: None)
    assert status(site, path) == 200
    ending(monkeypatch, place, lambda: shelf.store.revoke_token(token.id))
    assert status(site, f"{path}?limit=5") == 404


@pytest.mark.process
def test_a_change_that_was_made_is_not_refused_however_long_it_took(
    site: Service, shelf: Shelf, ann: Person, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Authorization": f"Bearer {shelf.token('ann', scopes=f'{MAPS} {MAPS_WRITE}')}"}
    (token,) = shelf.store.tokens("ann")
    path = f"/maps/{id_in(address)}"
    ending(monkeypatch, (editing, "map_response"), lambda: shelf.store.revoke_token(token.id))
    answer = site.run(site.client.patch(path, json={"title": "Changed"}, headers=headers))
    assert answer.status_code == 200
    assert answer.json()["Title"] == "Changed"
    answer = site.run(site.client.patch(path, json={"title": "Again"}, headers=headers))
    assert answer.status_code == 401
