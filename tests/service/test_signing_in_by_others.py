"""An OpenID provider or nginx signs users in, with the service in its own process.

nginx runs as in ``docs/signing-in.md``. If it is not installed, its tests are skipped.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from mapshelf.cli.sign_in_options import SECRET
from tests.cli.process import PATIENCE, REPOSITORY, Mapshelf, Service, free_port, serving
from tests.service.proxies import nginx, put
from tests.site.people.openid_provider import CLIENT_ID, CLIENT_SECRET, small_provider

pytestmark = pytest.mark.process

DOCUMENT = (REPOSITORY / "docs" / "signing-in.md").read_text("utf-8")
HEADER = "X-Remote-User"


@pytest.fixture(scope="module")
def mapshelf(tmp_path_factory: pytest.TempPathFactory) -> Mapshelf:
    return Mapshelf(tmp_path_factory.mktemp("catalogue") / "data")


@pytest.fixture(scope="module")
def behind(mapshelf: Mapshelf) -> Iterator[Service]:
    options = ("--trusted-proxy", "127.0.0.1", "--proxy-user-header", HEADER, "--proxy-auto-create")
    with serving(mapshelf, *options, "--private") as service:
        service.wait_until_ready()
        yield service


@contextmanager
def browser(address: str, user: str = "", *, source: str = "127.0.0.1") -> Iterator[httpx.Client]:
    """Yield a client that follows redirects, and has a password for nginx."""
    transport = httpx.HTTPTransport(local_address=source)
    signed = httpx.BasicAuth(user.encode(), b"word") if user else None
    with httpx.Client(
        base_url=address,
        transport=transport,
        auth=signed,
        trust_env=False,
        timeout=PATIENCE,
        follow_redirects=True,
    ) as client:
        yield client


@contextmanager
def documented_nginx(service: Service, folder: Path, *users: str) -> Iterator[str]:
    """Run nginx as documented for these users, except without a certificate."""
    (found,) = re.findall(r"^```nginx\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    port = free_port()
    passwords = folder / "users"
    passwords.write_text("".join(f"{user}:{{PLAIN}}word\n" for user in users), "utf-8")
    server = put(
        found,
        ("listen 443 ssl", f"listen 127.0.0.1:{port}"),
        ("ssl_certificate /", "# /"),
        ("ssl_certificate_key /", "# /"),
        ("/etc/nginx/mapshelf-users", str(passwords)),
        ("http://127.0.0.1:8000", service.url),
    )
    with nginx(server, f"http://127.0.0.1:{port}", folder) as address:
        yield address


def test_nginx_signs_people_in(behind: Service, tmp_path: Path) -> None:
    with documented_nginx(behind, tmp_path, "ann", "bob.b", "zoë") as proxy:
        with browser(proxy, "zoë") as person:
            assert person.get("/account").url.path == "/signin", "only ASCII names get through"
        for name in ("ann", "bob.b"):
            with browser(proxy, name) as person:
                page = person.get("/account")
                assert page.status_code == 200
                assert f">{name}</h1>" in page.text
                assert person.get("/users/me").json()["UserName"] == name
                assert person.get("/").status_code == 200


def test_nginx_lets_no_client_choose_its_user(behind: Service, tmp_path: Path) -> None:
    with documented_nginx(behind, tmp_path, "ann") as proxy:
        claims = {HEADER: "admin", HEADER.lower(): "admin"}
        with browser(proxy) as stranger:
            assert stranger.get("/account", headers=claims).status_code == 401
            tokens = {"Authorization": "Bearer msh_x", **claims}
            page = stranger.get("/account", headers=tokens)
            assert (page.status_code, page.url.path) == (200, "/signin")
            assert stranger.get("/users/me", headers=tokens).status_code == 401
            valid = {"Authorization": f"Bearer {behind.token}", **claims}
            assert stranger.get("/users/me", headers=valid).json()["UserName"] == "alice"
        with browser(proxy, "ann") as person:
            assert ">ann</h1>" in person.get("/account", headers=claims).text
            named = person.get("/", headers={"X-Request-Id": "of-the-client"})
            assert named.headers["X-Request-Id"] != "of-the-client"


def test_the_header_from_elsewhere_is_ignored(behind: Service, tmp_path: Path) -> None:
    with documented_nginx(behind, tmp_path, "ann") as proxy, browser(proxy, "ann") as person:
        person.get("/account")
        session = dict(person.cookies)
    with browser(behind.url, source="127.0.0.2") as stranger:
        for cookies in ({}, session):
            stranger.cookies.update(cookies)
            page = stranger.get("/account", headers={HEADER: "ann", "X-Forwarded-For": "127.0.0.1"})
            assert (page.status_code, page.url.path) == (200, "/signin")


def test_forms_behind_nginx_need_their_token(behind: Service, tmp_path: Path) -> None:
    with documented_nginx(behind, tmp_path, "ann") as proxy, browser(proxy, "ann") as person:
        page = person.get("/account/tokens")
        (token,) = set(re.findall(r'name="csrf_token" value="([^"]+)"', page.text))
        fields = {"name": "x", "scope": "maps", "days": "30"}
        for given, origin, status in (("", proxy, 403), (token, "http://evil.example", 403)):
            answer = person.post(
                "/account/tokens",
                data={**fields, "csrf_token": given},
                headers={"Origin": origin},
            )
            assert answer.status_code == status
        done = person.post("/account/tokens", data={**fields, "csrf_token": token})
        assert "msh_" in done.text


def test_a_service_with_a_provider(
    mapshelf: Mapshelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole sign-in over the network, with two workers and the secret in a file."""
    copied = mapshelf.copied_to(tmp_path / "copy") if mapshelf.data.exists() else mapshelf
    file = tmp_path / "secret"
    file.write_text(CLIENT_SECRET + "\n")
    monkeypatch.delenv(SECRET, raising=False)
    with small_provider() as provider:
        options = (
            *("--oidc-issuer", provider.issuer, "--oidc-client-id", CLIENT_ID),
            *("--oidc-client-secret-file", str(file), "--oidc-auto-create"),
        )
        with serving(copied, *options, workers=2) as service, browser(service.url) as person:
            service.wait_until_ready()
            name = provider.issuer.removeprefix("http://")
            assert f"Sign in with {name}" in person.get("/signin").text
            begun = person.get("/signin/provider?next=/account", follow_redirects=False)
            assert begun.headers["Set-Cookie"].startswith("mapshelf_provider=")
            back = provider.let_in(begun.headers["Location"], preferred_username="zoë")
            page = person.get(back)
            assert page.url.path == "/account"
            assert ">zoë</h1>" in page.text
