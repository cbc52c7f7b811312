"""A desktop program older than RFC 9700 signs in, refreshes and uploads, byte for byte as it does.

It is compiled Java that nobody maintains, so we must send what it can read. Each request here is
what its classes write to the socket, and responses are parsed as it parses them. It keeps no
cookies, understands no compression, and ignores most statuses.
"""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from mapshelf.site.messages import say
from tests.api.oauth_programs import decide, post, signed_in
from tests.cli.process import EXAMPLES, Mapshelf, serving
from tests.person import forms
from tests.readers.samples import archive, as_file, drawn, xmind_xml

pytestmark = pytest.mark.process

ID: Final = "Rq7" * 13 + "x"
SECRET: Final = "Ws9" * 13 + "y"
LISTENER: Final = "http://localhost:13524/"
AUTHORIZATION: Final = (
    f"/oauth/auth?client_id={ID}&redirect_uri={LISTENER}&response_type=code&scope=account+maps"
)
SENT_ALWAYS: Final = (
    "Accept: application/json",
    "X-Client-ID: xmind_v3.4.1",
    "User-Agent: Java/1.8.0_60",
)


@dataclass(frozen=True)
class Answer:
    """A response as the program parses it."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """Return the JSON object, which it accepts only in a response of exactly this form."""
        assert "application/json" in self.headers["content-type"]
        assert "content-encoding" not in self.headers
        found = json.loads(self.body.decode("utf-8"))
        assert isinstance(found, dict)
        assert "_code" not in found  # the program would take it for the status
        return found


@dataclass(frozen=True)
class Desktop:
    """The program, configured to use a service."""

    mapshelf: Mapshelf
    url: str

    def send(self, request: str, *more: str, body: str = "") -> Answer:
        """Send a request over a new connection, and read the response."""
        with closing(self._sent(request, *more, body=body)) as connection:
            return read_answer(connection)

    def lose(self, body: str) -> None:
        """Send a token request whose connection is lost before the response."""
        self._sent("POST /oauth/token HTTP/1.1", body=body).close()

    def _sent(self, request: str, *more: str, body: str) -> socket.socket:
        lines = [request, *SENT_ALWAYS, f"Host: {urlsplit(self.url).netloc}", *more]
        lines.append("Connection: keep-alive")
        if body:
            lines.append("Content-Type: application/x-www-form-urlencoded; charset=utf-8")
            lines.append(f"Content-Length: {len(body)}")
        head = "\r\n".join((*lines, "", "")).encode()
        place = (urlsplit(self.url).hostname, urlsplit(self.url).port)
        connection = socket.create_connection(place, timeout=20)
        connection.sendall(head + body.encode())
        return connection

    def look(self) -> tuple[int, str]:
        """Fetch the page that the browser is opened at; return the last status and path.

        It follows up to twenty redirects, within the same scheme, and without cookies.
        """
        path = AUTHORIZATION
        for _ in range(20):
            answer = self.send(f"GET {path} HTTP/1.1")
            if answer.status not in (301, 302, 303):
                return answer.status, path
            target = urljoin(self.url + path, answer.headers["location"])
            assert target.startswith(self.url)
            path = target.removeprefix(self.url)
        raise AssertionError("redirected for ever")

    def token(self, body: str) -> Answer:
        """Send a token request."""
        return self.send("POST /oauth/token HTTP/1.1", body=body)

    def exchange(self, code: str) -> Answer:
        """Exchange a code, with a literal plus in the scope and the secret in the form."""
        return self.token(exchange_form(code))

    def refresh(self, token: str) -> Answer:
        """Exchange a refresh token, as before every upload."""
        return self.token(refresh_form(token))

    def user(self, token: str) -> Answer:
        """Request the user's profile, with only the token in the ``Authorization`` header."""
        return self.send("GET /users/me HTTP/1.1", f"Authorization: {token}")

    def upload(
        self,
        token: str,
        title: str,
        file: bytes,
        *,
        boundary: str = "-0aZ_8" + "q" * 30 + "-",
        answered: bool = True,
    ) -> Answer | None:
        """Upload a map, with only the token in the header, and a charset on every part of the form.

        Unless ``answered``, the connection is lost as soon as everything is sent.
        """
        text = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit"
        parts = [
            f'Content-Disposition: form-data; name="{name}"\r\n{text}\r\n\r\n{title}'.encode()
            for name in ("title", "description")
        ]
        parts.append(
            b'Content-Disposition: form-data; name="map"; '
            b'filename="4k2m9x7c1v5b3n8a6s0d2f4g6h.xmind"\r\n'
            b"Content-Type: application/octet-stream; charset=utf-8\r\n"
            b"Content-Transfer-Encoding: binary\r\n\r\n" + file
        )
        opening = f"--{boundary}\r\n".encode()
        body = b"".join(opening + one + b"\r\n" for one in parts) + opening[:-2] + b"--\r\n"
        lines = [
            "POST /maps HTTP/1.1",
            *SENT_ALWAYS,
            f"Host: {urlsplit(self.url).netloc}",
            f"Authorization: {token}",
            f"Content-Type: multipart/form-data; boundary={boundary}",
            f"Content-Length: {len(body)}",
            "Connection: keep-alive",
        ]
        place = (urlsplit(self.url).hostname, urlsplit(self.url).port)
        with closing(socket.create_connection(place, timeout=20)) as connection:
            connection.sendall("\r\n".join((*lines, "", "")).encode() + body)
            return read_answer(connection) if answered else None

    def decided(self, decision: str) -> str:
        """Return where the browser is sent after the user has decided."""
        with signed_in(self.mapshelf, self.url) as browser:
            policy = browser.get(AUTHORIZATION).headers["Content-Security-Policy"]
            assert "form-action 'self' http://localhost:13524;" in policy
            return decide(browser, AUTHORIZATION, decision)

    def let_in(self) -> str:
        """Sign in and refresh, as before every upload; return the access token."""
        found = self.exchange(self.code()).json()
        token = self.refresh(found["refresh_token"]).json()["access_token"]
        assert isinstance(token, str)
        return token

    def code(self) -> str:
        """Return the code that the program's listener finds in the browser's request."""
        code = heard(self.decided("allow"))
        assert code is not None
        return code


