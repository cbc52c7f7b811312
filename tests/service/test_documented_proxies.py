"""nginx and Caddy as in ``docs/deployment``, except caches: sizes, IDs, addresses and TLS."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Semaphore, Thread
from typing import Any, NamedTuple

import httpx
import pytest

from mapshelf.api.cookies import FORM, PROVIDER, SESSION
from mapshelf.service.accept_queue import BODY
from mapshelf.site.flash_secret import MADE
from mapshelf.tokens import new_token, token_digest
from tests.api.publishing import plan
from tests.cli.process import PATIENCE, Mapshelf, Service, serving, status_of, wait_for
from tests.service.proxies import DEPLOYMENT, Proxy, documented_caddy, documented_nginx, trust

pytestmark = pytest.mark.process

PROXIES: dict[str, Proxy] = {"nginx": documented_nginx, "caddy": documented_caddy}
CLIENT = "127.0.0.3"
"""From where the client asks: an address of this machine that the proxies do not have."""


class Behind(NamedTuple):
    """A service behind a proxy.

    Attributes:
        client: sends requests through the proxy, with a token that may write.
        log: the service's log, with a JSON object per line.
        folder: the folder of the proxy.
    """

    client: httpx.Client
    log: Path
    folder: Path

    def logged(self, request_id: str) -> dict[str, Any]:
        """Return the line of a request in the access log."""
        found: list[dict[str, Any]] = []

        def is_there() -> bool:
            lines = map(json.loads, self.log.read_text("utf-8").splitlines())
            found[:] = [line for line in lines if line.get("request_id") == request_id]
            return bool(found)

        wait_for(is_there)
        return found[0]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Path]]:
    """A service that trusts the proxies, and the path of its log."""
    folder = tmp_path_factory.mktemp("catalogue")
    mapshelf, token = Mapshelf(folder / "data"), new_token()
    with closing(mapshelf.store()) as store:
        store.add_user("ann")
        store.add_token(
            "ann", token_digest(token), label="", scopes="maps maps:write", expires=None
        )
    options = "--trusted-proxy 127.0.0.1 --log-format json --access-log"
    options += " --base-url https://maps.example.org"
    with (
        (folder / "log").open("wb") as log,
        serving(mapshelf, *options.split(), token=token, log=log) as service,
    ):
        wait_for(lambda: status_of(f"{service.url}/readyz") == 200)
        yield service, folder / "log"


@pytest.fixture(scope="module", params=PROXIES)
def behind(
    served: tuple[Service, Path],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Behind]:
    service, log = served
    folder = tmp_path_factory.mktemp("proxy")
    with (
        PROXIES[request.param](service.url, folder) as address,
        httpx.Client(
            base_url=address,
            headers={"Authorization": f"Bearer {service.token}"},
            transport=httpx.HTTPTransport(local_address=CLIENT, verify=trust()),
            timeout=PATIENCE,
        ) as client,
    ):
        yield Behind(client, log, folder)


def test_the_address_of_the_client_gets_through(behind: Behind) -> None:
    answer = behind.client.get("/maps", headers={"X-Forwarded-For": "192.0.2.1"})
    assert answer.status_code == 200
    assert behind.logged(answer.headers["X-Request-Id"])["address"] == CLIENT


def test_no_client_passes_for_the_proxy(behind: Behind) -> None:
    """Granian drops values that are not ASCII, and with them the address that nginx appends."""
    answer = behind.client.get("/maps", headers=[(b"X-Forwarded-For", b"\xff")])
    if answer.status_code != 400:  # Caddy drops what the client says
        assert behind.logged(answer.headers["X-Request-Id"])["address"] == CLIENT


def test_requests_have_the_name_that_the_proxy_gives_them(behind: Behind) -> None:
    """Otherwise clients could write the request IDs of others into the log."""
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    headers = {"X-Request-Id": "of-the-client", "Traceparent": trace}
    answer = behind.client.get("/maps", headers=headers)
    name = answer.headers["X-Request-Id"]
    assert "traceparent" not in answer.headers
    assert re.fullmatch(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name)
    line = behind.logged(name)
    assert (line["path"], line.get("trace_id")) == ("/maps", None)


def test_browsers_come_back_by_https_only(behind: Behind) -> None:
    assert behind.client.get("/").headers["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.parametrize(
    "cookies",
    [
        "other=ü; {own}",
        "{own}; other=ü",
        "mapshelf_form=x; ü={own}; {own}; also=ß",
        "__Hüost-mapshelf_form=foreign; {own}",
        "other=plain; {own}",
        "; ".join(f"a{number}={'x' * 4000}" for number in range(5)) + "; {own}",
        "{own}; " + "; ".join(f"a{number}=b" for number in range(2_000)),
        "other=a __Host-mapshelf_form=foreign; {own}",
    ],
)
def test_cookies_of_other_hosts_of_the_domain_do_not_sign_out(behind: Behind, cookies: str) -> None:
    """Granian drops a Cookie header that is not ASCII, for example."""
    behind.client.cookies.clear()
    page = behind.client.get("/signin")
    own = page.headers["Set-Cookie"].partition(";")[0]
    assert own.startswith("__Host-mapshelf_form=")
    behind.client.cookies.clear()
    sent = cookies.format(own=own).encode()
    again = behind.client.get("/signin", headers=[(b"Cookie", sent)])
    assert again.status_code == 200
    assert "Set-Cookie" not in again.headers, "the browser's own cookie got through"


def test_nginx_knows_each_cookie_by_name() -> None:
    configuration = (DEPLOYMENT / "nginx.conf").read_text("utf-8")
    named = re.findall(r">__Host-(\w+)=", configuration)
    assert sorted(named) == sorted([SESSION, FORM, PROVIDER, MADE])


def test_visitors_of_one_page_do_not_wait_for_each_other() -> None:
    """With a cache lock, requests for an uncached page wait half a second for each other."""
    lines = (DEPLOYMENT / "nginx.conf").read_text("utf-8").splitlines()
    assert not [line for line in lines if line.strip().startswith("proxy_cache_lock")]


def test_http_is_redirected_to_https(served: tuple[Service, Path], tmp_path: Path) -> None:
    with documented_nginx(served[0].url, tmp_path):
        port = (tmp_path / "plain").read_text()
        answer = httpx.get(f"http://127.0.0.1:{port}/?query=x", trust_env=False)
    assert (answer.status_code, answer.headers["Location"]) == (301, "https://127.0.0.1/?query=x")


@contextmanager
def overloaded(listed: Semaphore, free: Event) -> Iterator[str]:
    """Yield the address of a server that answers lists once ``free`` is set, all else at once.

    It releases ``listed`` for each request for a list.
    """

    class Overloaded(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/maps"):
                listed.release()
                assert free.wait(PATIENCE)
            self.send_response(200)
            self.end_headers()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Overloaded) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def client_at(own: str, address: str) -> httpx.Client:
    """Return a client with the address ``own``."""
    transport = httpx.HTTPTransport(local_address=own, verify=trust())
    return httpx.Client(base_url=address, transport=transport, timeout=PATIENCE)


def test_nginx_refuses_the_lists_that_would_wait_and_nothing_else(tmp_path: Path) -> None:
    listed, free = Semaphore(0), Event()
    with (
        overloaded(listed, free) as url,
        documented_nginx(url, tmp_path, ("max_conns=64", "max_conns=2")) as address,
        httpx.Client(base_url=address, verify=trust(), trust_env=False, timeout=PATIENCE) as client,
        ThreadPoolExecutor(2) as pool,
    ):
        waiting = [pool.submit(client.get, "/maps?limit=1") for _ in range(2)]
        assert all(listed.acquire(timeout=PATIENCE) for _ in waiting)
        refused = client.get("/maps?query=x")
        assert client.get("/").status_code == 200
        assert client.post("/maps", content=b"a map").status_code == 201
        free.set()
        assert [one.result().status_code for one in waiting] == [200, 200]
        assert client.get("/maps").status_code == 200
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    assert refused.headers["Content-Type"] == "application/json"
    assert refused.headers["Strict-Transport-Security"]
    assert refused.content == BODY


def test_nginx_gives_one_client_not_all_connections_for_lists(tmp_path: Path) -> None:
    listed, free = Semaphore(0), Event()
    with (
        overloaded(listed, free) as url,
        documented_nginx(
            url, tmp_path, ("max_conns=64", "max_conns=4"), ("lists_of 32", "lists_of 2")
        ) as address,
        httpx.Client(base_url=address, verify=trust(), trust_env=False, timeout=PATIENCE) as client,
        client_at("127.0.0.2", address) as other,
        ThreadPoolExecutor(3) as pool,
    ):
        waiting = [pool.submit(client.get, "/maps?limit=1") for _ in range(2)]
        assert all(listed.acquire(timeout=PATIENCE) for _ in waiting)
        refused = client.get("/maps?query=x")
        assert client.post("/maps", content=b"a map").status_code == 201
        waiting.append(pool.submit(other.get, "/maps"))
        assert listed.acquire(timeout=PATIENCE)
        free.set()
        assert [one.result().status_code for one in waiting] == [200, 200, 200]
    assert (refused.status_code, refused.content) == (503, BODY)
    assert refused.headers["Retry-After"] == "1"


def test_large_uploads_pass_through_the_proxies(behind: Behind) -> None:
    """The default limits of the proxies would refuse them. The title makes each upload unique."""
    title = behind.folder.name
    content = plan(title).replace(b"</map>", b"<!--" + b"x" * (3 << 20) + b"--></map>")
    answer = behind.client.post("/maps", files={"map": (f"{title}.mm", content)})
    assert answer.status_code == 201, answer.text


def test_a_query_is_as_long_as_mapshelf_takes_it(behind: Behind) -> None:
    query = "%E6%97%A5" * 500
    answer = behind.client.get(f"/maps?query={query}&limit=1")
    assert answer.status_code == 200, answer.text
