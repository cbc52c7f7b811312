"""An overloaded worker queues or refuses slow requests, and still answers fast ones."""

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import httpx
import orjson
import pytest

from mapshelf.api import admission, incoming, request_handler, rsgi
from mapshelf.model import MapDraft
from mapshelf.site import site_routes
from mapshelf.snapshot.read.relevance_order import BLOCK
from tests.api.rsgi import Answer, Scope
from tests.harness import Service, serve, shelf_with


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service that is overloaded as soon as two requests arrive at the same moment."""
    monkeypatch.setattr(request_handler, "CROWDED_AFTER", 0.0)
    drafts = (MapDraft(title=f"Soil {number}") for number in range(3))
    with shelf_with(tmp_path, *drafts) as shelf, serve(shelf, site_routes) as running:
        running.get("/maps")
        yield running


def asked_at_once(service: Service, *paths: str) -> list[httpx.Response]:
    """Return the responses to requests that all arrive before the first is answered."""

    async def ask() -> list[httpx.Response]:
        headers = service.authorization()
        return await asyncio.gather(*(service.client.get(path, headers=headers) for path in paths))

    return service.run(ask())


def test_requests_wait_for_their_turn(service: Service) -> None:
    answers = asked_at_once(service, *(f"/maps?limit=1&offset={n % 3}&n={n}" for n in range(40)))
    assert [answer.status_code for answer in answers] == [200] * 40
    assert {answer.json()[0]["Title"] for answer in answers} == {"Soil 0", "Soil 1", "Soil 2"}


def test_requests_that_would_wait_too_long_are_refused_at_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "LONGEST_WAIT", -1.0)
    monkeypatch.setattr(admission, "FEWEST", 0)
    first, second, page, cached, health = asked_at_once(
        service, "/maps?n=1", "/maps?n=2", "/?n=3", "/maps", "/healthz"
    )
    assert first.status_code == 200
    assert second.status_code == page.status_code == 503
    assert second.json()["error"] == "temporarily_unavailable"
    assert "The service is overloaded" in page.text
    for refused in (second, page):
        assert refused.headers["retry-after"] == "1"
        assert refused.headers["cache-control"] == "no-store"
        assert refused.headers["x-request-id"]
    # Requests that cost less than a refusal, and those of monitoring, are answered.
    assert cached.status_code == health.status_code == 200
    assert service.get("/maps?n=2").status_code == 200  # a moment later


def test_a_few_requests_are_never_refused(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "LONGEST_WAIT", -1.0)
    paths = [f"/maps?n={number}" for number in range(admission.FEWEST)]
    assert {answer.status_code for answer in asked_at_once(service, *paths)} == {200}


def test_requests_of_one_client_do_not_keep_others_out(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "LONGEST_WAIT", -1.0)
    monkeypatch.setattr(admission, "FEWEST", 3)

    async def ask() -> list[int]:
        async with (
            client_at(service, "192.0.2.1") as greedy,
            client_at(service, "192.0.2.2") as other,
        ):
            asking = [
                asyncio.ensure_future(client.get(f"/?n={number}"))
                for number, client in enumerate((*[greedy] * 5, other, greedy, other, other))
            ]
            return [answer.status_code for answer in await asyncio.gather(*asking)]

    # The first one need not wait, and three may: in the end, two of the one and one of the other.
    served = [True, True, True, False, False, True, False, False, False]
    assert service.run(ask()) == [200 if one else 503 for one in served]
    assert service.get("/maps?n=9").status_code == 200  # a moment later


def test_a_client_that_hangs_up_leaves_its_place_at_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "LONGEST_WAIT", -1.0)
    monkeypatch.setattr(admission, "FEWEST", 3)
    monkeypatch.setattr(admission, "AT_ONCE", 0)

    async def ask() -> list[int]:
        async def asked(*numbers: int) -> list[asyncio.Task[httpx.Response]]:
            tasks = [asyncio.create_task(service.client.get(f"/?n={number}")) for number in numbers]
            await asyncio.sleep(0)
            return tasks

        served, waits, *left = await asked(1, 2, 3, 4)
        for one in left:
            one.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        further = await asked(5, 6, 7)
        monkeypatch.setattr(admission, "AT_ONCE", 4)
        answers = await asyncio.gather(served, waits, *further)
        return [answer.status_code for answer in answers]

    assert service.run(ask()) == [200, 200, 200, 200, 503]


def client_at(service: Service, address: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(service.application, client=(address, 1234))
    return httpx.AsyncClient(transport=transport, base_url=service.client.base_url)


def test_a_client_that_hangs_up_takes_no_turn_in_the_queue(service: Service) -> None:
    async def ask() -> httpx.Response:
        headers = service.authorization()
        asking = [
            asyncio.ensure_future(service.client.get(f"/maps?n={number}", headers=headers))
            for number in range(20)
        ]
        await asyncio.sleep(0)
        for one in asking[1:-1]:
            one.cancel()
        return await asking[-1]

    assert service.run(ask()).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/maps", "/search", "/suggest", "/facets"])
def test_searches_are_refused_unread_while_too_many_wait(tmp_path: Path, path: str) -> None:
    """Over RSGI, as Granian calls it. Without a token a search gets 401, unless refused unread."""
    with shelf_with(tmp_path, MapDraft(title="Soil")) as shelf, serve(shelf) as service:
        application = service.application.application
        searches, token = application.context.queues.searches, service.authorization()
        finish = threading.Event()

        async def ask(path: str, query: str, headers: dict[str, str]) -> Answer:
            answer = Answer()
            scope = Scope(path, query, headers)
            await rsgi.RSGIApplication(application).__rsgi__(scope, answer)
            return answer

        async def ask_while_full() -> list[Answer]:
            # Each has another owner, so that nobody makes room.
            owners = (partial(str, number) for number in range(2 + 256))
            tasks = (searches.result(object(), finish.wait, owner=one) for one in owners)
            waiting = [asyncio.ensure_future(task) for task in tasks]
            await asyncio.sleep(0)  # now they wait, or run
            try:
                return [
                    await ask(path, "query=soil", {}),
                    await ask("/maps", "limit=1", token),
                    await ask("/maps", "limit=1", {}),
                    await ask("/healthz", "", {}),
                ]
            finally:
                finish.set()
                await asyncio.gather(*waiting)

        refused, *others = service.run(ask_while_full())
        assert [refused.status, *(one.status for one in others)] == [503, 200, 401, 200]
        assert orjson.loads(refused.body)["error"] == "temporarily_unavailable"
        names = [name for name, _ in refused.headers]
        assert {"retry-after", "x-request-id", "access-control-allow-origin"} <= set(names)
        assert service.run(ask(path, "query=soil", {})).status == 401


LARGE_BODY: Final = {"Content-Length": str(rsgi.SMALL_BODY + 1)}


@pytest.mark.parametrize(
    ("method", "path", "media_type"),
    [
        ("POST", "/signin", "text/plain; charset=utf-8"),
        ("POST", "/maps", "application/json"),
        ("PATCH", "/maps/abcdefgh", "application/json"),
    ],
)
def test_bodies_of_one_client_are_refused_unread(
    service: Service, monkeypatch: pytest.MonkeyPatch, method: str, path: str, media_type: str
) -> None:
    """Over RSGI, as Granian calls it. These bodies never arrive, so reading them would not end."""
    monkeypatch.setattr(admission, "LONGEST_WAIT", -1.0)
    monkeypatch.setattr(request_handler, "MOST_DRAINED", 2)
    application = service.application.application
    handler = application.handler

    def send(address: str, headers: dict[str, str]) -> "asyncio.Future[Answer]":
        scope, answer = Scope(path, "", headers, method), Answer()
        scope.client = f"{address}:5000"

        async def sent() -> Answer:
            await rsgi.RSGIApplication(application).__rsgi__(scope, answer)
            return answer

        return asyncio.ensure_future(sent())

    async def fill() -> None:
        monkeypatch.setattr(admission, "FEWEST", 1000)
        turns = (handler.admission.turn(lambda: "192.0.2.1") for _ in range(200))
        waiting.extend([asyncio.ensure_future(turn) for turn in turns])
        await asyncio.sleep(0)
        monkeypatch.setattr(admission, "FEWEST", 1)

    async def ask() -> tuple[list[Answer], int]:
        await fill()
        sent = [send("192.0.2.1", {"Content-Length": "100"}), send("192.0.2.1", {})]
        others = [send("192.0.2.1", LARGE_BODY), send("192.0.2.1", LARGE_BODY)]
        await asyncio.sleep(0.01)  # now these two are waiting for their bodies
        await fill()
        sent.append(send("192.0.2.1", LARGE_BODY))
        others.append(send("192.0.2.2", {"Content-Length": "100"}))
        await asyncio.sleep(0)
        done = sum(one.done() for one in others)
        for one in others:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return [one.result() for one in sent], done

    waiting: list[asyncio.Future[None]] = []
    refused, others = service.run(ask())
    assert not others, "more were refused unread"
    for answer in refused:
        headers = dict(answer.headers)
        assert answer.status == 503
        assert headers["content-type"] == media_type
        assert headers["connection"] == "close"
        assert headers["retry-after"]
        assert headers["x-request-id"]
        assert ("access-control-allow-origin" in headers) == (path != "/signin")


@pytest.mark.parametrize(
    ("pieces", "length", "status"),
    [
        ((b"abc",), 100, 503),
        ((b"abc", b"de"), 5, 200),
        (None, 5, 408),
        ((b"x" * 60_000,) * 2, None, 413),
        ((b"abc",), None, 200),
    ],
)
def test_a_body_that_nobody_needs_is_received_first(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    pieces: tuple[bytes, ...] | None,
    length: int | None,
    status: int,
) -> None:
    """Over RSGI, as Granian calls it: before, it does not report a client that hangs up."""
    monkeypatch.setattr(incoming, "DISCARDED_WITHIN", 0.05)
    application, answer = service.application.application, Answer()
    answer.pieces = pieces
    sent = {"Content-Length": str(length)} if length else {"Transfer-Encoding": "chunked"}
    scope = Scope("/maps", "", {**service.authorization(), **sent})
    service.run(rsgi.RSGIApplication(application).__rsgi__(scope, answer))
    assert answer.status == status


@pytest.mark.slow
def test_a_search_that_sorts_many_ties_leaves_the_event_loop(tmp_path: Path) -> None:
    """So do all searches that may need a correction. Other one-word searches do not."""
    few = [MapDraft(title="green tea") for _ in range(BLOCK)]
    many = [MapDraft(title="milk") for _ in range(20 * BLOCK)]
    with shelf_with(tmp_path, *few, *many) as shelf, serve(shelf) as service:
        searches = service.application.application.context.queues.searches

        def in_threads(**query: object) -> int:
            before = searches.counts.done
            assert service.maps(limit=5, **query).status_code == 200
            return searches.counts.done - before

        assert in_threads(query="tea") == in_threads(query="gre") == 0
        assert in_threads(query="milk") == 1
        assert in_threads(query="milk", offset=5) == 0, "their order is cached now"
        assert in_threads(query="milk", order_by="alpha") == 0
        assert in_threads(query="mylk") == in_threads(query="tea", owner="nobody") == 1
