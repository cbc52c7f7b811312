"""One client that fills a queue of slow work delays the requests of others, but prevents none.

Its next request is refused; the same request of anybody else waits, and is answered.
"""

import asyncio
import threading
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from ipaddress import ip_network
from typing import Final

import pytest

from mapshelf.api.rsgi import RSGIApplication
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Outline, Topic, sheets_of
from mapshelf.site import site_routes
from mapshelf.tokens import SESSION_PREFIX, new_token
from tests.api.rsgi import Answer, Scope
from tests.harness import PATIENCE, READER, Service, Shelf, outline_of, serve, shelf_with
from tests.person import user_named

pytestmark = pytest.mark.process

GREEDY: Final = "192.0.2.1"
OTHER: Final = "192.0.2.2"
GREEDY_USER: Final = "greedy"
NETWORK: Final = "2001:db8:0:7::/64"
PROXY: Final = "127.0.0.1"
LARGE: Final = 400  # topics of 90 bytes

OPEN: Final = (
    ("documents", "/mindmaps/Large001/map-large001"),
    ("documents", "/site/maps/Large001.json"),
    ("documents", "/mindmaps/Large001/map-large001.mm"),
    ("documents", "/thumbnails/Large001.png"),
    ("documents", "/maps/Large001/drawing.svg"),
    ("comparisons", "/mindmaps/Large001/map-large001/compare/Large002"),
    ("selections", "/download?map=Small001"),
    ("drawing_lookups", "/maps/Small001/drawing.png"),
    ("map_drawings", "/maps/Small001/drawing.svg"),
    ("thumbnails", "/thumbnails/Small001.svg"),
    ("drawings", "/thumbnails/Small001.png"),
    ("pages", "/?query=map"),
    ("long_searches", "/mindmaps/Small001/small-map/find?query=one"),
    ("lookups", "/mindmaps/Nothing1/nothing"),
)
"""Queues, and requests without a token that wait in them."""

WITH_TOKEN: Final = (
    ("documents", "/maps/Large001/outline.xmind"),
    ("comparisons", "/maps/Large001/diff/Large002"),
    ("files", "/maps/Small001/outline.md"),
    ("searches", "/facets?query=map"),
    ("own_maps", "/users/me/maps"),
    ("lookups", "/users/me/searches"),
)
"""Queues, and requests with a token that wait in them."""


def map_of(public_id: str) -> MapDraft:
    topics = [Topic(f"{'x' * 90} {public_id} {number}") for number in range(LARGE)]
    outline = Outline(sheets_of((Topic("Plan", children=topics),)))
    return MapDraft(id=public_id, title=f"Map {public_id}", outline=encode_outline(outline))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    small = MapDraft(id="Small001", title="Small map", outline=outline_of("Small", "one"))
    folder = tmp_path_factory.mktemp("fair")
    with shelf_with(folder, small, map_of("Large001"), map_of("Large002")) as shelf:
        shelf.store.add_user(GREEDY_USER)
        yield shelf


@pytest.fixture(scope="module")
def service(shelf: Shelf) -> Iterator[Service]:
    settings = replace(shelf.settings, trusted_proxies=(ip_network(PROXY),))
    with Service(settings, shelf.token(), site_routes) as service:
        yield service


def at(address: str) -> dict[str, str]:
    return {"X-Forwarded-For": address}


def asked_while_full(
    service: Service, queue_name: str, owner: Hashable, path: str, clients: Sequence[dict[str, str]]
) -> list[int]:
    """Return the statuses that clients, given by their headers, get while an owner fills a queue.

    The last client must displace work of the owner; then all its work ends.
    """
    queue = service.application.application.context.queues.by_name()[queue_name]
    going_on = threading.Event()
    make = partial(going_on.wait, PATIENCE)

    async def ask() -> list[int]:
        filling: list[asyncio.Task[bool]] = []
        while not filling or not filling[-1].done():
            work = queue.result(object(), make, owner=lambda: owner)
            filling.append(asyncio.create_task(work))
            await asyncio.sleep(0)
        try:
            async with asyncio.timeout(PATIENCE):
                *others, last = clients
                refused = [await service.client.get(path, headers=one) for one in others]
                asked = asyncio.create_task(service.client.get(path, headers=last))
                while not filling[-2].done():
                    await asyncio.sleep(0.001)
                assert not asked.done()
        finally:
            going_on.set()
            await asyncio.gather(*filling, return_exceptions=True)
        return [one.status_code for one in (*refused, await asked)]

    return service.run(ask())


@pytest.mark.parametrize(("queue", "path"), OPEN)
def test_one_address_does_not_keep_others_out(service: Service, queue: str, path: str) -> None:
    clients = [at(GREEDY), at(f"{GREEDY}:99"), at(OTHER)]
    found = asked_while_full(service, queue, GREEDY, path, clients)
    assert found == [503, 503, 404 if "Nothing" in path else 200]


