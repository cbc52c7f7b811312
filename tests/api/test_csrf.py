"""Tells requests of our own pages from those of other sites, by the headers that browsers send."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.api.csrf import Provenance, check_form, form_token, is_form_token, is_own_page
from mapshelf.errors import CrossSiteRequest

HTTPS = "https://maps.example.org"
HTTP = "http://127.0.0.1:8000"
HOST = "maps.example.org"

OURS = True
OTHERS = False


@pytest.mark.parametrize(
    ("base_url", "origin", "fetch_site", "host", "whose"),
    [
        # a current browser
        (HTTPS, HTTPS, "same-origin", HOST, OURS),
        (HTTPS, "https://evil.example", "cross-site", HOST, OTHERS),
        (HTTPS, "https://other.example.org", "same-site", HOST, OTHERS),
        (HTTPS, HTTPS, "none", HOST, OURS),
        # Sec-Fetch-Site counts, even if the origin is right
        (HTTPS, HTTPS, "cross-site", HOST, OTHERS),
        (HTTPS, HTTPS, "same-site", HOST, OTHERS),
        (HTTPS, HTTPS, "anything", HOST, OTHERS),
        # and the other way round
        (HTTPS, "https://evil.example", "same-origin", HOST, OTHERS),
        (HTTPS, "https://evil.example", "none", HOST, OTHERS),
        # under a strict referrer policy
        (HTTPS, "null", "same-origin", HOST, OURS),
        (HTTPS, "null", "", HOST, OURS),
        (HTTPS, "null", "cross-site", HOST, OTHERS),
        (HTTPS, "null", "same-site", HOST, OTHERS),
        # an older browser, or one over plain HTTP
        (HTTPS, "", "", HOST, OURS),
        (HTTPS, HTTPS, "", HOST, OURS),
        (HTTPS, "https://evil.example", "", HOST, OTHERS),
        (HTTPS, "", "cross-site", HOST, OTHERS),
        # origins that look like ours
        (HTTPS, "https://maps.example.org.evil.example", "", HOST, OTHERS),
        (HTTPS, "https://maps.example.org@evil.example", "", HOST, OTHERS),
        (HTTPS, "https://maps.example.org:8443", "", HOST, OTHERS),
        (HTTPS, "https://maps.example.org/", "", HOST, OTHERS),
        (HTTPS, "http://maps.example.org", "", HOST, OTHERS),
        (HTTPS, "https://MAPS.example.org", "", HOST, OURS),
        (f"{HTTPS}:443", HTTPS, "", HOST, OURS),
        ("HTTPS://Maps.Example.org/path", HTTPS, "", "", OURS),
        ("http://x:80", "http://x", "", "", OURS),
        ("http://x:8080", "http://x", "", "x", OURS),
        # reached under another host name than that of the base URL
        (HTTP, "http://localhost:8000", "", "localhost:8000", OURS),
        (HTTP, "http://192.168.1.5:8000", "", "192.168.1.5:8000", OURS),
        (HTTP, "https://maps.local", "same-origin", "maps.local", OURS),
        (HTTP, "http://localhost:9000", "", "localhost:8000", OTHERS),
        (HTTPS, "http://10.0.0.1", "", "10.0.0.1", OTHERS),
        (HTTPS, "https://10.0.0.1", "", "10.0.0.1", OURS),
        (HTTP, "http://", "", "", OTHERS),
    ],
)
def test_requests_of_our_pages_are_recognised(
    base_url: str, origin: str, fetch_site: str, host: str, *, whose: bool
) -> None:
    assert is_own_page(Provenance(origin, fetch_site, host), base_url) is whose


def test_both_the_token_and_the_page_are_checked() -> None:
    right, ours = form_token("secret"), Provenance(HTTPS, "same-origin", HOST)
    check_form(right, "secret", ours, HTTPS)
    others = Provenance("https://evil.example", "cross-site", HOST)
    for token, secret, provenance in (
        (right, "secret", others),
        ("", "secret", ours),
        (form_token("other"), "secret", ours),
        (right, "other", ours),
        (form_token(""), "", ours),
    ):
        with pytest.raises(CrossSiteRequest):
            check_form(token, secret, provenance, HTTPS)


def test_tokens_look_different_each_time_and_fit_into_forms() -> None:
    tokens = {form_token("secret") for _ in range(100)}
    assert len(tokens) == 100
    assert all(re.fullmatch("[A-Za-z0-9_-]+", token) for token in tokens)
    assert all(is_form_token(token, "secret") for token in tokens)
    assert not any(is_form_token(token, "secret2") for token in tokens)


@given(st.text(max_size=100))
def test_other_texts_are_not_csrf_tokens(text: str) -> None:
    assert not is_form_token(text, "secret")


@given(st.integers(0, 511))
def test_a_changed_bit_invalidates_a_token(bit: int) -> None:
    token = form_token("secret")
    decoded = bytearray(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    assert len(decoded) == 64
    decoded[bit // 8] ^= 1 << bit % 8
    changed = base64.urlsafe_b64encode(decoded).decode().rstrip("=")
    assert not is_form_token(changed, "secret")


@pytest.mark.parametrize("wrong", ["=", "==", "A", "é", "A" * 10_000, "A" * 85, "A" * 86, "\0"])
def test_malformed_tokens_are_refused(wrong: str) -> None:
    assert not is_form_token(wrong, "secret")
