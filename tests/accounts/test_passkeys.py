"""Passkeys: what we are to browsers."""

import pytest

from mapshelf.accounts.passkeys import RelyingParty, relying_party


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
def test_where_there_are_passkeys(base_url: str, party: RelyingParty | None) -> None:
    assert relying_party(base_url) == party
