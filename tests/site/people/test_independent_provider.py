"""Signing in with an independent OpenID provider: the npm package oidc-provider, with Node.js.

``make openid-provider`` installs it into ``.tools``; without it, these tests are skipped.
``test_providers.py`` tests the errors that it cannot be made to commit.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey

from mapshelf.settings import ProviderSettings
from mapshelf.site.messages import say
from tests.cli.process import PATIENCE, REPOSITORY, free_port, wait_for
from tests.harness import BASE_URL, Service, Shelf
from tests.person import PASSWORD, Person, Start, is_signed_in, member, user_named
from tests.site.people.openid_provider import CLIENT_ID, CLIENT_SECRET

pytestmark = pytest.mark.process

SCRIPT: Final = Path(__file__).with_name("independent_provider.mjs")
PACKAGES: Final = REPOSITORY / ".tools" / "node" / "node_modules"
NAME: Final = "Independent"
ANOTHER: Final = "another client"


def packages() -> Path:
    """Return the folder of the package, or skip the test."""
    folder = Path(os.environ.get("MAPSHELF_TEST_NODE_MODULES") or PACKAGES)
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed (apt-get install nodejs)")
    if not (folder / "oidc-provider").is_dir():
        pytest.skip("oidc-provider is not installed (make openid-provider)")
    return folder


def new_keys(*names: str) -> dict[str, Any]:
    keys = (
        RSAKey.generate_key(2048, {"kid": name, "use": "sig"}, auto_kid=False) for name in names
    )
    return {"keys": [key.as_dict(private=True) for key in keys]}


class Independent:
    """The provider at one address, which can be stopped and restarted."""

    def __init__(self) -> None:
        self._packages = packages()
        self._port = free_port()
        self.issuer = f"http://127.0.0.1:{self._port}"
        self.settings = ProviderSettings(
            self.issuer, CLIENT_ID, CLIENT_SECRET, NAME, auto_create=True
        )

    @contextmanager
    def running(self, keys: dict[str, Any], **faults: Any) -> Iterator[None]:
        """Run it with these keys and faults (see its script)."""
        clients = [
            {
                "client_id": name,
                "client_secret": CLIENT_SECRET,
                "redirect_uris": [f"{BASE_URL}/signin/callback"],
            }
            for name in (CLIENT_ID, ANOTHER)
        ]
        given = {"issuer": self.issuer, "port": self._port, "clients": clients, "jwks": keys}
        given |= faults
        process = subprocess.Popen(
            ["node", SCRIPT, self._packages],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(given).encode() + b"\n")
        process.stdin.flush()

        def answers() -> bool:
            assert process.poll() is None, process.stderr and process.stderr.read().decode()
            try:
                httpx.get(f"{self.issuer}/.well-known/openid-configuration", trust_env=False)
            except httpx.TransportError:
                return False
            return True

        try:
            wait_for(answers)
            yield
        finally:
            process.kill()
            process.communicate(timeout=PATIENCE)


class Browser:
    """A person's browser, as the provider sees it."""

    def __init__(self) -> None:
        self._client = httpx.Client(trust_env=False, timeout=PATIENCE)

    def close(self) -> None:
        self._client.close()

    def sign_in(self, address: str, name: str, *, agrees: bool = True) -> str:
        """Sign in at the provider; return the address that it sends the browser back to."""
        answer = self._client.get(address)
        for _ in range(20):
            if answer.is_redirect:
                there = str(answer.url.join(answer.headers["Location"]))
                if there.startswith(BASE_URL):
                    return there
                answer = self._client.get(there)
                continue
            assert answer.status_code == 200, answer.text
            if not agrees:
                (there,) = re.findall(r'href="([^"]*/abort)"', answer.text)
                answer = self._client.get(answer.url.join(there))
                continue
            (action,) = re.findall(r'<form[^>]* action="([^"]+)"', answer.text)
            (prompt,) = re.findall(r'name="prompt" value="([^"]+)"', answer.text)
            fields = {"prompt": prompt, "login": name, "password": "any"}
            answer = self._client.post(answer.url.join(action), data=fields)
        pytest.fail("the provider did not redirect back")


@pytest.fixture
def independent() -> Independent:
    return Independent()


@pytest.fixture
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def site(start: Start, independent: Independent) -> Service:
    return start(provider=independent.settings)


def begin(person: Person) -> str:
    return person.get("/signin/provider", 303).headers["Location"]


def come_back(person: Person, address: str) -> httpx.Response:
    return person.run(person.client.get(address.removeprefix(BASE_URL)))