@pytest.mark.parametrize(("queue", "path"), WITH_TOKEN)
def test_one_user_does_not_keep_others_out(
    service: Service, shelf: Shelf, queue: str, path: str
) -> None:
    """Whatever token or address somebody uses."""
    greedy = [{"Authorization": f"Bearer {shelf.token(GREEDY_USER)}"} for _ in range(2)]
    clients = [greedy[0], {**greedy[1], **at(OTHER)}, service.authorization()]
    owner = user_named(shelf, GREEDY_USER).id
    assert asked_while_full(service, queue, owner, path, clients) == [503, 503, 200]


def test_devices_of_a_network_are_one_client(service: Service) -> None:
    clients = [at("2001:db8:0:7::1"), at("[2001:db8:0:7:8::2]:99"), at("2001:db8:0:8::1")]
    path = "/mindmaps/Large002/map-large002"
    assert asked_while_full(service, "documents", NETWORK, path, clients) == [503, 503, 200]


def test_the_session_of_a_page_counts_not_its_address(service: Service, shelf: Shelf) -> None:
    """Once this worker knows it: a full queue must not cause queries to the store."""
    cookie = service.application.application.context.sessions.session_cookie.name
    greedy, other = (
        {"Cookie": f"{cookie}={shelf.session(name)}", **at(GREEDY)}
        for name in (GREEDY_USER, READER)
    )
    for headers in (greedy, other):
        assert service.request("GET", "/account", headers=headers, signed=False).status_code == 200
    owner, path = user_named(shelf, GREEDY_USER).id, "/mindmaps/Large002/map-large002.opml"
    unknown = {"Cookie": f"{cookie}={new_token(SESSION_PREFIX)}", **at(GREEDY)}
    clients = [greedy, {**greedy, **at(OTHER)}, other]
    assert asked_while_full(service, "documents", owner, path, clients) == [503, 503, 200]
    path = "/mindmaps/Large002/map-large002.md"
    clients = [unknown, at(GREEDY), other]
    assert asked_while_full(service, "documents", GREEDY, path, clients) == [503, 503, 200]


def test_the_page_of_own_maps_waits_where_the_same_list_does(
    service: Service, shelf: Shelf
) -> None:
    """Its searches may take seconds, which must not delay signing in, for example."""
    cookie = service.application.application.context.sessions.session_cookie.name
    greedy, other = (
        {"Cookie": f"{cookie}={shelf.session(name)}"} for name in (GREEDY_USER, READER)
    )
    for headers in (greedy, other):
        assert service.request("GET", "/account", headers=headers, signed=False).status_code == 200
    owner = user_named(shelf, GREEDY_USER).id
    path = "/account/maps?query=plan"
    assert asked_while_full(service, "own_maps", owner, path, [greedy, other]) == [503, 200]


def test_searches_are_refused_unread_only_if_their_owner_has_most(shelf: Shelf) -> None:
    """Over RSGI, as Granian calls it. Without a token a search gets 401, unless refused unread."""
    with serve(shelf) as service:
        owner = user_named(shelf, GREEDY_USER).id
        known = {"Authorization": f"Bearer {shelf.token(GREEDY_USER)}"}
        assert service.get("/users/me", **known).status_code == 200
        unknown = {"Authorization": f"Bearer {new_token()}"}
        clients = [(GREEDY, known), (OTHER, known), (OTHER, unknown), (OTHER, {})]
        assert searched_while_full(service, owner, clients) == [503, 503, 401, 401]
        clients = [(GREEDY, {}), (f"{GREEDY}:1", unknown), (OTHER, {}), (GREEDY, known)]
        assert searched_while_full(service, GREEDY, clients) == [503, 503, 401, 200]


def searched_while_full(
    service: Service, owner: Hashable, clients: Sequence[tuple[str, dict[str, str]]]
) -> list[int]:
    """Return the statuses that clients get, by address and headers, while an owner searches."""
    application = service.application.application
    queue = application.context.queues.searches
    going_on = threading.Event()
    make = partial(going_on.wait, PATIENCE)

    async def search(address: str, headers: dict[str, str]) -> int:
        answer, scope = Answer(), Scope("/search", "query=soil", headers)
        scope.client = address
        await RSGIApplication(application).__rsgi__(scope, answer)
        return answer.status

    async def ask() -> list[int]:
        tasks = [queue.result(object(), make, owner=lambda: owner) for _ in range(2 + 256)]
        filling = [asyncio.ensure_future(task) for task in tasks]
        await asyncio.sleep(0)
        asked = [asyncio.ensure_future(search(*one)) for one in clients]
        await asyncio.sleep(0)
        going_on.set()
        await asyncio.gather(*filling, return_exceptions=True)
        return await asyncio.gather(*asked)

    return service.run(ask())
