"""Passkeys: our relying party, and the checks of WebAuthn Level 2, section 7."""

import base64
import json
import struct
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256

from mapshelf.accounts import passkeys
from mapshelf.accounts.relying_party import RelyingParty, relying_party
from mapshelf.accounts.sessions import Client, NewSession
from mapshelf.errors import AlreadyExists, WrongPasskey
from mapshelf.model import CLOCK_TOLERANCE, User
from mapshelf.store import Store
from tests.store.clock import Clock


@pytest.mark.parametrize(
    ("base_url", "party"),
    [
        ("https://maps.example.org", RelyingParty("maps.example.org", "https://maps.example.org")),
        (
            "https://Maps.Example.org/x",
            RelyingParty("maps.example.org", "https://maps.example.org"),
        ),
        ("https://m.example:443", RelyingParty("m.example", "https://m.example")),
        ("https://m.example:8443", RelyingParty("m.example", "https://m.example:8443")),
        ("http://localhost:8000", RelyingParty("localhost", "http://localhost:8000")),
        ("http://127.0.0.1:8000", None),
        ("https://192.0.2.1", None),
        ("https://[::1]:8443", None),
        ("http://maps.example.org", None),
    ],
)
def test_base_urls_that_allow_passkeys(base_url: str, party: RelyingParty | None) -> None:
    assert relying_party(base_url) == party


# -- a software authenticator -------------------------------------------------------------

PARTY: Final = RelyingParty("maps.example.org", "https://maps.example.org")
BROWSER: Final = "what the browser keeps"


@dataclass
class Authenticator:
    """Creates and uses one passkey, as a browser does; tests can change what it sends."""

    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))
    id: bytes = b"an id of 16 byte"
    origin: str = PARTY.origin
    host: str = PARTY.id
    flags: int = 0x05
    count: int = 0

    def made(self, options: str, **said: object) -> dict[str, Any]:
        """Return the response that registers a new passkey."""
        point = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32), -3: point.y.to_bytes(32)}
        data = self._data(self.flags | 0x40) + bytes(16) + struct.pack(">H", len(self.id))
        data += self.id + cbor2.dumps(cose)
        attestation = {"fmt": "none", "attStmt": {}, "authData": data, **said}
        signed = self.signed(options, "webauthn.create")
        return self._credential(clientDataJSON=signed, attestationObject=cbor2.dumps(attestation))

    def used(self, options: str, user: User, **said: object) -> dict[str, Any]:
        """Return the response that signs in with the passkey."""
        data, signed = self._data(self.flags), self.signed(options, "webauthn.get", **said)
        signature = self.key.sign(data + sha256(signed).digest(), ECDSA(SHA256()))
        return self._credential(
            clientDataJSON=signed,
            authenticatorData=data,
            signature=signature,
            userHandle=user.id.to_bytes(8),
        )

    def signed(self, options: str, kind: str, **said: object) -> bytes:
        """Return the client data, which the browser passes to the authenticator to sign."""
        challenge = json.loads(options)["challenge"]
        return json.dumps(
            {"type": kind, "challenge": challenge, "origin": self.origin, **said}
        ).encode()

    def _data(self, flags: int) -> bytes:
        return sha256(self.host.encode()).digest() + struct.pack(">BI", flags, self.count)

    def _credential(self, **response: bytes) -> dict[str, Any]:
        said = {name: encoded(value) for name, value in response.items()}
        name = encoded(self.id)
        return {"id": name, "rawId": name, "type": "public-key", "response": said}


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@pytest.fixture
def ann(store: Store) -> User:
    return store.add_user("ann")


@pytest.fixture
def home(clock: Clock) -> Client:
    return Client(clock.now, "192.0.2.1")


def add(store: Store, user: User, home: Client, credential: object, secret: str = BROWSER) -> None:
    text = credential if isinstance(credential, str) else json.dumps(credential)
    passkeys.add(
        store,
        party=PARTY,
        user=user,
        secret=secret,
        credential=text,
        name="Phone",
        client=home,
    )


def begin_adding(store: Store, user: User, home: Client) -> str:
    return passkeys.begin_adding(store, PARTY, user, BROWSER, home.now)


def begin(store: Store, home: Client, secret: str = BROWSER) -> str:
    return passkeys.begin_signing_in(store, PARTY, secret, home.now)


def sign_in(store: Store, home: Client, credential: object, secret: str = BROWSER) -> NewSession:
    text = credential if isinstance(credential, str) else json.dumps(credential)
    return passkeys.sign_in_with_passkey(store, PARTY, secret, text, home)


def with_passkey(store: Store, user: User, home: Client, **said: Any) -> Authenticator:
    """Add a passkey for a user; return its authenticator."""
    phone = Authenticator(**said)
    add(store, user, home, phone.made(begin_adding(store, user, home)))
    return phone


def test_webauthn_7_a_passkey_is_added_and_used(store: Store, ann: User, home: Client) -> None:
    phone = with_passkey(store, ann, home)
    options = begin(store, home)
    found = sign_in(store, home, phone.used(options, ann))
    assert found.user == ann
    with pytest.raises(WrongPasskey):
        sign_in(store, home, phone.used(options, ann))