def test_people_sign_in_by_an_independent_provider(
    site: Service, shelf: Shelf, independent: Independent, browser: Browser
) -> None:
    person, again = Person(site), Person(site)
    with independent.running(new_keys("a")):
        back = browser.sign_in(begin(person), "ann")
        answer = come_back(person, back)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/")
        (linked,) = shelf.store.identities(user_named(shelf, "ann").id)
        assert (linked.issuer, linked.subject, linked.name) == (
            independent.issuer,
            "ann",
            "ann@example",
        )
        kept = again.client.cookies
        assert come_back(again, browser.sign_in(begin(again), "ann")).status_code == 303
        assert kept.get("__Host-mapshelf_provider") is None
        assert "ann" in again.get("/account").text
        stranger = Person(site)
        for replayed in (back, back.replace("code=", "code=x")):
            assert say("provider.attempt", name=NAME) in come_back(stranger, replayed).text
        assert not is_signed_in(stranger)


def test_an_independent_provider_gives_a_code_once(
    site: Service, independent: Independent, browser: Browser
) -> None:
    person = Person(site)
    with independent.running(new_keys("a")):
        back = browser.sign_in(begin(person), "ann")
        cookie = person.client.cookies["__Host-mapshelf_provider"]
        assert come_back(person, back).status_code == 303
        thief = Person(site)
        thief.client.cookies.set(
            "__Host-mapshelf_provider", cookie, domain=urlsplit(BASE_URL).netloc
        )
        answer = come_back(thief, back)
        assert answer.status_code == 403
        assert say("provider.failed", name=NAME) in answer.text
        assert not is_signed_in(thief)


def test_denying_consent_at_an_independent_provider(
    site: Service, independent: Independent, browser: Browser
) -> None:
    person = Person(site)
    with independent.running(new_keys("a")):
        answer = come_back(person, browser.sign_in(begin(person), "ann", agrees=False))
    assert answer.status_code == 403
    assert say("provider.denied", name=NAME) in answer.text


@pytest.mark.parametrize(
    "faults", [{"audience": ANOTHER}, {"lifetime": -3600}], ids=["for another", "expired"]
)
def test_invalid_id_tokens_of_an_independent_provider(
    site: Service, independent: Independent, browser: Browser, faults: dict[str, Any]
) -> None:
    """Keys and signature are valid, but the token is for another client or another time."""
    person = Person(site)
    with independent.running(new_keys("a"), **faults):
        answer = come_back(person, browser.sign_in(begin(person), "ann"))
    assert answer.status_code == 403
    assert say("provider.failed", name=NAME) in answer.text
    assert not is_signed_in(person)


def test_an_id_token_of_an_independent_provider_with_another_nonce(
    site: Service, independent: Independent, browser: Browser
) -> None:
    """An attacker changed the nonce on the way to the provider, which signs what it gets."""
    person = Person(site)
    with independent.running(new_keys("a")):
        address = begin(person)
        changed = re.sub(r"(?<=[?&]nonce=)[^&]+", "another", address)
        assert changed != address
        answer = come_back(person, browser.sign_in(changed, "ann"))
        assert answer.status_code == 403
        assert say("provider.failed", name=NAME) in answer.text
        assert not is_signed_in(person)


def test_a_response_with_the_issuer_of_another_provider(
    site: Service, independent: Independent, browser: Browser
) -> None:
    """Mix-up attack (RFC 9207): this provider sends its issuer, so a response needs it."""
    with independent.running(new_keys("a")):
        here = urlencode({"iss": independent.issuer})
        for there in ("", urlencode({"iss": "https://evil.example"})):
            person = Person(site)
            back = browser.sign_in(begin(person), "ann")
            assert here in back
            answer = come_back(person, back.replace(here, there))
            assert say("provider.failed", name=NAME) in answer.text
            assert not is_signed_in(person)


def test_an_independent_provider_rotates_its_keys(
    site: Service, independent: Independent, browser: Browser
) -> None:
    for keys in (new_keys("a"), new_keys("b", "a")):
        with independent.running(keys):
            person = Person(site)
            assert come_back(person, browser.sign_in(begin(person), "ann")).status_code == 303


def test_an_independent_provider_that_goes_down(
    site: Service, shelf: Shelf, independent: Independent, browser: Browser
) -> None:
    member(site, shelf, "bob")
    person = Person(site)
    with independent.running(new_keys("a")):
        back = browser.sign_in(begin(person), "ann")
    answer = come_back(person, back)
    assert answer.status_code == 503
    assert say("provider.away", name=NAME) in answer.text
    assert not is_signed_in(person)
    assert person.sign_in("bob", PASSWORD).status_code == 303
