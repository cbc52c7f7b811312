"""Malformed and forged ID tokens are refused, and cause no other error."""

import base64
import json
import time
from functools import cache
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc.jwk import RSAKey

from mapshelf.accounts.openid.id_tokens import (
    Expected,
    UnknownKey,
    WrongToken,
    read_keys,
    verified_claims,
)

NOW = int(time.time())
EXPECTED = Expected("https://id.example", "client", "nonce", NOW)
CLAIMS = {
    "iss": "https://id.example",
    "aud": "client",
    "sub": "1",
    "nonce": "nonce",
    "iat": NOW,
    "exp": NOW + 60,
}


@cache
def key() -> RSAKey:
    """Return the provider's key, always the same one."""
    return RSAKey.generate_key(2048, {"kid": "first"}, auto_kid=False)


def public_keys() -> list[Any]:
    """Return the keys that the provider publishes."""
    return [key().as_dict(private=False)]


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def signed(payload: bytes, **header: Any) -> str:
    """Return a token with this payload and a valid signature."""
    first = encoded(json.dumps({"alg": "RS256", "kid": "first", **header}).encode())
    said = f"{first}.{encoded(payload)}"
    private = key().private_key
    assert private
    return f"{said}.{encoded(private.sign(said.encode(), PKCS1v15(), SHA256()))}"


def test_openid_core_3_1_3_7_a_valid_token() -> None:
    found = verified_claims(signed(json.dumps(CLAIMS).encode()), read_keys(public_keys()), EXPECTED)
    assert found["sub"] == "1"


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b"5", b"{", b"\xff", b"[" * 10_000, b'{"a":' * 2000]
)
def test_openid_core_3_1_3_7_signed_nonsense(payload: bytes) -> None:
    with pytest.raises(WrongToken):
        verified_claims(signed(payload), read_keys(public_keys()), EXPECTED)


@pytest.mark.parametrize(
    "header",
    [
        {"kid": 5},
        {"kid": ["first"]},
        {"kid": "First"},
        {"kid": "first\0"},
        {"kid": "../first"},
        {"alg": ["RS256"]},
        {"alg": "rs256"},
        {"alg": "none"},
        {"crit": ["x"], "x": 1},
        {"crit": ["b64"], "b64": False},
    ],
)
def test_rfc_8725_3_1_a_header_chooses_neither_key_nor_algorithm(header: dict[str, Any]) -> None:
    token = signed(json.dumps(CLAIMS).encode(), **header)
    with pytest.raises((WrongToken, UnknownKey)):
        verified_claims(token, read_keys(public_keys()), EXPECTED)


@pytest.mark.parametrize(
    "changes",
    [
        {"kty": ["RSA"]},
        {"n": 5},
        {"n": ""},
        {"e": "AA"},
        {"key_ops": 5},
        {"use": ["sig"]},
        {"alg": []},
        {"kty": "EC", "crv": "P-999", "x": "", "y": ""},
        {"kty": "OKP", "crv": ["Ed25519"], "x": 5},
    ],
)
def test_rfc_7517_5_keys_that_cannot_be_read_are_left_out(changes: dict[str, Any]) -> None:
    (public,) = public_keys()
    keys = read_keys([{**public, "kid": "other", **changes}, public])
    assert verified_claims(signed(json.dumps(CLAIMS).encode()), keys, EXPECTED)