def exchange_form(code: str) -> str:
    return (
        f"grant_type=authorization_code&code={code}"
        "&redirect_uri=http%3A%2F%2Flocalhost%3A13524%2F"
        f"&client_id={ID}&scope=account%2Bmaps&client_secret={SECRET}"
    )


def refresh_form(token: str) -> str:
    return (
        f"client_id={ID}&redirect_uri=http%3A%2F%2Flocalhost%3A13524%2F"
        "&grant_type=refresh_token&scope=account%2Bmaps"
        f"&client_secret={SECRET}&refresh_token={token}"
    )


def heard(location: str) -> str | None:
    """Return the code that the listener finds in a request of the browser.

    It splits the line at the first question mark and at ampersands. It uses the value of the first
    parameter whose name begins with ``code``, without decoding it, up to the end of the line.
    """
    assert location.startswith(LISTENER)
    line = f"GET {location.removeprefix(LISTENER[:-1])} HTTP/1.1"
    for pair in line.partition("?")[2].split("&"):
        name, _, value = pair.partition("=")
        if name.startswith("code"):
            return value
    return None


def read_answer(connection: socket.socket) -> Answer:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65_536)
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    while len(body) < int(headers["content-length"]):
        body += connection.recv(65_536)
    return Answer(int(status.split()[1]), headers, body)


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    mapshelf = Mapshelf(tmp_path_factory.mktemp("desktop") / "data")
    mapshelf.run("import", EXAMPLES)
    given = ("--id", ID, "--secret", SECRET, "--redirect-uri", LISTENER, "--legacy")
    mapshelf.run("client", "add", "XMind", *given)
    with serving(mapshelf, token=mapshelf.token()) as service:
        service.wait_until_ready()
        yield Desktop(mapshelf, service.url)


def test_it_fetches_the_page_itself_and_expects_200(
    desktop: Desktop,
) -> None:
    for _ in range(5):
        status, path = desktop.look()
        assert (status, path.partition("?")[0]) == (200, "/signin")


def test_fetching_the_page_beside_the_browser_uses_nothing_up(desktop: Desktop) -> None:
    """Program and browser request the same page at the same moment, in either order."""
    with signed_in(desktop.mapshelf, desktop.url) as browser:
        assert desktop.look()[0] == 200
        assert browser.get(AUTHORIZATION).status_code == 200
        assert desktop.look()[0] == 200
        code = heard(decide(browser, AUTHORIZATION, "allow"))
        assert desktop.look()[0] == 200
    assert code is not None
    assert desktop.exchange(code).json()["access_token"]


