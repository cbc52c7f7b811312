"""Cookies: their attributes at each kind of base URL, and parsing the ``Cookie`` header."""

from http.cookies import SimpleCookie

import pytest

from mapshelf.api.cookies import FORM, SESSION, Cookie

HTTPS = "https://maps.example.org"
HTTP = "http://192.168.1.5:8000"


@pytest.mark.parametrize(
    ("base_url", "name", "attributes"),
    [
        (HTTPS, "__Host-mapshelf_session", "Secure; Path=/; HttpOnly; SameSite=Lax"),
        ("HTTPS://X:8443", "__Host-mapshelf_session", "Secure; Path=/; HttpOnly; SameSite=Lax"),
        (HTTP, "mapshelf_session", "Path=/; HttpOnly; SameSite=Lax"),
        (
            f"{HTTPS}/maps",
            "__Secure-mapshelf_session",
            "Secure; Path=/maps; HttpOnly; SameSite=Lax",
        ),
        (f"{HTTP}/a/b", "mapshelf_session", "Path=/a/b; HttpOnly; SameSite=Lax"),
        (f"{HTTP}/a;Domain=x", "mapshelf_session", "Path=/; HttpOnly; SameSite=Lax"),
    ],
)
def test_attributes_of_cookies(base_url: str, name: str, attributes: str) -> None:
    cookie = Cookie(SESSION, base_url)
    assert cookie.name == name
    assert cookie.set("mss_abc", 60) == (
        b"set-cookie",
        f"{name}=mss_abc; {attributes}; Max-Age=60".encode(),
    )
    assert cookie.set("mss_abc")[1] == f"{name}=mss_abc; {attributes}".encode()
    assert cookie.clear()[1] == f"{name}=; {attributes}; Max-Age=0".encode()


def test_the_standard_library_parses_our_cookies() -> None:
    cookie = Cookie(FORM, HTTPS)
    parsed = SimpleCookie(cookie.set("x-y_z", 5)[1].decode())
    morsel = parsed[cookie.name]
    assert morsel.value == "x-y_z"
    assert (morsel["path"], morsel["max-age"], morsel["samesite"]) == ("/", "5", "Lax")
    assert morsel["secure"]
    assert morsel["httponly"]
    assert not morsel["domain"]


@pytest.mark.parametrize(
    ("header", "value"),
    [
        (b"", ""),
        (b"__Host-mapshelf_session=a", "a"),
        (b"x=y; __Host-mapshelf_session=a; z", "a"),
        (b"x=y;__Host-mapshelf_session=a", "a"),
        (b"__Host-mapshelf_session=", ""),
        (b"__Host-mapshelf_session", ""),
        (b"mapshelf_session=a", ""),
        (b"__host-mapshelf_session=a", ""),
        (b"x__Host-mapshelf_session=a", ""),
        (b'x="1, __Host-mapshelf_session=a"', ""),
        (b'x="1; __Host-mapshelf_session2=a"', ""),
        (b"__Host-mapshelf_session=a; __Host-mapshelf_session=b", "a"),
        (b"\xff=\xff; __Host-mapshelf_session=a=b", "a=b"),
        (b"x=y ;  __Host-mapshelf_session=a ; z", "a"),
        (b"x=y __Host-mapshelf_session=a", ""),
        (b"x=" + b"y" * 60_000 + b"; __Host-mapshelf_session=a", "a"),
    ],
)
def test_parsing_the_cookie_header(header: bytes, value: str) -> None:
    assert Cookie(SESSION, HTTPS).read(header) == value


def test_the_two_cookies_are_not_confused() -> None:
    header = b"mapshelf_form=f; mapshelf_session=s"
    assert [Cookie(name, HTTP).read(header) for name in (FORM, SESSION)] == ["f", "s"]
