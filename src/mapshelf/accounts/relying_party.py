"""What we are to browsers that use passkeys; to know it takes nothing of ``webauthn``."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """What we are to browsers.

    Attributes:
        id: the host, for which passkeys are made.
        origin: of our pages.
    """

    id: str
    origin: str


def relying_party(base_url: str) -> RelyingParty | None:
    """Return what we are at a base URL, ``None`` if browsers offer no passkeys there.

    They do for names of hosts, and without https only on the same machine.
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