@pytest.mark.parametrize(
    "other",
    [
        {"origin": "http://maps.example.org"},
        {"origin": "https://maps.example.org:444"},
        {"origin": "https://maps.example.org.evil.example"},
        {"origin": "null"},
        {"host": "example.org"},
        {"host": "evil.example"},
        {"flags": 0x01},
        {"flags": 0x04},
    ],
)
def test_webauthn_7_1_and_7_2_data_for_others_or_unverified_users_is_refused(
    store: Store, ann: User, home: Client, other: dict[str, Any]
) -> None:
    with pytest.raises(WrongPasskey):
        with_passkey(store, ann, home, **other)
    assert store.passkeys(ann.id) == []
    phone = replace(with_passkey(store, ann, home), **other)
    with pytest.raises(WrongPasskey):
        sign_in(store, home, phone.used(begin(store, home), ann))


def test_webauthn_7_1_and_7_2_a_challenge_is_for_one_browser_one_purpose_and_minutes(
    store: Store, ann: User, home: Client
) -> None:
    phone = with_passkey(store, ann, home)
    with pytest.raises(WrongPasskey):
        sign_in(store, home, phone.used(begin(store, home, "another browser"), ann))
    with pytest.raises(WrongPasskey):
        sign_in(store, home, phone.used(begin_adding(store, ann, home), ann))
    with pytest.raises(WrongPasskey):
        add(store, ann, home, Authenticator(id=b"other").made(begin(store, home)))
    late = replace(home, now=home.now + passkeys.CHALLENGE_LIFETIME)
    with pytest.raises(WrongPasskey):
        sign_in(store, late, phone.used(begin(store, home), ann))
    ahead = replace(home, now=home.now + CLOCK_TOLERANCE + 1)
    with pytest.raises(WrongPasskey):
        sign_in(store, home, phone.used(begin(store, ahead), ann))
    mine = json.dumps({"challenge": encoded(b"a challenge that I made up myself")})
    with pytest.raises(WrongPasskey):
        sign_in(store, home, phone.used(mine, ann))


def test_webauthn_7_2_6_the_authenticator_says_whose_passkey_it_is(
    store: Store, ann: User, home: Client
) -> None:
    phone, eve = with_passkey(store, ann, home), store.add_user("eve")
    with pytest.raises(WrongPasskey):
        sign_in(store, home, phone.used(begin(store, home), eve))
    for handle in (None, ""):
        said = phone.used(begin(store, home), ann)
        said["response"]["userHandle"] = handle
        with pytest.raises(WrongPasskey):
            sign_in(store, home, said)


def test_webauthn_7_1_22_a_passkey_belongs_to_one_account(
    store: Store, ann: User, home: Client
) -> None:
    with_passkey(store, ann, home)
    eve = store.add_user("eve")
    with pytest.raises(AlreadyExists):
        with_passkey(store, eve, home)
    assert store.passkeys(eve.id) == []


def test_webauthn_7_2_21_a_counter_that_does_not_grow_is_a_copy(
    store: Store, ann: User, home: Client
) -> None:
    phone = with_passkey(store, ann, home, count=5)
    assert sign_in(store, home, replace(phone, count=7).used(begin(store, home), ann))
    for count in (7, 6, 0):
        with pytest.raises(WrongPasskey):
            sign_in(store, home, replace(phone, count=count).used(begin(store, home), ann))


def test_passkeys_are_refused_in_frames_of_other_sites(
    store: Store, ann: User, home: Client
) -> None:
    phone = with_passkey(store, ann, home)
    with pytest.raises(WrongPasskey):
        sign_in(store, home, phone.used(begin(store, home), ann, crossOrigin=True))
    assert sign_in(store, home, phone.used(begin(store, home), ann, crossOrigin=False))


@pytest.mark.parametrize(
    "text",
    ["", "[", "[]", "5", "null", "{}", "[" * 9000, '{"a":' * 2000, '{"response":5}', "\ud800"],
)
def test_malformed_passkeys_are_refused(store: Store, ann: User, home: Client, text: str) -> None:
    with pytest.raises(WrongPasskey):
        add(store, ann, home, text)
    with pytest.raises(WrongPasskey):
        sign_in(store, home, text)


@pytest.mark.parametrize(
    ("kind", "statement"),
    [
        ("none", {"sig": b"x"}),
        ("packed", {"alg": -7, "sig": b"x"}),
        ("packed", {"alg": -7, "sig": b"x", "x5c": [b"x"]}),
        ("android-safetynet", {"ver": "1", "response": 5}),
        (
            "tpm",
            {"ver": "2.0", "alg": -7, "sig": b"x", "x5c": [b"x"], "certInfo": b"", "pubArea": b""},
        ),
        ("android-key", {"x5c": [5]}),
        ("unknown", {}),
        (5, 5),
    ],
)
def test_webauthn_7_1_invalid_attestations_are_refused(
    store: Store, ann: User, home: Client, kind: object, statement: object
) -> None:
    said = Authenticator().made(begin_adding(store, ann, home), fmt=kind, attStmt=statement)
    with pytest.raises(WrongPasskey):
        add(store, ann, home, said)


def test_deeply_nested_client_data_is_refused(store: Store, ann: User, home: Client) -> None:
    phone = with_passkey(store, ann, home)
    said = phone.used(begin(store, home), ann)
    said["response"]["clientDataJSON"] = encoded(b"[" * 9000)
    with pytest.raises(WrongPasskey):
        sign_in(store, home, said)
