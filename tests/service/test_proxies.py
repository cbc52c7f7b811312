"""Caches of nginx and Caddy, as in ``docs/deployment``, send no client what it may not see."""

import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import httpx
import pytest

from mapshelf.api.cookies import SESSION
from mapshelf.clock import milliseconds
from mapshelf.model import DAY
from mapshelf.tokens import SESSION_PREFIX, new_token, token_digest
from tests.cli.process import PATIENCE, Mapshelf, Service, free_port, serving
from tests.readers.samples import as_file, drawn, with_picture
from tests.service.proxies import Proxy, documented_caddy, documented_nginx, nginx, trust

pytestmark = pytest.mark.process

PICTURES = (
    "/thumbnails/{ID}.png",
    "/thumbnails/{ID}.svg?w=640",
    "/thumbnails/{ID}.png?source=file",
)
SIGNED = (
    "/maps",
    "/maps?limit=1&order_by=alpha",
    "/search?query=carried",
    "/suggest?query=carr",
    "/facets",
    "/categories",
    "/software",
    "/maps/{ID}",
    "/maps/{ID}/outline.json",
    "/maps/{ID}/outline.md",
    "/maps/{ID}/file",
    "/maps/{ID}/links",
    "/users/me",
)
"""What takes a token in every catalogue."""

PAGES = (
    "/",
    "/?query=carried",
    "/feed.atom",
    "/mindmaps/{ID}/carried",
    "/mindmaps/{ID}/carried.md",
    "/mindmaps/{ID}/carried/original",
    "/site/maps/{ID}.json",
    "/site/search?query=carried",
    "/maps/{ID}/drawing.svg",
)
"""What is only for who is signed in, in a private catalogue."""

# Configurations that operators may write around the lines that forward requests.
CAREFUL = """
    proxy_cache mapshelf;
    proxy_cache_bypass $http_authorization;
    proxy_no_cache $http_authorization;
"""
CARELESS = """
    proxy_cache mapshelf;
    proxy_cache_valid 200 10m;
"""
MORE_CARELESS = """
    proxy_cache mapshelf;
    proxy_cache_valid any 10m;
    proxy_cache_key $request_uri;
    proxy_cache_use_stale error timeout updating http_500 http_503;
    proxy_cache_background_update on;
    proxy_cache_revalidate on;
"""


def nginx_with(cache: str) -> Proxy:
    """Return nginx with a cache configuration in an otherwise minimal setup."""

    def run(url: str, folder: Path) -> AbstractContextManager[str]:
        port = free_port()
        server = (
            f"proxy_cache_path {folder}/cache keys_zone=mapshelf:1m;\n"
            f"server {{ listen 127.0.0.1:{port};\n"
            f"location / {{ proxy_pass {url}; {cache} }} }}\n"
        )
        return nginx(server, f"http://127.0.0.1:{port}", folder)

    return run


NGINX: dict[str, Proxy] = {
    "nginx": documented_nginx,
    "careful nginx": nginx_with(CAREFUL),
    "careless nginx": nginx_with(CARELESS),
    "more careless nginx": nginx_with(MORE_CARELESS),
}
PROXIES: dict[str, Proxy] = {**NGINX, "caddy": documented_caddy}


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Mapshelf:
    """A catalogue with one map, whose file contains a thumbnail."""
    folder = tmp_path_factory.mktemp("catalogue")
    file = folder / "carried.xmind"
    file.write_bytes(with_picture(as_file(drawn())))
    mapshelf = Mapshelf(folder / "data")
    mapshelf.run("import", file)
    return mapshelf


@pytest.fixture(scope="module")
def private(catalogue: Mapshelf) -> Iterator[Service]:
    """The catalogue as a private service, which needs a token."""
    with serving(catalogue, "--private") as service:
        service.wait_until_ready()
        yield service


