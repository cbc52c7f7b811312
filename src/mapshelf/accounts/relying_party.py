"""The WebAuthn relying party of this service, usable without importing ``webauthn``."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The identity of this service for passkeys.

    Attributes:
        id: the host for which passkeys are created.
        origin: the origin of our pages.
    """

    id: str
    origin: str


def relying_party(base_url: str) -> RelyingParty | None:
    """Return the relying party for a base URL, ``None`` if browsers offer no passkeys there.

    Browsers require a host name, and HTTPS except on the same machine.
    """
    parts = urlsplit(base_url)
    usual = {"http": 80, "https": 443}[parts.scheme.lower()]
    host = (parts.hostname or "").lower()
    if _is_address(host) or (parts.scheme.lower() == "http" and host != "localhost"):
        return None
    port = "" if parts.port in (None, usual) else f":{parts.port}"
    return RelyingParty(host, f"{parts.scheme.lower()}://{host}{port}")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