def test_the_listener_finds_the_code_in_the_request_line(desktop: Desktop) -> None:
    location = desktop.decided("allow")
    code = heard(location)
    assert code is not None
    assert code.isascii()
    assert " " not in code
    assert not set(code) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    assert location.partition("&")[2].startswith("iss=http%3A%2F%2F127.0.0.1")


def test_the_listener_gets_no_code_when_the_user_denies(desktop: Desktop) -> None:
    location = desktop.decided("deny")
    assert heard(location) is None
    assert location.startswith(f"{LISTENER}?error=access_denied&")


def test_it_exchanges_the_code_asks_for_the_user_and_refreshes(desktop: Desktop) -> None:
    answer = desktop.exchange(desktop.code())
    found = answer.json()
    assert answer.status == 200
    assert isinstance(found["access_token"], str)
    assert desktop.user(found["access_token"]).json()["UserName"] == "alice"
    for _ in range(3):
        found = desktop.refresh(found["refresh_token"]).json()
        assert desktop.user(found["access_token"]).json()["UserName"] == "alice"


def test_without_a_grant_type_the_code_is_taken_too(desktop: Desktop) -> None:
    """As the documentation of the service that the program was written for says."""
    found = desktop.token(
        f"client_id={ID}&client_secret={SECRET}&redirect_uri=http%3A%2F%2Flocalhost%3A13524%2F"
        f"&code={desktop.code()}&response_type=token"
    ).json()
    assert desktop.user(found["access_token"]).json()["UserName"] == "alice"


def test_it_refreshes_without_redirect_uri_and_scope_too(desktop: Desktop) -> None:
    """As the documentation of the service that the program was written for says."""
    found = desktop.exchange(desktop.code()).json()
    found = desktop.token(
        f"client_id={ID}&client_secret={SECRET}&refresh_token={found['refresh_token']}"
        "&grant_type=refresh_token"
    ).json()
    assert found["refresh_token"]
    assert desktop.user(found["access_token"]).json()["UserName"] == "alice"


def test_repeating_a_request_does_no_harm(desktop: Desktop) -> None:
    """The connection was lost before the response, and either response may arrive."""
    code = desktop.code()
    lost, found = desktop.exchange(code).json(), desktop.exchange(code).json()
    for _ in range(2):
        assert desktop.user(found["access_token"]).json()["UserName"] == "alice"
        token = found["refresh_token"]
        lost, found = desktop.refresh(token).json(), desktop.refresh(token).json()
        assert lost["refresh_token"] != found["refresh_token"]
    late = desktop.refresh(lost["refresh_token"]).json()
    assert desktop.user(late["access_token"]).json()["UserName"] == "alice"


def test_a_request_can_be_repeated_after_a_lost_connection(desktop: Desktop) -> None:
    """Whether or not the service has already processed the request."""
    code = desktop.code()
    desktop.lose(exchange_form(code))
    found = desktop.exchange(code).json()
    for _ in range(2):
        assert desktop.user(found["access_token"]).json()["UserName"] == "alice"
        token = found["refresh_token"]
        desktop.lose(refresh_form(token))
        found = desktop.refresh(token).json()