@pytest.fixture(scope="module")
def public(catalogue: Mapshelf, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A copy of the catalogue as a public service."""
    copied = Mapshelf(tmp_path_factory.mktemp("copy") / "data")
    shutil.copytree(catalogue.data, copied.data)
    with serving(copied, token=copied.token()) as service:
        service.wait_until_ready()
        yield service


class Client:
    """Sends requests with a token, with a session cookie, or without credentials."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def get(self, url: str, token: str = "", session: str = "") -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if session:
            headers["Cookie"] = f"{SESSION}={session}"
        answer = self._client.get(url, headers=headers)
        self._client.cookies.clear()
        return answer

    def post(self, url: str, cookie: str, **fields: str) -> httpx.Response:
        answer = self._client.post(url, data=fields, headers={"Cookie": cookie})
        self._client.cookies.clear()
        return answer


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with httpx.Client(trust_env=False, verify=trust(), timeout=PATIENCE) as client:
        yield Client(client)


def new_session(catalogue: Mapshelf) -> str:
    """Return the secret of a new session."""
    secret, end = new_token(SESSION_PREFIX), milliseconds() + DAY
    with closing(catalogue.store()) as store:
        user = store.password_of("alice")
        assert user is not None
        store.add_session(user.user.id, token_digest(secret), "test", end, None)
    return secret


def addresses(proxy: str, service: Service, paths: tuple[str, ...]) -> list[str]:
    """Return the URLs of ``paths`` behind a proxy, filled in for the only map."""
    (found,) = service.get("/maps")[0]
    return [proxy + path.replace("{ID}", found["ID"]) for path in paths]


@pytest.mark.parametrize("proxy", PROXIES)
def test_a_proxy_gives_nothing_private_without_a_token(
    proxy: str, private: Service, client: Client, tmp_path: Path
) -> None:
    """Request each URL twice with a token, so that it could be cached, and then without."""
    with PROXIES[proxy](private.url, tmp_path) as address:
        for url in addresses(address, private, (*SIGNED, *PICTURES)):
            given = [client.get(url, private.token) for _ in range(2)]
            assert [one.status_code for one in given] == [200, 200], url
            for token in ("", "wrong"):
                refused = client.get(url, token)
                assert refused.status_code == 401, f"{url} is sent without a token"
                assert refused.json()["error"] == "invalid_request"
            after = client.get(url, private.token)
            assert (after.status_code, after.content) == (200, given[0].content), url


@pytest.mark.parametrize("proxy", PROXIES)
def test_a_proxy_gives_no_page_of_a_private_catalogue_without_a_session(
    proxy: str, catalogue: Mapshelf, private: Service, client: Client, tmp_path: Path
) -> None:
    session = new_session(catalogue)
    with PROXIES[proxy](private.url, tmp_path) as address:
        for url in addresses(address, private, (*PAGES, *PICTURES)):
            given = [client.get(url, session=session) for _ in range(2)]
            assert [one.status_code for one in given] == [200, 200], url
            for other in ("", new_token(SESSION_PREFIX)):
                refused = client.get(url, session=other)
                assert refused.status_code in (303, 401), f"{url} is sent without a session"
                assert "carried" not in refused.text
            after = client.get(url, session=session)
            assert after.status_code == 200, url
            assert without_form_tokens(after) == without_form_tokens(given[0]), url


def without_form_tokens(answer: httpx.Response) -> bytes:
    """Return a page without the form tokens, which differ in each response."""
    return re.sub(rb'name="csrf_token" value="[^"]+"', b"", answer.content)


@pytest.mark.parametrize("proxy", PROXIES)
def test_a_proxy_sends_nobody_data_of_another_user(
    proxy: str, catalogue: Mapshelf, private: Service, client: Client, tmp_path: Path
) -> None:
    session = new_session(catalogue)
    with PROXIES[proxy](private.url, tmp_path) as address:
        for path in ("/account", "/account/tokens"):
            for _ in range(2):
                assert client.get(address + path, session=session).status_code == 200
            assert client.get(address + path).status_code == 303
        cookies = [client.get(f"{address}/signin").headers["Set-Cookie"] for _ in range(3)]
        assert len(set(cookies)) == 3


@pytest.mark.parametrize("proxy", PROXIES)
def test_people_sign_in_through_a_proxy(
    proxy: str, catalogue: Mapshelf, private: Service, client: Client, tmp_path: Path
) -> None:
    name = f"user of {proxy}"
    (link,) = catalogue.lines("user", "add", name)
    path, password = link[link.index("/link/") :], "correct horse battery"
    with PROXIES[proxy](private.url, tmp_path) as address:
        page = client.get(address + path)
        cookie = page.headers["Set-Cookie"].partition(";")[0]
        (token,) = re.findall(r'name="csrf_token" value="([^"]+)"', page.text)
        answer = client.post(address + path, cookie, csrf_token=token, new=password, again=password)
        assert answer.status_code == 303, answer.text
        session = answer.headers["Set-Cookie"].partition(";")[0].removeprefix(f"{SESSION}=")
        account = client.get(address + answer.headers["Location"], session=session)
        assert name in account.text


@pytest.mark.parametrize("proxy", PROXIES)
def test_a_proxy_gives_no_answer_of_the_api_without_a_token(
    proxy: str, public: Service, client: Client, tmp_path: Path
) -> None:
    with PROXIES[proxy](public.url, tmp_path) as address:
        for url in addresses(address, public, SIGNED):
            assert client.get(url, public.token).status_code == 200, url
            assert client.get(url).status_code == 401, url


@pytest.mark.parametrize("proxy", NGINX)
def test_pictures_for_anybody_come_from_the_cache(
    proxy: str, public: Service, client: Client, tmp_path: Path
) -> None:
    """The request ID in a response shows whether it was made for this request."""
    with PROXIES[proxy](public.url, tmp_path) as address:
        for url in addresses(address, public, PICTURES):
            first, second = client.get(url), client.get(url)
            assert (first.status_code, second.status_code) == (200, 200)
            assert second.content == first.content
            assert second.headers["X-Request-Id"] == first.headers["X-Request-Id"], url
