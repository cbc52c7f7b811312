"""Clients over a rate limit get 429 and the time to retry after; other clients notice nothing."""

import gc
import re
import struct
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Final

import httpx
import pytest

from mapshelf.api.rate_table import RateTable
from mapshelf.metrics.exposition import expose
from mapshelf.metrics.overview import look
from mapshelf.model import MapDraft
from mapshelf.settings import Budget, RateLimit
from mapshelf.site import site_routes
from mapshelf.tokens import new_token
from tests.cli.process import Mapshelf, serving
from tests.harness import Service, Shelf, copied_shelf, outline_of
from tests.metrics.exposed import parse

HOUR: Final = 3600
SOIL: Final = MapDraft(id="soil0001", title="Soil", outline=outline_of("Soil", "Sand"))


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with copied_shelf(tmp_path, SOIL) as full:
        yield full


def limited(shelf: Shelf, *, trusted: str = "", **limits: RateLimit) -> Service:
    """Return the service with these limits; ``_`` in a name stands for ``-``."""
    settings = replace(
        shelf.settings,
        rate_limits={Budget(name.replace("_", "-")): one for name, one in limits.items()},
        trusted_proxies=(ip_network(trusted),) if trusted else (),
    )
    return Service(settings, shelf.token(), site_routes)


def from_address(service: Service, address: str, path: str = "/") -> int:
    """Return the status of a request that a proxy forwards for a client with this address."""
    headers = {"x-forwarded-for": address}
    return service.request("GET", path, headers=headers, signed=False).status_code


@pytest.mark.slow
def test_responses_have_the_remaining_requests_of_a_token(shelf: Shelf) -> None:
    with limited(shelf, api=RateLimit(3, HOUR)) as service:
        first, second, third, fourth = (service.get("/maps?limit=1") for _ in range(4))
        for left, answer in ((2, first), (1, second), (0, third)):
            assert answer.status_code == 200
            found = re.fullmatch(r'"api";r=(\d+);t=(\d+)', answer.headers["ratelimit"])
            assert found is not None
            assert int(found[1]) == left
            assert (2 - left) * HOUR // 3 < int(found[2]) <= (3 - left) * HOUR // 3
            assert answer.headers["ratelimit-policy"] == '"api";q=3;w=3600'
            assert "RateLimit, RateLimit-Policy" in answer.headers["access-control-expose-headers"]
        assert fourth.status_code == 429
        assert fourth.json() == {
            "code": 429,
            "error": "rate_limited",
            "error_description": "You have sent too many requests; try again later.",
        }
        wait = int(fourth.headers["retry-after"])
        assert 0 < wait <= HOUR // 3
        assert fourth.headers["ratelimit"] == f'"api";r=0;t={wait}'
        # A token counts as the same however it is written.
        for spelling in (service.token, f"bearer {service.token}", f"BEARER   {service.token}"):
            assert service.get("/users/me", Authorization=spelling).status_code == 429
        other = service.get("/maps", Authorization=f"Bearer {shelf.token()}")
        assert (other.status_code, other.headers["ratelimit"][:9]) == (200, '"api";r=2')


@pytest.mark.slow
def test_without_a_valid_token_the_address_counts(shelf: Shelf) -> None:
    with limited(shelf, api=RateLimit(3, HOUR)) as service:
        refused = [
            service.request("GET", "/maps", signed=False).status_code,
            service.get("/maps", Authorization=f"Bearer {new_token()}").status_code,
            service.request("POST", "/oauth/token", signed=False).status_code,
            service.get("/maps", Authorization=f"Bearer {new_token()}").status_code,
            service.request("GET", "/openapi.json", signed=False).status_code,
        ]
        assert refused == [401, 401, 400, 429, 429]
        assert service.get("/maps").status_code == 200


def test_a_limit_is_text_at_the_token_endpoint(shelf: Shelf) -> None:
    """After a JSON object without a token, a desktop program would forget its refresh token."""
    with limited(shelf, api=RateLimit(1, HOUR)) as service:
        service.request("POST", "/oauth/token", signed=False)
        refused = service.request("POST", "/oauth/token", signed=False)
    assert refused.status_code == 429
    assert refused.headers["content-type"] == "text/plain; charset=utf-8"
    assert int(refused.headers["retry-after"]) > 0
    assert refused.text.endswith(".")


