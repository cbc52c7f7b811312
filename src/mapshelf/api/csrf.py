"""Protection against cross-site request forgery (CSRF) for requests that write with a cookie.

Browsers send our cookies also with requests caused by other sites. So a write that is authenticated
by a cookie needs two proofs: a token that only our pages know, and our origin, as far as the
browser reports one. This is stateless: the token is derived from a secret in a cookie.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from mapshelf.errors import CrossSiteRequest

FIELD: Final = "csrf_token"
"""The form field with the token."""

HEADER: Final = b"x-csrf-token"
"""The header in which scripts of our pages send the token."""

_PURPOSE: Final = b"mapshelf form"
_SIZE: Final = hashlib.sha256().digest_size

OWN_SITE: Final = ("", "same-origin", "none")
"""Values of ``Sec-Fetch-Site`` in requests that no other site caused: missing in old browsers and
over plain HTTP, ``none`` for an address that the user typed."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a request as reported by the browser; parts that it does not report are empty.

    Attributes:
        origin: the Origin header: the origin of the page that sent the request.
        fetch_site: the Sec-Fetch-Site header: the relation of that page to us.
        host: the Host header: our host, as the browser knows it.
    """

    origin: str
    fetch_site: str
    host: str


def form_token(secret: str) -> str:
    """Return a token for forms of the browser with the cookie ``secret``.

    It is masked differently each time, against attacks that measure the size of compressed pages
    (BREACH).
    """
    mask = secrets.token_bytes(_SIZE)
    return base64.urlsafe_b64encode(mask + _masked(_code(secret), mask)).decode().rstrip("=")


def is_form_token(token: str, secret: str) -> bool:
    """Return whether ``token`` is valid for the browser with the cookie ``secret``."""
    if not secret or len(token) > 4 * _SIZE:
        return False
    try:
        sent = base64.b64decode(token.encode() + b"=" * (-len(token) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        return False
    mask, masked = sent[:_SIZE], sent[_SIZE:]
    return len(masked) == _SIZE and hmac.compare_digest(_masked(masked, mask), _code(secret))


def is_own_page(provenance: Provenance, base_url: str) -> bool:
    """Return whether a request comes from one of our pages, as far as the browser reports it.

    Browsers withhold the origin (``null``) under a strict referrer policy, so that is not a reason
    to reject. The host is the target of the request: a page of another site cannot choose it.
    """
    if provenance.fetch_site not in OWN_SITE:
        return False
    if provenance.origin in ("", "null"):
        return True
    ours = urlsplit(base_url)
    schemes = ("https",) if ours.scheme.lower() == "https" else ("http", "https")
    origins = {_origin(ours.scheme, ours.netloc)}
    origins |= {_origin(scheme, provenance.host) for scheme in schemes if provenance.host}
    return provenance.origin.lower() in origins


def check_form(token: str, secret: str, provenance: Provenance, base_url: str) -> None:
    """Check that one of our pages sent a write that is authenticated by a cookie.

    Args:
        token: the token in the form or the header.
        secret: the secret in the cookie.
        provenance: the origin of the request.
        base_url: our base URL.

    Raises:
        CrossSiteRequest: the check failed.
    """
    if not (is_form_token(token, secret) and is_own_page(provenance, base_url)):
        raise CrossSiteRequest(
            "This form is too old, or was sent by another site; load its page again."
        )


def _origin(scheme: str, host: str) -> str:
    """Return an origin as browsers write it, without the default port (RFC 6454, section 6.2)."""
    usual = {"http": ":80", "https": ":443"}
    scheme = scheme.lower()
    return f"{scheme}://{host.lower().removesuffix(usual[scheme])}"


def _code(secret: str) -> bytes:
    return hmac.digest(secret.encode(), _PURPOSE, "sha256")


def _masked(code: bytes, mask: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(code, mask, strict=True))
