"""Which URLs of OpenID providers are accepted.

The options of ``mapshelf serve`` are checked with it. The process that reads them sends no
requests, so it need not import what does.
"""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from mapshelf.errors import InvalidSetting


def checked_url(url: str) -> SplitResult:
    """Return the parts of a provider URL: HTTPS, or HTTP to the loopback address.

    Raises:
        InvalidSetting: the URL is neither.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise InvalidSetting(f"{url!r} is not a URL") from error
    usable = url.isascii() and url.isprintable() and not parts.fragment and "@" not in parts.netloc
    safe = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))
    if not (usable and safe and host and port != 0):
        raise InvalidSetting(
            f"a provider must be reached by https (or, on this machine, by http), not by {url!r}"
        )
    return parts


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