@pytest.mark.slow
def test_a_refused_client_may_retry_after_the_given_time(shelf: Shelf) -> None:
    with limited(shelf, api=RateLimit(1, 1)) as service:
        answers = (service.get("/maps") for _ in range(1000))
        refused = next(answer for answer in answers if answer.status_code == 429)
        time.sleep(int(refused.headers["retry-after"]))
        assert service.get("/maps").status_code == 200


@pytest.mark.slow
def test_each_kind_of_request_has_its_own_limit(shelf: Shelf) -> None:
    one = RateLimit(1, HOUR)
    with limited(shelf, api=one, pages=one, pictures=one, sign_in=one) as service:

        def statuses(method: str, path: str) -> list[int]:
            return [service.request(method, path, signed=False).status_code for _ in range(2)]

        assert statuses("GET", "/signin") == [200, 429]
        assert statuses("GET", "/thumbnails/soil0001.svg") == [200, 429]
        assert statuses("POST", "/signin") == [403, 429]  # a form without its CSRF token
        assert statuses("GET", "/users/me") == [401, 429]
        assert statuses("GET", "/healthz") == [200, 200]
        assert statuses("OPTIONS", "/maps") == [204, 204]
        assert statuses("GET", "/nothing") == [404, 404]
        # Caches may store pictures, so these must not have the client's remaining requests.
        assert service.get("/maps").headers["ratelimit"]
    with limited(shelf, pictures=RateLimit(9, HOUR)) as service:
        assert "ratelimit" not in service.get("/thumbnails/soil0001.svg").headers


def test_pages_over_the_limit_get_an_error_page(shelf: Shelf) -> None:
    with limited(shelf, pages=RateLimit(1, HOUR)) as service:
        service.get("/")
        page = service.get("/")
    assert page.status_code == 429
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-store"
    assert 0 < int(page.headers["retry-after"]) <= HOUR
    assert "Too many requests" in page.text
    assert re.search(r"Try again in \d\d minutes\.", page.text)


def test_behind_a_proxy_each_client_is_counted(shelf: Shelf) -> None:
    with limited(shelf, trusted="127.0.0.1", pages=RateLimit(1, HOUR)) as service:
        assert from_address(service, "192.0.2.1") == 200
        assert from_address(service, "192.0.2.2") == 200
        assert from_address(service, "192.0.2.1") == 429
        # The address that the client claims comes before the one that the proxy adds.
        assert from_address(service, "198.51.100.7, 192.0.2.1") == 429
        assert from_address(service, "2001:db8:1:2::3") == 200
        assert from_address(service, "2001:db8:1:2:ffff::4") == 429
        assert from_address(service, "2001:db8:1:3::3") == 200
    with limited(shelf, trusted="10.0.0.0/8", pages=RateLimit(1, HOUR)) as service:
        # The proxy is not trusted here, so the request counts for the proxy's own address.
        assert [from_address(service, f"192.0.2.{last}") for last in (3, 4)] == [200, 429]


@pytest.mark.slow
def test_long_forwarded_headers_take_no_memory(shelf: Shelf) -> None:
    """Only the end of ``X-Forwarded-For`` is from the proxy; a client sends kilobytes before it."""

    def ask(number: int) -> int:
        return from_address(service, f"{number:08}, " * 6_000 + "203.0.113.9")

    def taken() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    with limited(shelf, trusted="127.0.0.1", pages=RateLimit(200, HOUR)) as service:
        tracemalloc.start()
        try:
            assert {ask(number) for number in range(100)} == {200}
            before = taken()
            assert {ask(number) for number in range(100, 200)} == {200}
            assert taken() - before < 2_000_000  # the headers alone are six million bytes long
        finally:
            tracemalloc.stop()
        assert ask(200) == 429


def test_without_a_limit_nothing_is_different(shelf: Shelf) -> None:
    with limited(shelf) as service:
        plain = service.get("/maps")
    assert not shelf.settings.rates.exists()
    with limited(shelf, pages=RateLimit(1, HOUR)) as service:
        same = service.get("/maps")
    assert not [name for name in plain.headers if "ratelimit" in name]
    del plain.headers["x-request-id"], same.headers["x-request-id"]
    assert (plain.content, plain.headers) == (same.content, same.headers)


