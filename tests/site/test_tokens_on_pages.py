"""A token is no session, but in a public catalogue it shows its user's private maps."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from mapshelf.model import MapDraft, Visibility
from mapshelf.site import site_routes
from tests.api.publishing import OTHER, OWNER, People
from tests.harness import Service, Shelf, outline_of, shelf_with

PAGE = "/mindmaps/Private1/garden"
PRIVATE = MapDraft(
    id="Private1",
    title="Garden",
    owner=OWNER,
    visibility=Visibility.PRIVATE,
    outline=outline_of("Garden"),
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    with shelf_with(tmp_path_factory.mktemp("tokens"), PRIVATE) as shelf:
        yield shelf


def people_of(shelf: Shelf, service: Service, scopes: str) -> People:
    people = People(shelf, service)
    people.tokens = {name: shelf.token(name, scopes=scopes) for name in (OWNER, OTHER)}
    return people


@pytest.mark.parametrize(("scopes", "status"), [("maps", 200), ("account maps:write", 404)])
def test_a_token_shows_private_maps_of_a_public_catalogue(
    shelf: Shelf, scopes: str, status: int
) -> None:
    with Service(shelf.settings, "", site_routes) as service:
        people = people_of(shelf, service, scopes)
        assert people.get(OWNER, PAGE).status_code == status
        assert people.get(OTHER, PAGE).status_code == 404
        for path in ("/account", "/account/maps", f"{PAGE}/edit"):
            assert people.get(OWNER, path).headers["Location"].startswith("/signin?")


def test_a_token_opens_no_page_of_a_private_catalogue(shelf: Shelf) -> None:
    with Service(replace(shelf.settings, private=True), "", site_routes) as service:
        people = people_of(shelf, service, "maps")
        for path in ("/", PAGE, "/account"):
            assert people.get(OWNER, path).headers["Location"].startswith("/signin?")
