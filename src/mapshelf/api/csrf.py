"""Whether a request that writes comes from a page of ours (cross-site request forgery).

A browser sends our cookies with requests that pages of other sites make it send. So a request that
writes for whoever a cookie says must show two things: a token that only our pages know, and an
origin that is ours, as far as the browser says where the request comes from. Nothing here has
state: the token follows from a secret in a cookie.
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
"""The field of forms that carries the token."""

HEADER: Final = b"x-csrf-token"
"""The header in which scripts of our pages send it."""

_PURPOSE: Final = b"mapshelf form"
_SIZE: Final = hashlib.sha256().digest_size

OWN_SITE: Final = ("", "same-origin", "none")
"""What ``Sec-Fetch-Site`` says of requests that no other site made: nothing in old browsers and
over plain http, ``none`` if somebody typed the address."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a browser says that a request comes from, empty where it says nothing.

    Attributes:
        origin: the Origin header: of the page that made the request.
        fetch_site: the Sec-Fetch-Site header: how that page relates to us.
        host: the Host header: what the browser calls us.
    """

    origin: str
    fetch_site: str
    host: str


def form_token(secret: str) -> str:
    """Return a token for forms of the browser whose cookie keeps ``secret``.

    It looks different each time, so that nobody can find it out from the sizes of compressed pages
    (BREACH).
    """
    mask = secrets.token_bytes(_SIZE)
    return base64.urlsafe_b64encode(mask + _masked(_code(secret), mask)).decode().rstrip("=")


def is_form_token(token: str, secret: str) -> bool:
    """Return whether ``token`` is one for the browser whose cookie keeps ``secret``."""
    if not secret or len(token) > 4 * _SIZE:
        return False
    try:
        sent = base64.b64decode(token.encode() + b"=" * (-len(token) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        return False
    mask, masked = sent[:_SIZE], sent[_SIZE:]
    return len(masked) == _SIZE and hmac.compare_digest(_masked(masked, mask), _code(secret))


def is_own_page(provenance: Provenance, base_url: str) -> bool:
    """Return whether a request comes from a page of ours, as far as the browser says.

    Browsers withhold the origin (``null``) under a strict referrer policy, so that alone refuses
    nobody. The host is what the browser sent the request to: a page of another site cannot choose
    it.
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
    """Check a request that writes for whoever a cookie says.

    Args:
        token: what the form or the script sends.
        secret: what the cookie keeps.
        provenance: where the request comes from.
        base_url: ours.

    Raises:
        CrossSiteRequest: it does not come from a page of ours.
    """
    if not (is_form_token(token, secret) and is_own_page(provenance, base_url)):
        raise CrossSiteRequest(
            "This form is too old, or was sent by another site; load its page again."
        )


def _origin(scheme: str, host: str) -> str:
    """Return an origin as browsers write it, without the usual port (RFC 6454, section 6.2)."""
    usual = {"http": ":80", "https": ":443"}
    scheme = scheme.lower()
    return f"{scheme}://{host.lower().removesuffix(usual[scheme])}"


def _code(secret: str) -> bytes:
    return hmac.digest(secret.encode(), _PURPOSE, "sha256")


def _masked(code: bytes, mask: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(code, mask, strict=True))