def test_a_code_sent_a_third_time_revokes_its_grant(desktop: Desktop) -> None:
    """The program repeats a request only once, so the third one comes from somebody else."""
    code = desktop.code()
    first, second = desktop.exchange(code).json(), desktop.exchange(code).json()
    assert desktop.exchange(code).json()["error"] == "invalid_grant"
    for one in (first, second):
        assert desktop.refresh(one["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_code_is_refused_once_the_program_has_refreshed(desktop: Desktop) -> None:
    code = desktop.code()
    found = desktop.refresh(desktop.exchange(code).json()["refresh_token"]).json()
    assert desktop.exchange(code).json()["error"] == "invalid_grant"
    assert desktop.refresh(found["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_refusal_is_an_object_without_a_token(desktop: Desktop) -> None:
    """Only then does it forget its token and open the browser; otherwise it would be stuck."""
    form = f"client_id={ID}&client_secret=wrong&grant_type=refresh_token&refresh_token=x"
    for answer in (
        desktop.exchange("wrong"),
        desktop.refresh("wrong"),
        desktop.token(form),
        desktop.token("x=1"),
        desktop.token("x=%FF"),
        desktop.token("x=" + "y" * 50_000),
        desktop.send("GET /oauth/token HTTP/1.1"),
    ):
        found = answer.json()
        assert answer.status >= 400
        assert found["error"]
        assert "access_token" not in found


def test_a_withdrawn_program_gets_such_a_refusal_too(desktop: Desktop) -> None:
    found = desktop.exchange(desktop.code()).json()
    with signed_in(desktop.mapshelf, desktop.url) as browser:
        page = browser.get("/account/programs")
        (form,) = (one for one in forms(page) if one.buttons)
        assert post(browser, form.action, {**form.fields, "withdraw": ID}).status_code == 303
    answer = desktop.refresh(found["refresh_token"])
    assert answer.json()["error"] == "invalid_grant"


def xmind_file(title: str) -> bytes:
    """Return a file as the program writes it, with one sheet and a thumbnail."""
    return archive(
        content__xml=xmind_xml(f"<title>{title}</title>"),
        Thumbnails___thumbnail__png=as_file(drawn()),
    )


def test_it_uploads_after_a_refresh_and_opens_the_page_of_the_map(desktop: Desktop) -> None:
    token = desktop.let_in()
    answer = desktop.upload(token, "Заметки", xmind_file("Notes"))
    assert answer is not None
    found = answer.json()
    assert answer.status == 201
    assert (found["Title"], found["Description"]) == ("Заметки", "Заметки")
    assert found["Software"].startswith("XMind")
    assert found["url"] == found["map"]
    assert found["url"].startswith(f"{desktop.url}/mindmaps/")
    assert httpx.get(found["url"], timeout=60).status_code == 200


@pytest.mark.parametrize(
    "boundary", ["q" * 30, "-" * 40, "--" + "0" * 36 + "--", "_" * 39, "-aZ-" * 9]
)
def test_uploads_may_have_any_boundary_that_it_makes(desktop: Desktop, boundary: str) -> None:
    """They have 30 to 40 characters, unquoted, and may begin and end with hyphens."""
    title = f"Within {boundary}"
    answer = desktop.upload(desktop.let_in(), title, xmind_file(title), boundary=boundary)
    assert answer is not None
    assert (answer.status, answer.json()["Title"]) == (201, title)


def test_repeating_an_upload_gives_the_same_map(desktop: Desktop) -> None:
    token, file = desktop.let_in(), xmind_file("Twice")
    desktop.upload(token, "Twice", file, answered=False)
    first, second = desktop.upload(token, "Twice", file), desktop.upload(token, "Twice", file)
    assert first is not None
    assert second is not None
    assert first.json() == second.json()
    with closing(desktop.mapshelf.store()) as store:
        assert [one.title for one in store.maps(0, 1000)].count("Twice") == 1


def test_an_upload_that_is_refused_is_an_object_without_an_address(desktop: Desktop) -> None:
    token = desktop.let_in()
    for sent, file, status in (
        ("wrong", xmind_file("Refused"), 401),
        (token, b"no map", 415),
        (token, xmind_file("Large") + bytes(33 << 20), 413),
    ):
        answer = desktop.upload(sent, "Refused", file)
        assert answer is not None
        assert answer.status == status
        assert "url" not in answer.json()


def test_its_scope_maps_includes_uploads_and_the_user_sees_that(desktop: Desktop) -> None:
    """It requests ``account+maps``, which allows other programs only to read."""
    with signed_in(desktop.mapshelf, desktop.url) as browser:
        assert say("consent.maps:write") in browser.get(AUTHORIZATION).text
    found = desktop.exchange(desktop.code()).json()
    assert found["scope"] == "account maps maps:write"
    assert desktop.refresh(found["refresh_token"]).json()["scope"] == "account maps maps:write"


def test_every_operation_accepts_a_bare_token(desktop: Desktop) -> None:
    found = desktop.exchange(desktop.code()).json()
    wrong = desktop.send("GET /users/me HTTP/1.1", "Authorization: wrong")
    assert (wrong.status, wrong.json()["code"]) == (401, 0)
    for request in ("GET /maps?limit=1 HTTP/1.1", "GET /users/me HTTP/1.1"):
        assert desktop.send(request, f"Authorization: {found['access_token']}").status == 200