def test_refusals_are_counted_by_budget(shelf: Shelf) -> None:
    with limited(shelf, api=RateLimit(2, HOUR), pages=RateLimit(9, HOUR)) as service:
        for _ in range(5):
            service.get("/maps")
    found = parse(expose(look(shelf.settings.data, None, None)).decode())
    assert found.value("rate_limited_total", budget="api") == 3
    assert found.value("rate_limited_total", budget="pages") == 0
    assert found.value("errors_total", error="TooManyRequests") == 3


def test_counts_are_shared_with_workers_that_start_later(shelf: Shelf) -> None:
    with limited(shelf, api=RateLimit(2, HOUR)) as service:
        token = service.token
        with limited(shelf, api=RateLimit(2, HOUR)) as other:
            both = [one.get("/maps", Authorization=f"Bearer {token}") for one in (service, other)]
            assert [answer.headers["ratelimit"][:9] for answer in both] == [
                '"api";r=1',
                '"api";r=0',
            ]
    with limited(shelf, api=RateLimit(2, HOUR)) as later:
        assert later.get("/maps", Authorization=f"Bearer {token}").status_code == 429


@pytest.mark.slow
def test_counts_from_before_a_reboot_do_not_count(shelf: Shelf) -> None:
    with limited(shelf, api=RateLimit(1, HOUR)) as service:
        token = service.token
        service.get("/maps")
    # The clock started again at zero, so all stored times are far in the future.
    content = shelf.settings.rates.read_bytes()
    entries = struct.iter_unpack("=QQ", content[64:])
    future = time.monotonic_ns() + 10 * HOUR * 10**9
    moved = b"".join(struct.pack("=QQ", key, future if key else 0) for key, _ in entries)
    shelf.settings.rates.write_bytes(content[:64] + moved)
    with limited(shelf, api=RateLimit(1, HOUR)) as service:
        assert service.get("/maps", Authorization=f"Bearer {token}").status_code == 200
        assert service.get("/maps", Authorization=f"Bearer {token}").status_code == 429


def test_workers_count_for_themselves_if_the_file_cannot_be_made(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.settings.rates.mkdir()
    with limited(shelf, api=RateLimit(1, HOUR)) as service:
        assert [service.get("/maps").status_code for _ in range(2)] == [200, 429]
    assert "each worker counts requests for itself" in caplog.text


@pytest.mark.slow
def test_a_table_does_not_grow_and_remembers_those_who_used_most(tmp_path: Path) -> None:
    path = tmp_path / "rates"
    table = RateTable(path, buckets=8)
    size = path.stat().st_size
    greedy = table.key(b"greedy")
    table.set(greedy, table.find(greedy)[0], 1_000_000)
    for number in range(5000):
        stranger = table.key(b"stranger %d" % number)
        place, moment = table.find(stranger)
        assert moment == 0
        table.set(stranger, place, number)
        assert table.find(stranger) == (place, number)
    assert table.find(greedy)[1] == 1_000_000
    assert path.stat().st_size == size
    table.close()


@pytest.mark.process
def test_workers_of_a_node_count_together(tmp_path: Path) -> None:
    mapshelf = Mapshelf(tmp_path / "data")
    limit = ("--rate-limit", "api=20/3600", "--rate-limit", "pages=off")
    with serving(mapshelf, *limit, workers=2) as service:
        service.wait_until_ready()
        token = mapshelf.token("bob")
        headers = {"authorization": f"Bearer {token}"}
        statuses: list[int] = []
        workers: set[str] = set()
        # Each worker accepts some of the connections after it has started.
        while len(statuses) < 60 or len(workers) < 2:
            with httpx.Client(headers=headers, verify=False) as client:
                answer = client.get(f"{service.url}/users/me")
            statuses.append(answer.status_code)
            workers.add(answer.headers["x-request-id"].partition("-")[0])
            assert len(statuses) < 10_000
    assert statuses[:20] == [200] * 20
    assert set(statuses[20:]) == {429}
