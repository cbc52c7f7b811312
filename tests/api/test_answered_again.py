"""A cached response is sent again by a fast path, and is the same as without the cache.

The requests go through RSGI, as in `mapshelf serve`.
"""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from random import Random
from typing import Final

import pytest
from benchmarks.in_process import InProcess, Sent

from mapshelf.api.current_snapshot import LARGEST_CACHED, RESPONSES_SIZE, CachedSnapshot
from mapshelf.api.http import Response
from mapshelf.model import MapDraft
from mapshelf.settings import Budget, RateLimit
from mapshelf.site import site_routes
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.read import Snapshot
from tests.harness import READER, Service, Shelf, copied_shelf, outline_of, serve, shelf_with

FIRST = MapDraft(id="first001", title="First", outline=outline_of("First", "one", "two"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """A catalogue of one map, shared: do not change it."""
    with shelf_with(tmp_path_factory.mktemp("again"), FIRST) as shelf:
        yield shelf


@pytest.fixture(scope="module")
def served(shared: Shelf) -> Iterator[InProcess]:
    """The service of ``shared``, which has cached the responses that these tests request."""
    with InProcess(shared.settings) as running:
        for path in PATHS:
            for _ in range(3):
                assert running.request(path).status == 200
        yield running


pytestmark = pytest.mark.process

PATHS = ("/maps?limit=20", "/maps/first001", "/thumbnails/first001.png", "/users/me", "/suggest")


def plain(sent: Sent) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return a response without its request ID."""
    return sent.status, [row for row in sent.headers if row[0] != "x-request-id"], sent.body


@pytest.mark.parametrize("path", PATHS)
def test_a_cached_response_is_the_same_as_the_first(shared: Shelf, path: str) -> None:
    with InProcess(shared.settings) as fresh:
        answers = [fresh.request(path) for _ in range(4)]
    assert all(plain(one) == plain(answers[0]) for one in answers)
    assert len({dict(one.headers)["x-request-id"] for one in answers}) == 4


def test_a_cached_response_has_the_names_from_a_trusted_proxy(shared: Shelf) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    sent = {"x-request-id": "edge-17", "traceparent": trace}
    for trusted, named in (("127.0.0.1", True), ("192.0.2.0/24", False)):
        settings = replace(shared.settings, trusted_proxies=(ip_network(trusted),))
        with InProcess(settings) as service:
            for path in PATHS:
                for _ in range(3):
                    headers = dict(service.request(path, sent).headers)
                    assert (headers["x-request-id"] == "edge-17") == named
                    assert (headers.get("traceparent") == trace) == named


def test_a_cached_response_still_needs_a_token(shared: Shelf, served: InProcess) -> None:
    narrow = shared.token(scopes="account")
    for sent, status in (("", 401), ("Bearer wrong", 401), (f"Bearer {narrow}", 403)):
        for path in ("/maps?limit=20", "/maps/first001"):
            assert served.request(path, {"authorization": sent}).status == status
    other = {"authorization": f"Bearer {shared.token()}"}
    assert [served.request("/maps/first001", other).status for _ in range(2)] == [200, 200]
    # Pictures need no token.
    assert served.request("/thumbnails/first001.png", {"authorization": ""}).status == 200


SENT: Final = {
    "host": ("127.0.0.1:8000", "other.example", ""),
    "accept": ("", "*/*", "text/html", "application/json"),
    "accept-encoding": ("", "gzip", "gzip;q=0", "identity", "br, gzip"),
    "if-none-match": ("", "", "", "*", '"other"', 'W/"other"'),
    "range": ("", "bytes=0-1", "bytes=99999-"),
    "content-length": ("", "", "0", "7", "x"),
    "cookie": ("", "__Host-mapshelf_session=mss_none", "a=b"),
    "origin": ("", "https://other.example", "null"),
    "x-http-method-override": ("", "DELETE"),
    "x-forwarded-host": ("", "evil.example"),
    "x-request-id": ("", "mine"),
}
"""Headers of requests, with values that clients may send; empty ones are left out."""

ASKED_AGAIN: Final = (
    *("/maps?limit=20", "/maps/first001", "/maps/first001/outline.md", "/maps/first001/links"),
    *("/thumbnails/first001.png", "/maps/first001/drawing.svg", "/maps/first001/file"),
    *("/users/me", "/suggest", "/folders", "/tags", "/facets", "/search?query=one"),
    *("/maps%3Flimit=20", "/maps?limit=20&", "/maps/FIRST001", "/", "/feed.atom", "/healthz"),
)


@pytest.mark.slow
@pytest.mark.parametrize("private", [False, True])
def test_responses_are_the_same_with_and_without_the_fast_path(
    shared: Shelf, private: bool
) -> None:
    """A service with an access log builds every request in full; one without must respond the same.

    The requests are random, with a fixed seed.
    """
    random = Random(15)
    settings = replace(shared.settings, private=private)
    tokens = [shared.token(), shared.token(scopes="account"), shared.token(scopes="maps:write")]
    gone = shared.token()
    shared.store.revoke_token(shared.store.tokens(READER)[-1].id)
    callers = [f"Bearer {one}" for one in (*tokens, gone, f"{tokens[0][:-1]}x")]
    callers += [tokens[0], f"bearer  {tokens[0]}", f"Basic {tokens[0]}", ""]
    with InProcess(settings) as quick, InProcess(replace(settings, access_log=True)) as careful:
        statuses = set()
        for _ in range(3):
            for path in ASKED_AGAIN:
                quick.request(path, {"authorization": callers[0]})
        for _ in range(800):
            path, method = random.choice(ASKED_AGAIN), random.choice(("GET", "GET", "GET", "HEAD"))
            headers = {
                name: random.choice(values) if random.random() < 0.3 else values[0]
                for name, values in SENT.items()
            }
            headers["authorization"] = random.choice(callers)
            found, right = (one.request(path, headers, method) for one in (quick, careful))
            assert plain(found) == plain(right), (method, path, headers)
            statuses.add(found.status)
    assert statuses >= {200, 304, 400, 401, 403, 413}


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/maps?limit=20", "/users/me"])
def test_a_revoked_token_gets_no_cached_response(shared: Shelf, path: str) -> None:
    sent = {"authorization": f"Bearer {shared.token()}"}
    (revoked,) = shared.store.tokens(READER)[-1:]
    with InProcess(shared.settings) as running:
        for _ in range(3):
            assert running.request(path, sent).status == 200
        shared.store.revoke_token(revoked.id)
        running.wait(shared.store.tokens_version_age)
        for _ in range(3):
            assert running.request(path, sent).status == 401
        assert running.request(path).status == 200


def test_each_token_gets_the_profile_of_its_own_user(shared: Shelf, served: InProcess) -> None:
    other = {"authorization": f"Bearer {shared.token()}"}
    for _ in range(3):
        assert b'"UserName":"benchmark"' in served.request("/users/me").body
        assert b'"UserName":"reader"' in served.request("/users/me", other).body


@pytest.mark.parametrize("path", ["/maps?limit=20", "/maps/first001", "/thumbnails/first001.png"])
def test_a_matching_etag_gets_304_from_the_cache(served: InProcess, path: str) -> None:
    etag = dict(served.request(path).headers)["etag"]
    sent = served.request(path, {"if-none-match": etag})
    assert (sent.status, sent.body) == (304, b"")
    assert served.request(path, {"if-none-match": '"other"'}).status == 200


def test_cached_responses_follow_the_rules_of_http(served: InProcess) -> None:
    assert served.request("/maps/first001", {"host": ""}).status == 400
    assert served.request("/maps/first001", {"content-length": "many"}).status == 413
    head = served.request("/maps/first001", method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert served.request("/maps?limit=20", method="DELETE").status == 405


def test_rate_limits_count_cached_responses(shared: Shelf) -> None:
    limited = replace(shared.settings, rate_limits={Budget.API: RateLimit(5, 3600)})
    with InProcess(limited) as running:
        answers = [running.request("/maps/first001") for _ in range(6)]
    assert [one.status for one in answers] == [200] * 5 + [429]
    left = [dict(one.headers)["ratelimit"] for one in answers]
    assert len(set(left)) == len(left)


@pytest.mark.slow
def test_a_published_map_replaces_cached_responses_at_once(shelf: Shelf) -> None:
    shelf.put(FIRST)
    shelf.publish()
    with InProcess(shelf.settings) as running:
        for _ in range(3):
            assert b"First" in running.request("/maps/first001").body
        shelf.put(MapDraft(id="first001", title="Second"))
        shelf.publish()
        for _ in range(100):
            if b"Second" in running.request("/maps/first001").body:
                break
            running.wait(0.05)
        assert b"Second" in running.request("/maps/first001").body


# -- the cache -------------------------------------------------------------------------------


def test_the_least_recently_used_response_makes_room(shared: Shelf) -> None:
    directory = SnapshotDirectory(shared.settings.snapshots)
    kept = CachedSnapshot(Snapshot(directory.folder(directory.current())))
    size = LARGEST_CACHED - 10_000
    count = RESPONSES_SIZE // LARGEST_CACHED
    for number in range(count):
        kept.cache((f"/{number}", b""), Response(200, (), bytes(size)))
    assert kept.cached("/0", b"") is not None  # used now, so /1 was used longest ago
    for number in range(count, count + 3):
        kept.cache((f"/{number}", b""), Response(200, (), bytes(size)))
    there = [number for number in range(count + 3) if kept.cached(f"/{number}", b"")]
    assert 0 in there
    assert 1 not in there
    assert len(there) >= count - 1


def first_page(service: Service) -> str:
    """Return the home page, as a visitor sees it who is not signed in."""
    return service.request("GET", "/", signed=False).text


@pytest.mark.slow
def test_the_first_page_is_ready_with_a_new_snapshot(tmp_path: Path) -> None:
    with copied_shelf(tmp_path, FIRST) as shelf, serve(shelf, site_routes) as service:
        assert "First" in first_page(service)
        made = service.application.application.context.queues.pages.counts
        before = made.done
        shelf.put(MapDraft(title="Another"))
        shelf.publish()
        service.wait_until(lambda: "Another" in service.titles())
        assert "Another" in first_page(service)
        assert made.done == before


@pytest.mark.slow
def test_no_page_is_made_ahead_that_nobody_requested(tmp_path: Path) -> None:
    with copied_shelf(tmp_path, FIRST) as shelf, serve(shelf, site_routes) as service:
        made = service.application.application.context.queues.pages.counts
        shelf.put(MapDraft(title="Another"))
        shelf.publish()
        service.wait_until(lambda: "Another" in service.titles())
        assert "Another" in first_page(service)
        assert made.done == 1
