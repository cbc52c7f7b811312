"""Requests that only read, take long, and whose token or session ends meanwhile."""

from collections.abc import Callable
from typing import Any

import pytest

from mapshelf.api import own_maps
from mapshelf.tokens import MAPS
from tests.harness import Service, Shelf
from tests.person import Person, member, user_named
from tests.site.people.test_publishing import published


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
    monkeypatch.setattr("mapshelf.api.request_handler.LATE_AFTER", 0.0)


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
