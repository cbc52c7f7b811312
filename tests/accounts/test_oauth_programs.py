"""Registration of OAuth clients, and matching of redirect URIs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.accounts.oauth_programs import (
    Identification,
    NewProgram,
    identified,
    may_redirect_to,
    register,
)
from mapshelf.errors import AlreadyExists, InvalidSetting, OAuthRefusal
from mapshelf.model import Program
from mapshelf.settings import sqlite_url
from mapshelf.store import Store, open_store
from mapshelf.tokens import is_well_formed

SECRET = "s" * 40


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(sqlite_url(tmp_path))


def program(*uris: str) -> Program:
    return Program("p", "P", None, uris, legacy=False, created=0)


def test_a_new_program_gets_an_id_and_a_secret(store: Store) -> None:
    found, secret = register(store, NewProgram("Maps", ("https://x.example/cb",)), 5)
    other, _ = register(store, NewProgram("Maps", ("https://x.example/cb",)), 6)
    assert found.id != other.id
    assert is_well_formed(secret, "msp_")
    assert store.programs() == [found, other]
    assert secret.encode() not in repr(store.programs()).encode()
    assert identified(store, Identification(found.id, secret)) == found
    for who in (
        Identification(found.id, other.id),
        Identification(found.id, ""),
        Identification(other.id, secret),
        Identification("", ""),
        Identification("none", secret),
    ):
        with pytest.raises(OAuthRefusal) as refusal:
            identified(store, who)
        assert refusal.value.reason == "invalid_client"


def test_a_program_is_registered_under_the_id_and_secret_that_it_has_already(store: Store) -> None:
    given_ones = NewProgram("XMind", ("http://localhost:13524/",), "a1" * 20, SECRET, legacy=True)
    found, secret = register(store, given_ones, 5)
    assert (found.id, secret, found.legacy) == ("a1" * 20, SECRET, True)
    assert identified(store, Identification("a1" * 20, SECRET)) == found
    with pytest.raises(AlreadyExists):
        register(store, given_ones, 6)


def test_a_public_program_has_no_secret(store: Store) -> None:
    found, secret = register(store, NewProgram("App", ("com.example.app:/cb",), public=True), 5)
    assert (secret, found.is_public) == ("", True)
    assert identified(store, Identification(found.id, "")) == found
    with pytest.raises(OAuthRefusal):
        identified(store, Identification(found.id, "x"))


STRAY_BRACKETS = (
    "com.example.app://[x/",
    "com.example.app://[zz]/",
    "com.example.app://[::1]x/",
    "com.example.app://a]b/",
    "com.example.app://a@b@[::1]/",
    "com.example.app://[1.2.3.4]?x=1",
    "https://[::1]x/",
    "https://[::1/",
    "https://[v1.x]/",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "registration",
    [
        NewProgram(""),
        NewProgram("x" * 61),
        NewProgram("a\u202eb"),
        NewProgram("x", id="a b"),
        NewProgram("x", id="x" * 101),
        NewProgram("x", secret="short"),
        NewProgram("x\u3164"),
        NewProgram("Map\u034fshelf"),
        NewProgram("\ufffc"),
        NewProgram("x", secret="ü" * 30),
        NewProgram("x", secret=SECRET, public=True),
        NewProgram("x", public=True, legacy=True),
        *(
            NewProgram("x", (uri,))
            for uri in (
                "",
                "/cb",
                "localhost",
                "https://",
                "https://x.example/cb#part",
                "https://x.example/c b",
                "https://x.example/\n",
                "https://x.example/ü",
                "https://x.example/%zz",
                "https://user@x.example/",
                "https://x.example:0/",
                "https://x.example:99999/",
                "https://*.example/é",
                "http://x.example/cb",
                "http://127.0.0.2/",
                "http://localhost.example/",
                "http://localhost:1@evil.example/",
                "javascript:alert(1)",
                "data:text/html,x",
                "myapp:/cb",
                *STRAY_BRACKETS,
                "https://x.example/" + "x" * 500,
            )
        ),
    ],
    ids=repr,
)
def test_invalid_registrations_are_refused(store: Store, registration: NewProgram) -> None:
    with pytest.raises(InvalidSetting):
        register(store, registration, 5)
    assert store.programs() == []


@pytest.mark.parametrize("uri", STRAY_BRACKETS)
def test_the_reason_names_brackets_around_anything_but_an_ipv6_address(
    store: Store, uri: str
) -> None:
    with pytest.raises(InvalidSetting, match=r"brackets .* must enclose an IPv6 address"):
        register(store, NewProgram("x", (uri,)), 5)


@pytest.mark.parametrize(
    "uri",
    [
        "https://[2001:db8::1]:8443/cb",
        "https://[::ffff:192.0.2.1]/",
        "com.example.app://[2001:DB8::1]/cb",
        "com.example.app:/cb?x[]=1",
        "com.example.app://host/[x",
        "https://x.example/cb?list[]=1",
    ],
)
def test_brackets_around_an_ipv6_address_and_elsewhere_are_accepted(store: Store, uri: str) -> None:
    found, _ = register(store, NewProgram("x", (uri,)), 5)
    assert found.redirect_uris == (uri,)


def test_rfc_9700_2_1_redirect_uris_match_exactly() -> None:
    web = program("https://x.example/cb", "com.example.app:/cb")
    assert may_redirect_to(web, "https://x.example/cb")
    assert may_redirect_to(web, "com.example.app:/cb")
    for other in (
        "",
        "https://x.example/cb/",
        "https://x.example/cb?a=b",
        "https://x.example:443/cb",
        "https://X.example/cb",
        "https://x.example/cb#x",
        "https://x.example/%63b",
        "https://x.example/cb/../cb",
        "https://x.example.evil.example/cb",
        "https://x.example@evil.example/cb",
        "http://x.example/cb",
        "com.example.app:/cb2",
    ):
        assert not may_redirect_to(web, other), other


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_rfc_8252_the_port_of_a_loopback_uri_may_be_any(host: str) -> None:
    native = program(f"http://{host}:13524/cb?x=1")
    for port in (":13524", ":1", ":65535", ""):
        assert may_redirect_to(native, f"http://{host}{port}/cb?x=1")
    for other in (
        f"http://{host}:1/cb",
        f"http://{host}:1/cb?x=1&y",
        f"https://{host}:13524/cb?x=1",
        f"http://{host}:1@evil.example/cb?x=1",
        f"http://{host}:123456/cb?x=1",
        f"http://{host}:/cb?x=1",
        f"http://{host}:1x/cb?x=1",
        f"http://{host}.evil.example/cb?x=1",
        f"http://u@{host}:1/cb?x=1",
        f"http://{host}:1/cb?x=1\n",
    ):
        assert not may_redirect_to(native, other), other
    hosts = {"localhost", "127.0.0.1", "[::1]"} - {host}
    assert not any(may_redirect_to(native, f"http://{one}:13524/cb?x=1") for one in hosts)


@given(st.text(max_size=40), st.sampled_from(["https://x.example/cb", "http://localhost:1/"]))
def test_redirect_uris_with_a_prefix_or_suffix_do_not_match(more: str, uri: str) -> None:
    known = program(uri)
    for other in (uri + more, more + uri, more):
        assert may_redirect_to(known, other) == (other == uri)
